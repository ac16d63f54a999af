"""`cogworks tools run`: plan for a goal and carry the plan out, with an audit."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogworks.cli.tool_options import DIRECTORY, JSON, MAX_COST, OUTPUT, Wish, show, wishing
from cogworks.codebase.confined import read_file
from cogworks.errors import BudgetReached, UsageError

if TYPE_CHECKING:
    from cogworks.tools.handoff import Handoff
    from cogworks.tools.plans import ExecutionResult
    from cogworks.tools.records import Record


@click.command("run")
@wishing
@MAX_COST
@click.option("--approve", "approved", multiple=True, metavar="HASH", help="Agree to this call (repeatable).")
@click.option("--reject", "rejected", multiple=True, metavar="HASH", help="Refuse this call (repeatable).")
@click.option(
    "--handoff",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Take up the work in this file, under the profile of its receiver.",
)
@click.option(
    "--audit",
    type=click.Path(path_type=Path, dir_okay=False, resolve_path=True),
    help="Write the audit to this new file, outside of the repository.",
)
@click.option(
    "--seed", default="", help="Of the pauses between attempts, and the run's id [default: made up]."
)
@DIRECTORY
@OUTPUT
@JSON
def run(
    wish: Wish,
    max_cost: float | None,
    approved: tuple[str, ...],
    rejected: tuple[str, ...],
    handoff: Path | None,
    audit: Path | None,
    seed: str,
    directory: Path,
    output: Path | None,
    as_json: bool,
) -> int:
    """Plan for GOAL over the tools of a directory and carry the plan out. A call that needs a person is not made: the run
    ends with 0 and prints the line that approves it. Ends with 1 where something failed or was refused, with 5 at a budget.

    \b
    Examples:
      cogworks tools run "count the words" --input '{"path": "README.md"}'
      cogworks tools run deploy --input '{"to": "staging"}' --approve 0123456789ab --audit ../deploy.ndjson
    """
    from cogworks.tools.plans import ExecutionResult
    from cogworks.wiring.tools import open_controller, open_redactor, open_workshop

    workshop = open_workshop(directory)
    preferences = wish.preferences.model_copy(update={"max_cost": max_cost})
    for option, file in (("--audit", audit), ("--output", output)):
        _require_outside(directory, option, file)
    with _kept(audit) as keep:
        controller = open_controller(workshop, seed=seed, approved=approved, rejected=rejected, keep=keep)
        if handoff is None:
            result = controller.run(wish.goal, wish.profile, metadata=wish.metadata, preferences=preferences)
        else:
            work = _work(handoff)
            result = controller.accept(
                work,
                read=lambda path: _content(directory, path),
                goal=wish.goal,
                metadata=wish.metadata,
                preferences=preferences,
            )
    # What a tool says may hold what no terminal and no log of a job should show.
    shown = ExecutionResult.model_validate(open_redactor().data(result.model_dump(mode="json")))
    report = {"outcome": _outcome(result), **shown.model_dump(mode="json")}
    show(report, lines=_lines(shown), output=output, as_json=as_json)
    if result.code == "budget_exceeded":
        return BudgetReached.exit_code
    return 0 if result.success or result.waiting_for else 1


def _require_outside(directory: Path, option: str, file: Path | None) -> None:
    if file is not None and file.is_relative_to(directory):
        raise UsageError(
            f"`{option} {file}` is inside the repository: it would change the tree that approvals hold for. Write it elsewhere."
        )


@contextmanager
def _kept(audit: Path | None) -> "Iterator[Callable[[Record], None]]":
    """Writes records to the file, each before the work that it records goes on."""
    from cogworks.tools.records import kept_nowhere, line_of

    if audit is None:
        yield kept_nowhere
        return
    try:
        file = audit.open("x", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"`--audit`: {error}; an audit is a new file, and begins with its run.") from error
    with file:

        def keep(record: "Record") -> None:
            file.write(f"{line_of(record)}\n")
            file.flush()

        yield keep


def _work(file: Path) -> "Handoff":
    from pydantic import ValidationError

    from cogworks.tools.handoff import Handoff

    try:
        return Handoff.model_validate_json(file.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{file} is no hand-off: {where}: {first['msg']}.") from None


def _content(directory: Path, path: str) -> bytes | None:
    file = None if Path(path).is_absolute() or ".." in path.split("/") else read_file(directory, path)
    return file.data if file else None


def _outcome(result: "ExecutionResult") -> str:
    return "succeeded" if result.success else "waiting" if result.waiting_for else "failed"


def _lines(result: "ExecutionResult") -> list[str]:
    lines = [f"{step.step}: {step.status}" for step in result.steps]
    lines += [f"    {step} -> {json.dumps(output)}" for step, output in result.outputs.items()]
    if waiting := result.waiting_for:
        lines.append(
            f"{waiting.step} waits for a person: {waiting.tool} with {json.dumps(waiting.input_redacted)}"
        )
        lines.append(f"to approve it, run the same command with: --approve {waiting.hash}")
    elif not result.success:
        lines.append(f"{result.code}: {result.message}")
    return lines
