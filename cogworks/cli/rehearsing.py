"""`process --dry-run` and `--staged`: what a step would do, without doing it."""

import json
from dataclasses import replace
from pathlib import Path

import click

from cogworks.cli.looking import look_at
from cogworks.cli.progress import progress_line
from cogworks.cli.reporting import EXIT_CODES, Tally
from cogworks.cli.status import next_move, outcome_word
from cogworks.cli.tables import show_line
from cogworks.engine.consider import Wanted
from cogworks.engine.ports import StepPorts
from cogworks.engine.report import StepReport
from cogworks.engine.step import take_step
from cogworks.forge.addresses import IssueAddress
from cogworks.github.composing import describe
from cogworks.github.staging import StagedItem, StagedLedger
from cogworks.settings.config import read_environment
from cogworks.stopping import ended_by_signal
from cogworks.wiring.step import open_ports


def dry_run(issue_url: str, wanted: Wanted, *, as_json: bool) -> int:
    """Print what `process` would do: no model, no write.

    Raises:
        CogworksError: as `process` before it writes anything.
    """
    tally = Tally()
    seen = look_at(issue_url, tally.meter, wanted=wanted)
    if as_json:
        report = {"outcome": outcome_word(seen.decision), "next": next_move(seen), **_used(tally)}
        click.echo(json.dumps(report))
    else:
        show_line(f"would: {next_move(seen)}")
    return 0


def staged(address: IssueAddress, wanted: Wanted, *, as_json: bool, quiet: bool) -> int:
    """Take one step with the model and without a write; print its effects.

    Raises:
        CogworksError: as `process`.
    """
    tally = Tally()
    environment = read_environment()
    # A directory of its own: what a rehearsal commits must not be taken for the work of the real run.
    apart = environment.model_copy(update={"work_dir": str(Path(environment.work_dir) / "staged")})
    with (
        ended_by_signal(),
        open_ports(apart, address, meter=tally.meter, say=progress_line(quiet=quiet)) as ports,
    ):
        item = StagedItem(ports.tracker)
        report = take_step(rehearsed(ports, item), address, wanted)
    tally.add(report)
    _show(report, item, tally, as_json=as_json)
    return EXIT_CODES[report.outcome]


def rehearsed(ports: StepPorts, item: StagedItem) -> StepPorts:
    """The same ports, through which nothing is written."""
    return replace(
        ports,
        tracker=item,
        visit=replace(ports.visit, tracker=item),
        ledger=lambda snapshot: StagedLedger(ports.ledger(snapshot)),
    )


def _show(report: StepReport, item: StagedItem, tally: Tally, *, as_json: bool) -> None:
    if as_json:
        effects = [effect.model_dump(mode="json") for effect in item.effects]
        shown = {"outcome": report.outcome, "node": report.node or None, "message": report.message}
        click.echo(json.dumps({**shown, "effects": effects, **_used(tally)}))
        return
    show_line(f"staged {report.outcome}: {report.message}")
    for effect in item.effects:
        show_line(f"  would {describe(effect)}")


def _used(tally: Tally) -> dict[str, object]:
    meter = tally.meter
    return {
        "requests": {"graphql": meter.graphql, "rest": meter.rest, "git": meter.git},
        "tokens": {"input": tally.input_tokens, "output": tally.output_tokens},
        "cost_usd": tally.cost_usd,
    }
