"""`cogworks explain`: why the next move of a work item is what it is. Reads, writes nothing, asks no model."""

import json
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.looking import AT_HELP, Look, look_at, moment_of
from cogworks.cli.status import next_move, outcome_word
from cogworks.cli.tables import Column, show_line, show_table

if TYPE_CHECKING:
    from cogworks.engine.consider import Considered
    from cogworks.pipeline.explanation import Explanation


@click.command("explain")
@click.argument("issue_url")
@click.option("--at", default="", metavar="TIME|OID", help=AT_HELP)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def explain(issue_url: str, at: str, as_json: bool) -> int:
    """Explain what `process` would do next, and why.

    Shows the facts behind the decision, why the other nodes do not run, and what a person can do to unblock the item.

    \b
    Examples:
      cogworks explain https://github.com/octo-org/hello/issues/42
      cogworks explain https://github.com/octo-org/hello/issues/42 --at 2026-01-31T12:00:00Z
    """
    look = Look()
    seen = look_at(issue_url, look.meter, at=at)
    from cogworks.pipeline.explanation import explain as explanation_of

    explanation = explanation_of(seen.standing, seen.decision)
    if as_json:
        click.echo(json.dumps({**_as_object(seen, explanation, at), **look.used()}))
    else:
        _print(seen, explanation, at)
    return 0


def _as_object(seen: "Considered", explanation: "Explanation", at: str) -> dict[str, Any]:
    from cogworks.pipeline.decision import Run
    from cogworks.pipeline.position import instance_name

    run = seen.decision if isinstance(seen.decision, Run) else None
    return {
        "outcome": outcome_word(seen.decision),
        "issue": seen.snapshot.issue.url,
        "at": moment_of(seen, at),
        "run_id": seen.state.run_id if seen.snapshot.ledger else None,
        "status": seen.state.status if seen.snapshot.ledger else "not started",
        "next": next_move(seen),
        "node": instance_name(run.instance) if run else None,
        "visit_key": run.visit_key if run else None,
        **explanation.model_dump(mode="json"),
    }


def _print(seen: "Considered", explanation: "Explanation", at: str) -> None:
    moment = moment_of(seen, at)
    then = f"  (as of {moment['time']}, ledger {moment['oid'][:10]})" if moment else ""
    show_line(f"{seen.snapshot.issue.url}{then}\n")
    show_line(f"next: {next_move(seen)}")
    show_line(f"because: {explanation.because}\n")
    show_table([Column("fact"), Column("value")], [(fact.name, fact.value) for fact in explanation.facts])
    show_line()
    show_table(
        [Column("not now"), Column("status"), Column("why")],
        [(other.node, other.status, other.reason) for other in explanation.not_now],
    )
    for act in explanation.unblocked_by:
        show_line(f"\nto unblock: {act.act} ({act.who}){f'  {act.url}' if act.url else ''}")
        if act.paste:
            show_line(f"or comment: {act.paste}")
