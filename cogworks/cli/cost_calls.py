"""The calls behind the cost of a work item: every paid reply of its ledger, as a tree with sums."""

from typing import TYPE_CHECKING, Any

from cogworks.cli.tables import Column, show_table

if TYPE_CHECKING:
    from cogworks.engine.consider import Considered
    from cogworks.github.meter import Requests
    from cogworks.llm.costtree import Branch

COLUMNS = [
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
    walked(branch, lambda each, depth: rows.append(("· " * depth + each.name, *_cells(each))))
    show_table([Column("call"), *COLUMNS], rows)


def _cells(branch: "Branch") -> tuple[str, ...]:
    costs = branch.costs
    return (
        str(costs.calls),
        f"{costs.usage.total_input:,}",
        f"{100 * costs.cached_share:.0f} %",
        f"{costs.usage.output_tokens:,}",
        f"{costs.cost_usd:.4f}",
        "no price" if costs.uncached_usd is None else f"{costs.uncached_usd:.4f}",
    )
