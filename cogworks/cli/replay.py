"""`cogworks replay`: would the recorded coding visits be decided in the same way again?"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.looking import Look
from cogworks.cli.tables import show_line
from cogworks.errors import UsageError
from cogworks.forge.addresses import parse_issue_url

if TYPE_CHECKING:
    from cogworks.cli.visit_logs import VisitLog
    from cogworks.cycle.replay import Replayed

    Replay = Callable[[VisitLog], Replayed]


@click.command("replay")
@click.argument("source", metavar="ISSUE_URL|DIRECTORY")
@click.option("--visit", type=click.IntRange(min=1), help="Only this visit [default: all that have a log].")
@click.option(
    "--mode",
    type=click.Choice(["verify", "decide-only"]),
    default="verify",
    show_default=True,
    help="verify: run the cycle again on the recorded results. decide-only: choose again among the recorded proposals.",
)
@click.option(
    "--until",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop after cycle N and show what was known then.",
)
@click.option(
    "--what-if",
    "change",
    metavar="N:JSON",
    help="Replace fields of the result of cycle N and show the decisions that follow.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def replay(
    source: str, visit: int | None, mode: str, until: int | None, change: str | None, as_json: bool
) -> int:
    """Replay recorded coding visits from their event logs.

    Makes every decision again, without a model, tools or the network. Exits with 0 when every event matches the log.
    Exits with 1 at the first difference and shows both sides.

    \b
    Examples:
      cogworks replay https://github.com/octo-org/hello/issues/42
      cogworks replay visits/0007-code_generation@57 --until 3
      cogworks replay . --visit 7 --what-if '4:{"outcome": "rolled_back"}'
    """
    if "://" in source:
        # Refused before anything is imported that reads logs.
        parse_issue_url(source)
    from cogworks.cli.visit_logs import visit_logs

    look = Look()
    run = _replay(mode, until, change)
    logs = visit_logs(source, visit=visit, meter=look.meter)
    if change and len(logs) > 1:
        raise UsageError("`--what-if` changes one visit; name it with `--visit`.")
    with sealed():
        reports = [_report_of(log, run, shows_context=until is not None) for log in logs]
    code = 0 if all(each["outcome"] in ("identical", "what_if") for each in reports) else 1
    if as_json:
        outcome = next(
            (each["outcome"] for each in reports if each["outcome"] not in ("identical", "what_if")), "done"
        )
        click.echo(json.dumps({"outcome": outcome, "source": source, "visits": reports, **look.used()}))
    else:
        for each in reports:
            _print(each)
    return code


def _replay(mode: str, until: int | None, change: str | None) -> "Replay":
    from cogworks.cycle.replay import decide_only, verify, what_if

    if change is None:
        if mode == "verify":
            return lambda log: verify(log.events, until=until)
        return lambda log: decide_only(log.events, until=until)
    if mode != "verify" or until is not None:
        raise UsageError("`--what-if` cannot be combined with `--mode decide-only` or `--until`.")
    number, _, text = change.partition(":")
    try:
        cycle, replace = int(number), json.loads(text)
    except ValueError:
        cycle, replace = 0, None
    if not isinstance(replace, dict):
        raise UsageError(
            f'`--what-if {change}` cannot be read. Write N:JSON, e.g. \'4:{{"outcome": "rolled_back"}}\'.'
        )
    return lambda log: what_if(log.events, cycle=cycle, replace=replace)


def _report_of(log: "VisitLog", run: "Replay", *, shows_context: bool) -> dict[str, Any]:
    from cogworks.cycle.monitor import verify_seriality

    about: dict[str, Any] = {"visit": log.visit, "folder": log.folder}
    if log.damage is not None:
        return {**about, "outcome": "damaged", "line": log.damage.line, "problem": str(log.damage)}
    replayed = run(log)
    violations = verify_seriality(log.events)
    about.update(
        outcome=_outcome(replayed, len(violations)),
        events=replayed.events,
        cycles=len(replayed.steps),
        is_complete=replayed.is_complete,
        divergence=replayed.divergence.model_dump(mode="json") if replayed.divergence else None,
        problem=str(replayed.divergence) if replayed.divergence else None,
        violations=[violation.model_dump(mode="json") for violation in violations],
        steps=[step.model_dump(mode="json") for step in replayed.steps],
    )
    if shows_context and replayed.context is not None:
        about["context"] = replayed.context.model_dump(mode="json", exclude={"candidates", "parameters"})
    return about


def _outcome(replayed: "Replayed", violations: int) -> str:
    if replayed.divergence is not None:
        return "diverged"
    if violations:
        return "not_serial"
    return "what_if" if any(step.is_other for step in replayed.steps) else "identical"


def _print(report: dict[str, Any]) -> None:
    if report["outcome"] == "damaged":
        show_line(f"{report['folder']}: damaged: {report['problem']}")
        return
    size = f"{report['cycles']} cycles, {report['events']} events"
    end = "" if report["is_complete"] else "; not to the end"
    show_line(f"{report['folder']}: {report['outcome']} ({size}{end})")
    if report["problem"]:
        show_line(f"    {report['problem']}")
    for violation in report["violations"]:
        show_line(f"    event {violation['seq']} (cycle {violation['cycle']}): {violation['problem']}")
    if report["outcome"] == "what_if" or "context" in report:
        _print_steps(report["steps"])
    if context := report.get("context"):
        click.echo(json.dumps(context, indent=2))


def _print_steps(steps: Sequence[dict[str, Any]]) -> None:
    for step in steps:
        recorded = step["recorded_action"]
        note = "" if recorded == step["action"] else f" (recorded: {recorded or 'nothing'})"
        show_line(f"    {step['cycle']:>3} {step['action']}{note}")


_FORBIDDEN = frozenset(
    {
        "socket.__new__", "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo",
        "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "pty.spawn",
    }
)  # fmt: skip
"""Events of the interpreter that report it before it happens."""
_state = {"is_sealed": False, "is_installed": False}


class Sealed(RuntimeError):
    """Something tried to leave the process where nothing may."""


@contextmanager
def sealed() -> Iterator[None]:
    """Inside the block a socket or a process is refused before it exists."""
    if not _state["is_installed"]:
        # A hook of the interpreter can never be taken away again; outside the block this one looks at nothing.
        sys.addaudithook(_refuse)
        _state["is_installed"] = True
    _state["is_sealed"] = True
    try:
        yield
    finally:
        _state["is_sealed"] = False


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    del arguments
    if _state["is_sealed"] and event in _FORBIDDEN:
        raise Sealed(f"a replay tried to leave the process: {event}")
