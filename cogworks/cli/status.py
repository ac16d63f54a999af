"""`cogworks status`: where a work item stands, read from GitHub without writing anything."""

import json
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.looking import AT_HELP, Look, look_at, moment_of
from cogworks.cli.tables import show_line

if TYPE_CHECKING:
    from cogworks.engine.consider import Considered
    from cogworks.pipeline.decision import Decision
    from cogworks.pipeline.state import RunState


@click.command("status")
@click.argument("issue_url")
@click.option("--at", default="", metavar="TIME|OID", help=AT_HELP)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def status(issue_url: str, at: str, as_json: bool) -> int:
    """Show where a work item stands and what `process` would do next. Reads once, writes nothing.

    \b
    Examples:
      cogworks status https://github.com/octo-org/hello/issues/42
      cogworks status https://github.com/octo-org/hello/issues/42 --at 2026-01-31T12:00:00Z
    """
    look = Look()
    seen = look_at(issue_url, look.meter, at=at)
    if as_json:
        click.echo(json.dumps({**_as_object(seen), "at": moment_of(seen, at), **look.used()}))
        return 0
    if moment := moment_of(seen, at):
        show_line(f"as of {moment['time']}, ledger {moment['oid'][:10]}")
    _print(seen)
    return 0


def next_move(seen: "Considered") -> str:
    """What `process` would do now, in one sentence."""
    from cogworks.pipeline.decision import Answer, BackOff, GiveUpOn, Nothing, Run, Stop, Wait
    from cogworks.pipeline.position import instance_name

    match seen.decision:
        case Run(instance=instance, index=index, taken_over_from=dead):
            verb = "take over" if dead else "run"
            return f"{verb} {instance_name(instance)} (visit {index})"
        case Answer():
            return "post what people are owed"
        case GiveUpOn(lease=lease, reason=reason):
            return f"record {lease.node} as failed: {reason}"
        case Wait(waiting_for=waits):
            return "wait: " + "; ".join(wait.line for wait in waits)
        case BackOff(lease=lease, stealable_in_s=wait_s):
            return f"back off: {lease.holder} works on {lease.node}; its lease can be taken over in {wait_s:.0f} s"
        case Nothing(reason=reason) | Stop(reason=reason):
            return reason
        case _:
            return "record that everything is done"


def outcome_word(decision: "Decision") -> str:
    """What `--json` calls the decision."""
    from cogworks.pipeline.decision import BackOff, Nothing, Stop, Wait

    match decision:
        case Wait():
            return "waiting"
        case BackOff():
            return "backed_off"
        case Nothing():
            return "done"
        case Stop(outcome=outcome):
            return outcome
        case _:
            return "ready"


def _as_object(seen: "Considered") -> dict[str, Any]:
    from cogworks.pipeline.expected import expected_here
    from cogworks.pipeline.limits import max_cost_usd
    from cogworks.pipeline.position import codes_of, waiting_for

    state = seen.state
    spent, expected = state.spent, expected_here(state)
    return {
        "outcome": outcome_word(seen.decision),
        "issue": seen.snapshot.issue.url,
        "run_id": state.run_id if seen.snapshot.ledger else None,
        "status": _status(seen),
        "pipeline": seen.pipeline.name,
        "graph_hash": seen.pipeline.graph_hash,
        "next": next_move(seen),
        "baseline": baseline_of(state),
        "nodes": _nodes(seen),
        "waiting_for": [w.model_dump(mode="json") for w in waiting_for(seen.standing)],
        "codes": list(codes_of(state)),
        "pull_requests": [
            {
                "slug": pull.slug,
                "number": pull.number,
                "state": seen.facts.pulls[pull.number].state,
                "url": seen.facts.pulls[pull.number].url,
            }
            for pull in state.pull_requests
            if pull.number in seen.facts.pulls
        ],
        "tokens": {"input": spent.input_tokens, "output": spent.output_tokens},
        "cost_usd": spent.cost_usd,
        "unconfirmed_usd": spent.unconfirmed_usd,
        "budget_usd": max_cost_usd(seen.facts, seen.pipeline),
        "expected": expected.model_dump(mode="json") if expected else None,
        "earlier_usd": state.earlier.spend.cost_usd,
    }


def baseline_of(state: "RunState") -> dict[str, Any] | None:
    """The base that the first model call was made on; None: no base has passed."""
    return {**state.base.model_dump(mode="json"), "told": state.base.description} if state.base else None


def _status(seen: "Considered") -> str:
    from cogworks.pipeline.decision import Stop

    match seen.decision:
        case Stop(outcome="rejected"):
            return "rejected"
        case _:
            return seen.state.status if seen.snapshot.ledger else "not started"


def _nodes(seen: "Considered") -> list[dict[str, Any]]:
    from cogworks.pipeline.position import instance_name

    position = seen.standing.position
    rows = []
    for instance, known in position.statuses.items():
        total, last = seen.state.sum_of(instance), seen.state.latest(instance)
        rows.append(
            {
                "node": instance_name(instance),
                "status": known.value,
                "visits": len(total.indices),
                "summary": last.summary if last else "",
                "cost_usd": total.spend.cost_usd,
                "duration_s": total.duration_s,
            }
        )
    rows.extend({"node": instance_name(i), "status": "ready", "visits": 0} for i in position.ready)
    return rows


def _print(seen: "Considered") -> None:
    from cogworks.pipeline.limits import earlier_line
    from cogworks.pipeline.spend import unconfirmed

    report = _as_object(seen)
    show_line(f"{report['issue']}  {report['status']}  pipeline {report['pipeline']}")
    for row in report["nodes"]:
        cost = f"${row.get('cost_usd', 0.0):.4f}"
        show_line(
            f"  {row['node']:<28} {row['status']:<13} {row['visits']:>2}×  {cost:>9}  {row.get('summary', '')}"
        )
    for pull in report["pull_requests"]:
        show_line(
            f"  pull request #{pull['number']} ({pull['slug']}): {pull['state']}  {pull['url']}".rstrip()
        )
    if report["baseline"]:
        show_line(f"  baseline: {report['baseline']['told']} ({report['baseline']['oid'][:12]})")
    tokens = report["tokens"]
    lost = unconfirmed(seen.state.spent)
    show_line(
        f"  cost ${report['cost_usd']:.4f}{f' ({lost})' if lost else ''} of ${report['budget_usd']:.2f}, {tokens['input']} + {tokens['output']} tokens"
    )
    if report["expected"]:
        whole, items = report["expected"]["whole"], report["expected"]["items"]
        basis = f"{items} finished item{'s' * (items != 1)}" if items else "no item has ended here yet"
        show_line(f"  expected: about ${whole['usd']:.2f} and {whole['tokens']:,} tokens ({basis})")
    if report["earlier_usd"]:
        show_line(f"  {earlier_line(seen.state)}")
    show_line(f"next: {report['next']}")
