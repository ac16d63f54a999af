"""`scripts/bench smallbugs --held-back`: how often the held-back checks warn, of true fixes and of tables of the failing inputs."""

import ast
import re
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cogworks.codebase.diffmodel import Diff
from cogworks.codebase.diffplacing import between
from cogworks.domain_services.exploring import Beside
from cogworks.domain_services.messages import TestReport
from cogworks.repair.heldback import MOST_MUTANTS, Among, held_back_warnings, narrow_tests, touched_by
from cogworks.repair.violations import TestRules
from scripts.benchmarks.smallbugs.programs import FILE, TESTS, Program
from tests.services.asking import ask, laid_out

_BAD = ("failed", "error")
_SECONDS = 60


class Warned(NamedTuple):
    """What was said of one program."""

    name: str
    fix: tuple[str, ...]
    """Warnings of the true fix: false alarms."""
    table: bool | None
    """Whether a table of the failing inputs is found out; None: none can be written of these inputs."""


def warned(program: Program) -> Warned:
    """What the checks say of the true fix, and of a table that holds what the fix makes of the failing inputs."""
    failing = _failing(program)
    fixed = program.with_change(program.fix)
    tried = _tried(program, fixed, failing)
    tabled = _with_table(program.code, tried, failing)
    found = None
    if tabled is not None:
        found = bool(narrow_tests(_tried(program, tabled, failing)))
    return Warned(program.name, held_back_warnings(tried, Among(len(failing))), found)


def report(found: Sequence[Warned]) -> str:
    """The sums, and what was said of true fixes."""
    tables = [each.table for each in found if each.table is not None]
    alarms = [f"- {each.name}: {warning}" for each in found for warning in each.fix]
    return "\n".join(
        (
            "| what | count |",
            "|---|---|",
            f"| true fixes with a warning | {sum(bool(each.fix) for each in found)} of {len(found)} |",
            f"| tables of the failing inputs that are found out | {sum(tables)} of {len(tables)} |",
            "",
            *alarms,
        )
    )


def _tried(program: Program, code: str, failing: Sequence[str]) -> Beside:
    touched = touched_by(Diff(files=(between(FILE, program.code, code),)), TestRules())
    old = {FILE: b64encode(program.code.encode()).decode()}
    with TemporaryDirectory(prefix="cogworks-bench-") as name:
        folder = laid_out(Path(name), {FILE: code, TESTS: program.tests})
        response = ask(
            "beside",
            folder,
            tests=[TESTS],
            lines=dict(touched.after),
            mistakes_in=dict(touched.added),
            against={"files": old, "tests": list(failing), "lines": dict(touched.before)},
            max_mutants=MOST_MUTANTS,
            timeout_s=_SECONDS,
        )
        return Beside.model_validate(response.result)


def _failing(program: Program) -> list[str]:
    with TemporaryDirectory(prefix="cogworks-bench-") as name:
        folder = laid_out(Path(name), {FILE: program.code, TESTS: program.tests})
        result = ask("simulate", folder).result
    report = TestReport.model_validate(result)
    return [case.id for case in report.cases if case.outcome in _BAD]


def _with_table(code: str, tried: Beside, failing: Sequence[str]) -> str | None:
    """The code with the failing inputs of one function looked up before anything else."""
    old = {(call.symbol, call.own): call.outcome for call in tried.against or () if call.own == call.given}
    rows: dict[str, dict[str, str]] = {}
    for call in tried.calls:
        is_changed = old.get((call.symbol, call.own), call.outcome) != call.outcome
        if call.test in failing and call.own == call.given and call.is_value and is_changed:
            given, value = _literal(call.own), _literal(call.outcome.partition(" after which ")[0])
            if given is not None and value is not None:
                names = ", ".join(ast.literal_eval(given))
                values = ", ".join(map(repr, ast.literal_eval(given).values()))
                rows.setdefault(call.symbol, {})[f"if ({names},) == ({values},):"] = f"return {value}"
    if not rows:
        return None
    symbol, table = next(iter(rows.items()))
    name = symbol.rpartition(".")[2]
    functions = [
        each for each in ast.walk(ast.parse(code)) if isinstance(each, ast.FunctionDef) and each.name == name
    ]
    first = functions[0].body[0]
    blank = " " * first.col_offset
    lines = code.splitlines(keepends=True)
    lines[first.lineno - 1 : first.lineno - 1] = [
        f"{blank}{asked}\n{blank}    {said}\n" for asked, said in table.items()
    ]
    return "".join(lines)


def _literal(described: str) -> str | None:
    """What was described as Python writes it; None where it is more than texts, numbers, lists and dictionaries."""
    text = re.sub(r"\blist\[", "[", described.replace("dict{", "{"))
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None
    return text
