"""How `process` and `run` report their steps: one JSON object or one line, and the exit code."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.tables import show_line
from cogworks.errors import CogworksError, Interrupted
from cogworks.github.meter import Requests
from cogworks.leaving import in_log_of_actions, masked, on_terminal
from cogworks.stopping import ended_by_signal

if TYPE_CHECKING:
    from cogworks.engine.report import StepReport

EXIT_CODES: Mapping[str, int] = {
    "succeeded": 0,
    "done": 0,
    "waiting": 0,
    "backed_off": 0,
    "failed": 1,
    "rejected": 1,
    "usage_error": 2,
    "configuration_error": 2,
    "budget_reached": 5,
}
DETAILED: Mapping[str, int] = {"waiting": 10, "backed_off": 11, "done": 12}


@dataclass
class Tally:
    """What one invocation of the program used, over all its steps."""

    started_s: float = field(default_factory=time.monotonic)
    meter: Requests = field(default_factory=Requests)
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    steps: int = 0

    def add(self, report: "StepReport") -> None:
        self.steps += 1
        self.cost_usd = round(self.cost_usd + report.spend.cost_usd, 9)
        self.input_tokens += report.spend.input_tokens
        self.output_tokens += report.spend.output_tokens


@dataclass(frozen=True)
class Style:
    """How the operator wants the report."""

    as_json: bool
    detailed_exitcode: bool = False
    counts_steps: bool = False
    """Whether the JSON object says how many steps there were."""


def conclude(issue_url: str, tally: Tally, work: "Callable[[], StepReport]", style: Style) -> int:
    """Do the work and report how it ended, also when it was refused or interrupted; returns the exit code.

    Raises:
        CogworksError: as the work, where no JSON object is wanted.
    """
    try:
        with ended_by_signal():
            report = work()
    except KeyboardInterrupt:
        return _refused(_interrupted(issue_url), tally, style)
    except CogworksError as error:
        return _refused(error, tally, style)
    code = EXIT_CODES[report.outcome]
    if style.as_json:
        click.echo(json.dumps(_object(report, tally, style)))
    else:
        show_line(f"{report.outcome}: {in_log_of_actions(report.message)}", err=code != 0)
    return DETAILED.get(report.outcome, code) if style.detailed_exitcode else code


def _interrupted(issue_url: str) -> Interrupted:
    return Interrupted(
        f"interrupted; nothing is lost. Go on with: cogworks run {issue_url}\n"
        "(Should that say that this runner is still at work, add --take-over.)"
    )


def _refused(error: CogworksError, tally: Tally, style: Style) -> int:
    if not style.as_json:
        raise error
    fields, message = _object(None, tally, style), on_terminal(masked(str(error)))
    click.echo(json.dumps({**fields, "outcome": error.outcome, "message": message}))
    show_line(f"cogworks: {in_log_of_actions(message)}", err=True)
    return error.exit_code


def _object(report: "StepReport | None", tally: Tally, style: Style) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "outcome": report.outcome if report else "failed",
        "node": (report.node or None) if report else None,
        "visit_key": (report.visit_key or None) if report else None,
        "waiting_for": [wait.model_dump(mode="json") for wait in report.waiting_for] if report else [],
        "codes": list(report.codes) if report else [],
        "requests": {"graphql": tally.meter.graphql, "rest": tally.meter.rest, "git": tally.meter.git},
        "tokens": {"input": tally.input_tokens, "output": tally.output_tokens},
        "cost_usd": tally.cost_usd,
        "duration_s": round(time.monotonic() - tally.started_s, 3),
        "urls": dict(report.urls) if report else {},
        "message": report.message if report else "",
    }
    return {**fields, "steps": tally.steps} if style.counts_steps else fields
