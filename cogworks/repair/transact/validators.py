"""Judges a diff by all rules V1 to V17 at once, before any file is touched."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from cogworks.codebase.changes import matching
from cogworks.codebase.diffmodel import Diff, FileDiff, edits_of, lines_of, post_image
from cogworks.codebase.diffparsing import Parsed
from cogworks.domain_services.exploring import Signature, Signatures
from cogworks.domain_services.messages import Diagnostic
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
from cogworks.repair.violations import Ground, Reading, Step, TestRules, Violation
from cogworks.vocabulary import Severity

Difference = Literal[
    "removed",
    "kind_changed",
    "async_changed",
    "decorators_changed",
    "base_removed",
    "parameter_removed",
    "parameter_renamed",
    "parameters_reordered",
    "required_parameter_added",
    "default_removed",
    "passing_changed",
    "annotation_changed",
]


class ApiChange(NamedTuple):
    """One difference of one public name."""

    id: str
    difference: Difference
    text: str

    @property
    def is_breaking(self) -> bool:
        """Changes of annotations are reported and never refused."""
        return self.difference != "annotation_changed"


def api_changes(before: Signatures, after: Signatures) -> tuple[ApiChange, ...]:
    """Every difference that callers may notice, by name; a new public name is none."""
    there = {signature.id: signature for signature in after.signatures}
    unread = {each.artifact for each in after.unread}
    changes: list[ApiChange] = []
    for old in before.signatures:
        new = there.get(old.id)
        if new is not None:
            changes += _differences(old, new)
        # Of a file that could not be read nothing is known; that it cannot be read is reported elsewhere.
        elif old.artifact not in unread:
            changes.append(ApiChange(old.id, "removed", f"the public {old.kind} is gone"))
    return tuple(changes)


def refused_changes(changes: Iterable[ApiChange], allowed: Collection[str]) -> tuple[ApiChange, ...]:
    """Those that break a call and are not among the names that may change."""
    return tuple(change for change in changes if change.is_breaking and change.id not in allowed)


def _differences(old: Signature, new: Signature) -> Iterator[ApiChange]:
    if old.kind != new.kind:
        yield ApiChange(old.id, "kind_changed", f"was a {old.kind} and is a {new.kind}")
    if old.is_async != new.is_async:
        yield ApiChange(old.id, "async_changed", f"is {'' if new.is_async else 'no longer '}async")
    if old.decorators != new.decorators:
        names = (", ".join(decorators) or "none" for decorators in (old.decorators, new.decorators))
        yield ApiChange(old.id, "decorators_changed", "decorators were {} and are {}".format(*names))
    if lost := [base for base in old.bases if base not in new.bases]:
        yield ApiChange(old.id, "base_removed", f"no longer inherits from {', '.join(lost)}")
    yield from _parameters(old, new)
    for name in sorted(old.annotations.keys() | new.annotations.keys()):
        if old.annotations.get(name) != new.annotations.get(name):
            yield ApiChange(old.id, "annotation_changed", f"the annotation of {name!r} differs")


def _parameters(old: Signature, new: Signature) -> Iterator[ApiChange]:
    before, renamed = _named(old), dict(_renamed(old, new))
    for name in before:
        yield from _parameter(name, old, new, renamed)
    for name in sorted(_required(new) - before.keys() - set(renamed.values())):
        yield ApiChange(old.id, "required_parameter_added", f"callers would have to pass {name!r}")
    shared = [name for name in _in_order(old) if name in _in_order(new)]
    if shared != [name for name in _in_order(new) if name in shared]:
        yield ApiChange(old.id, "parameters_reordered", "the parameters stand in another order")
    elif not renamed and _pushed_back(old, new):
        yield ApiChange(old.id, "parameters_reordered", "a new parameter stands before old ones")
    catch_alls = (("*", old.var_positional, new.var_positional), ("**", old.var_keyword, new.var_keyword))
    for mark, was, now in catch_alls:
        if was is not None and now is None:
            yield ApiChange(old.id, "parameter_removed", f"{mark}{was} is gone")


def _parameter(name: str, old: Signature, new: Signature, renamed: Mapping[str, str]) -> Iterator[ApiChange]:
    was, now = _named(old)[name], _named(new).get(name)
    if name in renamed:
        yield ApiChange(old.id, "parameter_renamed", f"{name!r} is called {renamed[name]!r} now")
    elif now is None:
        yield ApiChange(old.id, "parameter_removed", f"the parameter {name!r} is gone")
    elif was != now:
        yield ApiChange(old.id, "passing_changed", f"{name!r} was {was} and is {now}")
    if name in old.with_default and renamed.get(name, name) in _required(new):
        yield ApiChange(old.id, "default_removed", f"{name!r} has no default any more")


def _named(signature: Signature) -> dict[str, str]:
    """Parameter -> how it is passed."""
    ways = (
        ("positional only", signature.positional_only),
        ("positional or by name", signature.positional),
        ("by name only", signature.keyword_only),
    )
    return {name: way for way, names in ways for name in names}


def _required(signature: Signature) -> set[str]:
    return _named(signature).keys() - set(signature.with_default)


def _in_order(signature: Signature) -> list[str]:
    """The parameters whose place matters to a caller."""
    return [*signature.positional_only, *signature.positional]


def _renamed(old: Signature, new: Signature) -> Iterator[tuple[str, str]]:
    """Names that gave way to another in the same place, when neither is known to the other side."""
    before, after = _named(old), _named(new)
    for group in ("positional_only", "positional", "keyword_only"):
        names, others = getattr(old, group), getattr(new, group)
        if len(names) == len(others):
            yield from (
                (name, other)
                for name, other in zip(names, others, strict=True)
                if name != other and other not in before and name not in after
            )


def _pushed_back(old: Signature, new: Signature) -> bool:
    """Whether a parameter with a default came in before old positional ones: calls by place would mean another."""
    order = _in_order(old)
    kept = [name for name in _in_order(new) if name in order]
    return bool(kept) and _in_order(new)[: len(kept)] != kept


_WATCHING = (
    ("the test runner", re.compile(r"^\s*(?:import|from)\s+_?pytest\b|\b_pytest\b|\bpytest_[a-z]\w+")),
    ("the test runner", re.compile(r"\b(?:PYTEST_\w+|COGWORKS_TESTS)\b")),
    ("the test runner", re.compile(r"\bimport_(?:module)?_*\(\s*[\"']_?(?:pytest|unittest)\b|__import__\(\s*[\"']_?(?:pytest|unittest)\b")),
    ("the test runner", re.compile(r"^\s*(?:import|from)\s+unittest\b|\bunittest\.(?!mock\b)\w+")),
    ("the modules that are loaded", re.compile(r"\bsys\.modules\b|\bfrom\s+sys\s+import\b.*\bmodules\b")),
    ("the frames of its callers", re.compile(r"\b_getframe\b|\b_current_frames\b|\.f_(?:back|locals|globals|code)\b|\b(?:tb|gi|cr|ag)_frame\b")),
    (
        "the frames of its callers",
        re.compile(
            r"\binspect\.(?:stack|currentframe|trace|getouterframes|getinnerframes)\b|\bgetargvalues\b"
            r"|\bfrom\s+inspect\s+import\b.*\b(?:stack|currentframe|trace)\b|\btraceback\.(?:extract_stack|walk_stack)\b"
            r"|\bfrom\s+traceback\s+import\b.*\b(?:extract_stack|walk_stack)\b"
        ),
    ),
    ("the objects of its callers", re.compile(r"\bgc\.get_(?:objects|referrers|referents)\b|\bfrom\s+gc\s+import\b")),
    ("every class that is loaded", re.compile(r"\b(?:object|type|__base__|__(?:bases|mro)__\[-?\d+\])\.__subclasses__\b")),
    ("its own execution", re.compile(r"\bsys\.(?:settrace|setprofile|gettrace|monitoring)\b|\bthreading\.set(?:trace|profile)\w*")),
    ("its tests", re.compile(r"^\s*(?:import|from)\s+(?:[\w.]+\.)?(?:test_\w+|\w+_test|conftest)\b")),
    ("what these modules hide", re.compile(r"\b(?:getattr|vars)\(\s*(?:sys|inspect|gc|builtins)\s*(?:[,)]|$)|\b(?:sys|inspect|gc|builtins)\.__dict__")),
    (
        "what these modules hide",
        re.compile(
            r"\bimport\s+(?:sys|inspect|gc|traceback|builtins)\s+as\b|=\s*(?:sys|inspect|gc|builtins)\s*(?:;|$)"
            r"|(?:\bimport_module|__import__)\(\s*[\"'](?:sys|inspect|gc|traceback|builtins)[\"']"
        ),
    ),
)  # fmt: skip
"""What is looked at, and the lines that do."""
_COMMENT = re.compile(r"""(?:[^#"']|"[^"]*"|'[^']*')*?(?=#|$)""")


def runner_violations(diff: Diff, step: Step, ground: Ground) -> Iterator[Violation]:
    """No added line of a file that is no test looks at the runner, at modules or at frames, unless the file did before."""
    if step.may_watch:
        return
    for file in diff.files:
        if matching(file.path, step.tests.files) is None:
            yield from _watching(file, ground.sources.get(file.old_path, ""))


def _watching(file: FileDiff, before: str) -> Iterator[Violation]:
    added = [line.text for hunk in file.hunks for line in hunk.lines if line.sign == "+"]
    for what, line_text in looks_at(added, before):
        yield Violation(
            "runner",
            f"{file.path!r}: {line_text[:80]!r} looks at {what}; a repair may not tell whether a test runs it",
        )


def looks_at(added: Sequence[str], before: str) -> Iterator[tuple[str, str]]:
    """What new lines of code look at in the process that runs them and the text before did not, each with the first such line."""
    code, there = [_code(line) for line in added], [_code(line) for line in before.splitlines()]
    for what, form in _WATCHING:
        first = next((text.strip() for text in code if form.search(text)), None)
        if first is not None and not any(form.search(line) for line in there):
            yield what, first


def _code(line: str) -> str:
    """A line without its comment."""
    match = _COMMENT.match(line)
    return match[0] if match else line


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
        first = next((text.strip() for text in added if re.search(pattern, text)), None)
        if first is not None:
            yield Violation("tests", f"{file.path!r}: {first[:80]!r} makes a test say less; do not add it")


def _configured_table(file: FileDiff, ground: Ground, rules: TestRules) -> str | None:
    """The table that decides how tests run and that a change lies in, or brings in."""
    wanted = rules.sections.get(PurePosixPath(file.old_path).name, ())
    if not wanted:
        return None
    there = lines_of(ground.sources.get(file.old_path, ""))
    for edit in (edit for hunk in file.hunks for edit in edits_of(hunk)):
        around = next((name for line in reversed(there[: edit.start]) if (name := _table(line))), "")
        touched = [around, *filter(None, (_table(line) for line in (*edit.removed, *edit.added)))]
        table = next((name for name in touched if name.startswith(wanted)), None)
        if table is not None:
            return table
    return None


def _table(line: str) -> str | None:
    match = _TABLE.match(line)
    return None if match is None else match[1]


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


def has_images(violations: Iterable[Violation]) -> bool:
    """Whether a diff with these violations fits the files, so that its language can be judged as well."""
    return not any(violation.code in ("shape", "path", "kind", "base") for violation in violations)


def language_violations(reading: Reading, step: Step) -> tuple[Violation, ...]:
    """V10 and V13: public names can be called as before, and what was written can be read."""
    changes = refused_changes(api_changes(reading.before, reading.after), step.allow_api)
    api = [Violation("api", f"{change.id}: {change.text}; keep the signature") for change in changes]
    syntax = [
        Violation("syntax", f"{_place(diagnostic)}: {diagnostic.message}")
        for diagnostic in reading.syntax
        if diagnostic.severity is Severity.BLOCKING
    ]
    return (*api, *syntax)


def images(diff: Diff, ground: Ground) -> dict[str, str | None]:
    """Every file of a diff that fits, as it is afterwards; None: deleted."""
    return {file.path: post_image(file, ground.sources.get(file.old_path)) for file in diff.files}


def _place(diagnostic: Diagnostic) -> str:
    return diagnostic.artifact if diagnostic.line is None else f"{diagnostic.artifact}:{diagnostic.line}"
