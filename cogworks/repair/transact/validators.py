"""Judges a diff by all rules V1 to V17 at once, before any file is touched.

V12: a repair does not touch the tests that judge it, nor what decides which tests run and how.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from cogworks.codebase.changes import matching
from cogworks.codebase.diffmodel import Diff, FileDiff, edits_of, lines_of, post_image
from cogworks.codebase.diffparsing import Parsed
from cogworks.domain_services.messages import Diagnostic
from cogworks.repair.transact.apiguard import api_changes, refused_changes
from cogworks.repair.transact.diffrules import (
    base_violations,
    kind_violations,
    minimal_violations,
    path_violations,
    range_violations,
    repeat_violations,
    scope_violations,
    secret_violations,
    size_violations,
)
from cogworks.repair.transact.runnerrule import runner_violations
from cogworks.repair.violations import Ground, Reading, Step, TestRules, Violation
from cogworks.vocabulary import Severity

HANDED_OVER = "was handed over with the tests and may not be changed; leave it out, and make its tests pass"
_TABLE = re.compile(r"\s*+\[++\s*+([^\]]*[^\]\s])\s*+\]++")


def judging_violations(diff: Diff, step: Step, ground: Ground) -> Iterator[Violation]:
    """Handed-over and existing tests stay as they are, their configuration too, and no added line weakens a test."""
    for file in diff.files:
        path, rules = file.old_path, step.tests
        if path in step.handed_over:
            yield Violation("tests", f"{path} {HANDED_OVER}")
        elif file.kind != "create" and path not in step.own_tests and matching(path, rules.files) is not None:
            yield Violation("tests", f"{path!r} is an existing test; a repair may not change it")
        if PurePosixPath(path).name in rules.configuration:
            yield Violation("tests", f"{path!r} decides how tests run; a repair may not change it")
        if (table := _configured_table(file, ground, rules)) is not None:
            yield Violation("tests", f"{path!r}: the table [{table}] decides how tests run")
        yield from _weakened(file, rules)


def _weakened(file: FileDiff, rules: TestRules) -> Iterator[Violation]:
    added = [line.text for hunk in file.hunks for line in hunk.lines if line.sign == "+"]
    for pattern in rules.weakening:
        found = next((text.strip() for text in added if re.search(pattern, text)), None)
        if found is not None:
            yield Violation("tests", f"{file.path!r}: {found[:80]!r} makes a test say less; do not add it")


def _configured_table(file: FileDiff, ground: Ground, rules: TestRules) -> str | None:
    """The table that decides how tests run and that a change lies in, or brings in."""
    wanted = rules.sections.get(PurePosixPath(file.old_path).name, ())
    if not wanted:
        return None
    there = lines_of(ground.sources.get(file.old_path, ""))
    for edit in (edit for hunk in file.hunks for edit in edits_of(hunk)):
        around = next((name for line in reversed(there[: edit.start]) if (name := _table(line))), "")
        touched = [around, *filter(None, (_table(line) for line in (*edit.removed, *edit.added)))]
        found = next((name for name in touched if name.startswith(wanted)), None)
        if found is not None:
            return found
    return None


def _table(line: str) -> str | None:
    found = _TABLE.match(line)
    return None if found is None else found[1]


def diff_violations(text: str, parsed: Parsed, step: Step, ground: Ground) -> tuple[Violation, ...]:
    """Everything that is wrong with a diff as such: all rules but V10 and V13.

    Args:
        text: the diff as it came; `parsed` is what was read of it.
    """
    diff = parsed.diff
    return (
        *(Violation(problem.code, f"line {problem.line}: {problem.text}") for problem in parsed.problems),
        *path_violations(diff, ground),
        *kind_violations(diff, step),
        *scope_violations(diff, step),
        *size_violations(diff, text, step),
        *range_violations(diff, step),
        *base_violations(diff, ground),
        *minimal_violations(diff),
        *judging_violations(diff, step, ground),
        *secret_violations(diff),
        *repeat_violations(diff, ground),
        *runner_violations(diff, step, ground),
    )


def has_images(found: Iterable[Violation]) -> bool:
    """Whether a diff with these violations fits the files, so that its language can be judged as well."""
    return not any(violation.code in ("shape", "path", "kind", "base") for violation in found)


def language_violations(reading: Reading, step: Step) -> tuple[Violation, ...]:
    """V10 and V13: public names can be called as before, and what was written can be read."""
    changes = refused_changes(api_changes(reading.before, reading.after), step.allow_api)
    api = [Violation("api", f"{change.id}: {change.text}; keep the signature") for change in changes]
    syntax = [
        Violation("syntax", f"{_place(found)}: {found.message}")
        for found in reading.syntax
        if found.severity is Severity.BLOCKING
    ]
    return (*api, *syntax)


def images(diff: Diff, ground: Ground) -> dict[str, str | None]:
    """Every file of a diff that fits, as it is afterwards; None: deleted."""
    return {file.path: post_image(file, ground.sources.get(file.old_path)) for file in diff.files}


def _place(found: Diagnostic) -> str:
    return found.artifact if found.line is None else f"{found.artifact}:{found.line}"
