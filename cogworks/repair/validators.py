"""Judges a diff by all rules V1 to V16 at once, before any file is touched."""

from collections.abc import Iterable

from cogworks.codebase.diffmodel import Diff, post_image
from cogworks.codebase.diffparsing import Parsed
from cogworks.domain_services.messages import Diagnostic
from cogworks.repair.apiguard import api_changes, refused_changes
from cogworks.repair.diffrules import (
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
from cogworks.repair.testrules import judging_violations
from cogworks.repair.violations import Ground, Reading, Step, Violation
from cogworks.vocabulary import Severity


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
