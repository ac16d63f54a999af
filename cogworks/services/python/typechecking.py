"""Runs the type checker that a repository has configured; its plugins are code, so it runs in isolation."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from cogworks.domain_services.checking import ToolRun
from cogworks.domain_services.messages import Caller, Diagnostic
from cogworks.services.python.checked import Checked, left_out, skipped
from cogworks.services.python.code.repository import is_test_file
from cogworks.services.python.linting import installed_version
from cogworks.services.python.machine import Machine
from cogworks.services.python.typechecker import TypeChecker, configured_checker, read_mypy, reason_in
from cogworks.services.python.workroom import ToolCall, workroom
from cogworks.services.sandbox.isolation import refusal
from cogworks.vocabulary import Severity

TYPES_LIMIT_S = 200.0
_MYPY = (sys.executable, "-I", "-m", "mypy", "--output=json", "--no-incremental", "--cache-dir=/dev/null")
_LIST = ".cogworks-files"


def check_types(root: Path, paths: Sequence[str], machine: Machine, *, caller: Caller) -> tuple[Checked, ...]:
    """What the repository's own type checker says of files; why nothing, where it did not run.

    A type error blocks, unless the checker lacked a module: then it cannot know. Where the settings do not say what is
    checked, tests are not.
    """
    checker = configured_checker(root)
    if checker is None:
        return (skipped("type checker", "the repository configures none"),)
    if (reason := _reason_to_skip(checker, machine, caller)) is not None:
        return (skipped(checker.name, reason, place=checker.place),)
    asked = paths if checker.has_targets else [path for path in paths if not is_test_file(path)]
    if not asked:
        return (skipped(checker.name, f"{checker.place} does not say that tests are checked"),)
    return (_mypy(root, asked, checker, machine),)


def _reason_to_skip(checker: TypeChecker, machine: Machine, caller: Caller) -> str | None:
    if checker.problem:
        return checker.problem
    if checker.name != "mypy":
        return f"{checker.name} is configured, and this service runs only mypy"
    if installed_version("mypy") is None:
        return "mypy is configured and not installed beside cogworks"
    return refusal(machine.isolation, needs_walls=caller.needs_walls)


def _mypy(root: Path, asked: Sequence[str], checker: TypeChecker, machine: Machine) -> Checked:
    targets = [] if checker.has_targets else [f"@{_LIST}"]
    with workroom() as room:
        try:
            room.put_all_of(root)
        except shutil.Error as error:
            return skipped("mypy", f"the repository cannot be copied: {error}", place=checker.place)
        # Behind `./` no file name is taken for an option.
        room.put(_LIST, "".join(f"./{path}\n" for path in asked).encode())
        command = [*_MYPY, f"--config-file={checker.place}", *targets]
        said = room.run(ToolCall(command, timeout_s=TYPES_LIMIT_S), machine)
    reported = read_mypy(said.output, asked) if said.code in (0, 1) else None
    if reported is None:
        return skipped("mypy", reason_in(said.output, said.complaint), place=checker.place)
    return Checked(
        run=ToolRun(tool="mypy"),
        version=installed_version("mypy") or "",
        findings=(*reported.findings, *_doubts(reported.lacking, checker, machine)),
    )


def _doubts(lacking: Sequence[str], checker: TypeChecker, machine: Machine) -> list[Diagnostic]:
    """What makes the findings less than certain, or the run less than safe."""
    found = []
    if lacking:
        text = f"mypy lacked modules, so none of its errors blocks: {'; '.join(lacking[:5])}"
        found.append(left_out(checker.place, text))
    if checker.has_plugins and machine.isolation.unprotected:
        text = f"nothing kept the plugins of mypy from this: {'; '.join(machine.isolation.unprotected)}"
        found.append(
            Diagnostic(
                artifact=checker.place, severity=Severity.WARNING, category="safety_concern", message=text
            )
        )
    return found
