"""`cogworks cost`: what a work item has cost, by node and by sub-work-item, against its budget; with `--calls` every paid reply as a tree."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.looking import AT_HELP, Look, look_at, moment_of
from cogworks.cli.tables import Column, show_line, show_table
from cogworks.errors import UsageError

if TYPE_CHECKING:
    from cogworks.engine.consider import Considered
    from cogworks.pipeline.limits import SpendRow
    from cogworks.pipeline.spend import Spend
    from cogworks.pipeline.state import RunState

COLUMNS = [
    Column("visits", is_number=True),
    Column("calls", is_number=True),
    Column("tokens in", is_number=True),
    Column("out", is_number=True),
    Column("USD", is_number=True),
]


@click.command("cost")
@click.argument("issue_url")
@click.option("--at", default="", metavar="TIME|OID", help=AT_HELP)
@click.option("--calls", "with_calls", is_flag=True, help="List every call as well. Costs two more requests.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def cost(issue_url: str, at: str, with_calls: bool, as_json: bool) -> int:
    """Show what a work item has cost and what is left of its budget.

    Adds up tokens and dollars by node and by sub-work-item. Repeated and released visits count, because they were paid
    for. With --calls, lists every call by sub-work-item, visit and question, with what came from a cache and what the
    call would have cost without it.

    \b
    Examples:
      cogworks cost https://github.com/octo-org/hello/issues/42
      cogworks cost https://github.com/octo-org/hello/issues/42 --calls
    """
    if with_calls and at:
        raise UsageError("`--calls` shows the calls as they are now. Leave `--at` out.")
    look = Look()
    seen = look_at(issue_url, look.meter, at=at)
    calls = calls_of(issue_url, seen, look.meter) if with_calls else None
    if as_json:
        tree = {"calls": as_object(calls)} if calls else {}
        click.echo(json.dumps({**_as_object(seen, at), **tree, **look.used()}))
        return 0
    _print(seen, at)
    if calls:
        show_line()
        show(calls)
    return 0


def _as_object(seen: "Considered", at: str) -> dict[str, Any]:
    from cogworks.pipeline.limits import by_node, by_sub_item, max_cost_usd

    state, facts = seen.state, seen.facts
    spent = state.spent
    tokens = spent.input_tokens + spent.output_tokens
    limit_usd = max_cost_usd(facts, seen.pipeline)
    left_usd = max(0.0, limit_usd - spent.cost_usd - state.reserved_usd)
    return {
        "issue": seen.snapshot.issue.url,
        "at": moment_of(seen, at),
        "run_id": state.run_id if seen.snapshot.ledger else None,
        "total": _amounts(spent),
        "reserved_usd": round(state.reserved_usd, 9),
        "budget": {"cost_usd": limit_usd, "tokens": facts.max_tokens},
        "earlier_usd": state.earlier.spend.cost_usd,
        "earlier_unconfirmed_usd": state.earlier.spend.unconfirmed_usd,
        "remaining": {
            "cost_usd": round(left_usd, 9),
            "tokens": max(0, facts.max_tokens - tokens - state.reserved_tokens),
        },
        "nodes": [{"node": row.node, **_row(row)} for row in by_node(state)],
        "sub_items": [{**_sub_item(state, row), **_row(row)} for row in by_sub_item(state)],
    }


def _amounts(spend: "Spend") -> dict[str, Any]:
    return {
        "cost_usd": spend.cost_usd,
        "input_tokens": spend.input_tokens,
        "output_tokens": spend.output_tokens,
        "model_calls": spend.model_calls,
        "unconfirmed_usd": spend.unconfirmed_usd,
        "unconfirmed_tokens": spend.unconfirmed_tokens,
    }


def _row(row: "SpendRow") -> dict[str, Any]:
    return {"visits": row.visits, "unfinished": row.unfinished, **_amounts(row.spend)}


def _sub_item(state: "RunState", row: "SpendRow") -> dict[str, Any]:
    planned = next((item for item in state.sub_items or () if item.key == row.sub_item), None)
    return {
        "sub_item": row.sub_item,
        "number": planned.number if planned else None,
        "title": planned.title if planned else None,
    }


def _print(seen: "Considered", at: str) -> None:
    report = _as_object(seen, at)
    show_line(report["issue"] + (f"  (as of {report['at']['time']})" if report["at"] else "") + "\n")
    total = ("total", *_cells({**report["total"], "visits": seen.state.ended}))
    nodes = [(row["node"], *_cells(row)) for row in report["nodes"]]
    show_table([Column("node"), *COLUMNS], [*nodes, total])
    if seen.state.sub_items:
        show_line()
        show_table(
            [Column("sub-work-item"), *COLUMNS],
            [(_title(row), *_cells(row)) for row in report["sub_items"]],
        )
    for line in closing_lines(seen.state, report):
        show_line(f"\n{line}")


def closing_lines(state: "RunState", report: Mapping[str, Any]) -> Iterator[str]:
    """What stands below the tables: money that nobody confirmed, the runs before, and what is left."""
    from cogworks.pipeline.limits import earlier_line
    from cogworks.pipeline.spend import unconfirmed

    if lost := unconfirmed(state.spent):
        yield (
            f"of the total: {lost}. Runners died before they reported what their last calls cost. The "
            "provider's bill has the exact amount."
        )
    if report["earlier_usd"]:
        yield earlier_line(state)
    budget, left = report["budget"], report["remaining"]
    reserved = (
        f" (${report['reserved_usd']:.4f} reserved by a running node)" if report["reserved_usd"] else ""
    )
    yield (
        f"left: ${left['cost_usd']:.4f} of ${budget['cost_usd']:.2f}{reserved}, "
        f"{left['tokens']:,} of {budget['tokens']:,} tokens"
    )


def _title(row: dict[str, Any]) -> str:
    if row["sub_item"] is None:
        return "(the whole item)"
    number = f"#{row['number']} " if row["number"] else ""
    return f"{row['sub_item']}: {number}{row['title'] or ''}".rstrip()


def _cells(row: dict[str, Any]) -> Sequence[str]:
    return (
        str(row["visits"]),
        str(row["model_calls"]),
        f"{row['input_tokens']:,}",
        f"{row['output_tokens']:,}",
        f"{row['cost_usd']:.4f}",
    )


if TYPE_CHECKING:
    from cogworks.engine.consider import Considered
    from cogworks.github.meter import Requests
    from cogworks.llm.costtree import Branch

CALL_COLUMNS = [
    Column("calls", is_number=True),
    Column("tokens in", is_number=True),
    Column("cached", is_number=True),
    Column("out", is_number=True),
    Column("USD", is_number=True),
    Column("without cache", is_number=True),
]


def calls_of(issue_url: str, seen: "Considered", meter: "Requests") -> "Branch":
    """Everything that was paid for on the ledger as it is now; two requests.

    Raises:
        CogworksError: the ledger cannot be read, or holds what is no reply.
    """
    from cogworks.cli.visit_logs import visit_files
    from cogworks.engine.remember import records_in
    from cogworks.llm.costtree import PaidVisit, cost_tree
    from cogworks.wiring.model import prices_of

    folders, files = visit_files(issue_url, meter)
    visits = [
        PaidVisit(
            sub_item=instance.sub_item or "",
            name=folder.removeprefix("visits/"),
            replies=records_in(folder, files),
        )
        for folder, instance in folders.items()
    ]
    return cost_tree(seen.snapshot.issue.url, visits, prices_of(seen.config))


def as_object(branch: "Branch") -> dict[str, Any]:
    """A branch for programs."""
    costs = branch.costs
    return {
        "name": branch.name,
        "calls": costs.calls,
        **costs.usage.model_dump(),
        "cached_share": round(costs.cached_share, 4),
        "cost_usd": float(costs.cost_usd),
        "without_cache_usd": None if costs.uncached_usd is None else float(costs.uncached_usd),
        "below": [as_object(part) for part in branch.below],
    }


def show(branch: "Branch") -> None:
    """A branch for people."""
    from cogworks.llm.costtree import walked

    rows: list[tuple[str, ...]] = []
    walked(branch, lambda each, depth: rows.append(("· " * depth + each.name, *_call_cells(each))))
    show_table([Column("call"), *CALL_COLUMNS], rows)


def _call_cells(branch: "Branch") -> tuple[str, ...]:
    costs = branch.costs
    return (
        str(costs.calls),
        f"{costs.usage.total_input:,}",
        f"{100 * costs.cached_share:.0f} %",
        f"{costs.usage.output_tokens:,}",
        f"{costs.cost_usd:.4f}",
        "no price" if costs.uncached_usd is None else f"{costs.uncached_usd:.4f}",
    )
