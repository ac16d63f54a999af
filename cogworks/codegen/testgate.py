"""May tests be handed over? Checks in a fixed order, each with a code; the first two can never be waived.

What a run of the test suite says about the change under way.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Protocol

from cogworks.canonical import sha256
from cogworks.codebase.changes import normalised, path_problem, protected_by
from cogworks.codegen.handoff import Convention, RedRun, Resolved, TestHandoff
from cogworks.codegen.restating import Rewritten
from cogworks.domain_services.failing import cause_of, causes, excerpt, failing, in_figures, innermost
from cogworks.domain_services.messages import Diagnostic, TestReport, hides_any, is_hidden
from cogworks.repair.transact.measure import file_of
from cogworks.repair.unloaded import unloaded_of
from cogworks.vocabulary import Value

MAX_CANDIDATES = 5
_BAD = frozenset({"failed", "error"})
_MISSING = (
    re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'"),
    re.compile(r"No module named '(?P<module>[\w.]+)'"),
    re.compile(r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'"),
)
"""How a test says that what it tests does not exist yet."""
_TO_COME = re.compile(
    r"has no attribute '\w+'|unexpected keyword argument|positional arguments? but|missing \d+ required|NotImplementedError"
)
"""How it says so of a part of what is there."""
_ASSERTS = re.compile(r"assert\b|AssertionError|Failed:")


class GateCode(StrEnum):
    """What a check is about."""

    TEST_PATH_ESCAPE = "TEST_PATH_ESCAPE"
    TEST_FILE_MISSING = "TEST_FILE_MISSING"
    TEST_HASH_CHANGED = "TEST_HASH_CHANGED"
    TEST_SYNTAX = "TEST_SYNTAX"
    TEST_EMPTY = "TEST_EMPTY"
    TEST_NOT_RED = "TEST_NOT_RED"


WAIVABLE = frozenset(GateCode) - {GateCode.TEST_PATH_ESCAPE, GateCode.TEST_FILE_MISSING}
"""Checks that a repository may have warn only."""


class GateProblem(Value):
    """Why tests are not handed over."""

    code: GateCode
    message: str
    """For the writer, and for people when the writer gives up."""
    path: str


class Tree(Protocol):
    """A working copy as the gate looks at it."""

    @property
    def path(self) -> Path: ...
    def files(self) -> Sequence[str]: ...
    def read(self, path: str) -> str | None: ...


@dataclass(frozen=True)
class Claim:
    """Where somebody says that tests are."""

    place: Resolved
    extra_paths: tuple[str, ...]
    written_by: str
    convention: Convention

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.place.path, *self.extra_paths)


@dataclass(frozen=True)
class FirstRun:
    """What is known of handed-over tests once they ran on the tree without the change."""

    report: TestReport
    before: TestReport
    """The suite without them."""
    modules: Collection[str]
    """Files that are there or planned: what a test may miss because it is still to be written."""
    wants_red: bool
    """Whether one of them has to fail; tests of a change that alters no behaviour need not."""
    asked: frozenset[str] = frozenset()
    """Tests that were handed over before: they are red because nobody has made them pass yet."""
    rewritten: Mapping[str, Rewritten] = field(default_factory=dict)
    """Path -> texts of those of their files that were there before."""


def escaping(claim: Claim, tree: Tree) -> Iterator[GateProblem]:
    """Paths under which no test may be."""
    for path in claim.paths:
        if reason := _escape(path, tree.path):
            message = f"Test file refused: {path!r}: {reason}. Write tests to a path inside the repository."
            yield GateProblem(code=GateCode.TEST_PATH_ESCAPE, message=message, path=path)


def absent(claim: Claim, tree: Tree) -> Iterator[GateProblem]:
    """Paths under which there is no regular file with text in it."""
    for path in claim.paths:
        if not (tree.read(path) or "").strip():
            message = _missing_message(path, claim, tree)
            yield GateProblem(code=GateCode.TEST_FILE_MISSING, message=message, path=path)


def standing(handoff: TestHandoff, claim: Claim, tree: Tree) -> Iterator[GateProblem]:
    """What is wrong with tests that were handed over earlier: they are where they were, as they were."""
    yield from escaping(claim, tree)
    yield from absent(claim, tree)
    wanted = zip(handoff.paths, (handoff.sha256, *handoff.extra_sha256), strict=True)
    for path, known in wanted:
        text = tree.read(path)
        if text is not None and (digest := sha256(text)) != known:
            message = (
                f"Test file changed: {path} was handed over by {handoff.written_by} with the SHA-256 {known} and has "
                f"{digest} now. Hand it over again as it shall be."
            )
            yield GateProblem(code=GateCode.TEST_HASH_CHANGED, message=message, path=path)


def unreadable(paths: Collection[str], diagnostics: Sequence[Diagnostic]) -> Iterator[GateProblem]:
    """Test files that do not parse, by what the domain service says of them."""
    for diagnostic in diagnostics:
        if diagnostic.category == "syntax_error" and diagnostic.artifact in paths:
            message = (
                f"{diagnostic.artifact}, line {diagnostic.line or '?'}: syntax error: {diagnostic.message}."
            )
            yield GateProblem(code=GateCode.TEST_SYNTAX, message=message, path=diagnostic.artifact)


def tried(paths: Sequence[str], run: FirstRun) -> Iterator[GateProblem]:
    """What is wrong with what the tests did: they have to run, and to fail for the right reason."""
    yield from _empty(paths, run)
    yield from _not_red(paths, run)


def failing_before(paths: Sequence[str], run: FirstRun) -> tuple[str, ...]:
    """Tests of these files that fail as they did without the new tests, so that no change of the item is to blame or asked for.

    None where nothing else fails there: then they may be what the item is about.
    """
    old = {
        case.id: cause_of(case.message)
        for case in run.before.cases
        if case.outcome in _BAD and case.id not in run.asked
    }
    bad = [case for case in run.report.cases if case.outcome in _BAD and file_of(case.id) in paths]
    same = tuple(case.id for case in bad if old.get(case.id) == cause_of(case.message))
    return same if len(same) < len(bad) or _errors_of(paths, run.report) else ()


def without_failing_before(report: TestReport, handoff: TestHandoff) -> TestReport:
    """What a run says of all tests but those that nobody has to make pass."""
    cases = tuple(case for case in report.cases if case.id not in handoff.failing_before)
    return report.model_copy(update={"cases": cases})


def red_run(paths: Sequence[str], run: FirstRun) -> RedRun:
    """The figures of the tests on the tree without the change."""
    cases = [case for case in run.report.cases if file_of(case.id) in paths]
    old = failing_before(paths, run)
    errors = (_still_to_be_written(error, run, paths) for error in _errors_of(paths, run.report))
    return RedRun(
        collected=len(cases),
        failed=sum(1 for case in cases if case.outcome in _BAD and case.id not in old),
        passed=sum(1 for case in cases if case.outcome == "passed"),
        missing=tuple(dict.fromkeys(missing for missing in errors if missing)),
        failing_before=old,
    )


def odd_failures(paths: Sequence[str], run: FirstRun) -> str:
    """Tests that fail in code that is there, where most only miss what is still to be written; empty where none does.

    What most of them fail for decides: where that is behaviour, an exception of existing code may be what is to be changed.
    """
    bad = [
        (case.id, case.message)
        for case in run.report.cases
        if case.outcome in _BAD and file_of(case.id) in paths
    ]
    failures = [*((file_of(error), error) for error in _errors_of(paths, run.report)), *bad]
    groups = causes(failures)
    most = max(groups, key=lambda cause: len(cause.ids), default=None)
    messages = dict(failures)
    if most is None or not _is_to_come(messages[most.ids[0]], run.modules):
        return ""
    odd = [cause for cause in groups if _is_odd(messages[cause.ids[0]], run.modules, paths)]
    names = {name for cause in odd for name in cause.ids}
    if not names:
        return ""
    shown = "\n\n".join(failing([case for case in run.report.cases if case.id in names], run.report.blocked))
    return (
        f"The tests fail like this: {in_figures(failures)}. Most miss what is still to be written, and these fail in code that is "
        f"there already:\n\n{shown}\n\nCorrect them. If they are right as they are, say in `confirmed` why, and leave `files` "
        "empty: then all your tests are taken as you gave them."
    )


def _is_to_come(error: str, modules: Collection[str]) -> bool:
    return bool(missing_target(error, modules) or _TO_COME.search(error))


def _is_odd(error: str, modules: Collection[str], paths: Sequence[str]) -> bool:
    at = innermost(error)
    is_in_tests = not at or at in paths
    return not (is_in_tests or _is_to_come(error, modules) or _ASSERTS.match(cause_of(error)))


def missing_target(error: str, modules: Collection[str]) -> str:
    """What a test needs and nothing declares yet, in the runner's words; empty when the error is about something else.

    Args:
        modules: files that are there or planned; a package that is none of them is not for the coder to write.
    """
    matches = [match for pattern in _MISSING for match in pattern.finditer(error)]
    if not matches:
        return ""
    last = max(matches, key=lambda match: match.start())
    top = last["module"].split(".")[0]
    is_ours = any(top in PurePosixPath(path).with_suffix("").parts for path in modules)
    return last.group() if is_ours else ""


def _still_to_be_written(error: str, run: FirstRun, paths: Sequence[str]) -> str:
    """What `missing_target` says, if the suite could be loaded without these tests: else it is not for the coder.

    Args:
        paths: the files that hold the tests.
    """
    target, known = missing_target(error, run.modules), run.before.collection_errors
    is_old = any(target in each for each in known)
    # Of what lies in a folder that could not be loaded nobody knows what else is missing.
    is_unseen = any(hides_any(each, paths) and file_of(each) not in paths for each in known)
    # Where no test was, or some could not be loaded for whatever reason, none need have loaded the code that was there.
    is_untried = not run.before.cases or any(file_of(each) not in paths for each in known)
    return "" if is_old or is_unseen or (is_untried and _is_of_old_code(error, paths)) else target


def _is_of_old_code(error: str, paths: Sequence[str]) -> bool:
    """Whether what is missed is missed by code that was there before the tests, as far as the error says where."""
    at = next((each.at for each in unloaded_of([error])), "")
    return bool(at) and at.rpartition(":")[0] not in paths


def without_handed_over(report: TestReport, handoff: TestHandoff) -> TestReport:
    """The suite as it was found, but for failures of the tests that have to pass now."""
    paths, old = handoff.paths, handoff.failing_before
    errors = _errors_of(paths, report)
    return report.model_copy(
        update={
            "cases": tuple(
                c for c in report.cases if c.outcome not in _BAD or c.id in old or file_of(c.id) not in paths
            ),
            "collection_errors": tuple(error for error in report.collection_errors if error not in errors),
        }
    )


def announced(handoff: TestHandoff, report: TestReport) -> tuple[str, ...]:
    """The handed-over files that hold tests: each has to prove something in the end."""
    # What a folder hides may as well be data.
    files = {*map(file_of, handoff.test_ids), *map(file_of, report.collection_errors)}
    extra = [path for path in handoff.extra_paths if path in files]
    return (handoff.test_path, *extra)


def _escape(path: str, root: Path) -> str | None:
    if (problem := path_problem(path.rstrip("/") or path)) is not None:
        return problem
    if (pattern := protected_by(path)) is not None:
        return f"it is protected by {pattern!r}"
    if not (root / normalised(path)).resolve().is_relative_to(root.resolve()):
        return "a symbolic link leads out of the repository"
    return None


def _missing_message(path: str, claim: Claim, tree: Tree) -> str:
    near = _near(path, tree.files())
    origin = f"source: {claim.place.source}, from {claim.written_by}"
    parts = [
        f"Test file not found: {path} ({origin}); it has to be a regular file with text in it.",
        f"By convention it would be {claim.place.usual}." if claim.place.usual != path else "",
        f"Near it: {', '.join(near)}." if near else "",
        "State the path under which the tests were written, or write them there.",
    ]
    return " ".join(part for part in parts if part)


def _near(path: str, files: Sequence[str]) -> list[str]:
    name = PurePosixPath(path).name
    same = [file for file in files if PurePosixPath(file).name == name and file != path]
    alike = get_close_matches(path, [file for file in files if file != path], n=MAX_CANDIDATES, cutoff=0.5)
    return list(dict.fromkeys([*same, *alike]))[:MAX_CANDIDATES]


def _errors_of(paths: Sequence[str], report: TestReport) -> list[str]:
    return [error for error in report.collection_errors if hides_any(error, paths)]


def _empty(paths: Sequence[str], run: FirstRun) -> Iterator[GateProblem]:
    red = red_run(paths, run)
    errors = _errors_of(paths, run.report)
    foreign = [error for error in errors if not _still_to_be_written(error, run, paths)]
    for error in foreign:
        message = f"{red.collected} tests collected: this cannot be loaded, and not because something is still to be written: {excerpt(error)}"
        yield GateProblem(code=GateCode.TEST_EMPTY, message=message, path=file_of(error))
    if run.report.timed_out:
        message = f"{red.collected} tests collected: the suite does not finish in time with these tests."
        yield GateProblem(code=GateCode.TEST_EMPTY, message=message, path=paths[0])
    elif not errors and not any(file_of(case.id) == paths[0] for case in run.report.cases):
        message = f"0 tests collected in {paths[0]}: it needs at least one that the test runner finds."
        if readers := _readers(paths, run):
            message += (
                f" Cases that a test reads from files are tests of its own file: name {readers[0]} as the file with the tests, which may stay"
                f" as it is, and {', '.join(paths)} as further files."
            )
        yield GateProblem(code=GateCode.TEST_EMPTY, message=message, path=paths[0])


def with_readers(claim: Claim, run: FirstRun) -> Claim:
    """The claim with the files of tests that read its files of data: in them a case of that name is red, and was not before.

    The cases are asked for like all handed-over tests. Where the claim names data as the file with the tests, that is the
    first of these files.
    """
    with_tests = {file_of(case.id) for case in run.report.cases}
    errors = _errors_of(claim.paths, run.report)
    data = [path for path in claim.paths if path not in with_tests and not is_hidden(path, errors)]
    failing, named = {case.id for case in run.before.cases if case.outcome in _BAD}, _naming(data)
    readers = dict.fromkeys(
        file_of(case.id)
        for case in run.report.cases
        if case.outcome in _BAD and case.id not in failing and named.search(case.id.partition("[")[2])
    )
    if not data or not readers:
        return claim
    first = next(iter(readers)) if claim.place.path in data else claim.place.path
    others = dict.fromkeys((*claim.paths, *readers))
    del others[first]
    return replace(claim, place=claim.place._replace(path=first), extra_paths=tuple(others))


def _naming(paths: Sequence[str]) -> re.Pattern[str]:
    """What a text matches that has the name of one of these files in it."""
    stems = "|".join(re.escape(PurePosixPath(path).stem) for path in paths)
    return re.compile(rf"(?<!\w)(?:{stems})(?!\w)")


def _readers(paths: Sequence[str], run: FirstRun) -> list[str]:
    """The files of tests that fail only now, or have the name of a written file as a parameter: they read it."""
    failing = {case.id for case in run.before.cases if case.outcome in _BAD}
    named = _naming(paths)
    readers = (
        file_of(case.id)
        for case in run.report.cases
        if (case.outcome in _BAD and case.id not in failing) or named.search(case.id.partition("[")[2])
    )
    return list(dict.fromkeys(readers))


def _not_red(paths: Sequence[str], run: FirstRun) -> Iterator[GateProblem]:
    cases = [case for case in run.report.cases if file_of(case.id) in paths]
    astray = [c for c in cases if c.outcome == "error" and not _still_to_be_written(c.message, run, paths)]
    known = {case.id for case in run.before.cases if case.outcome in _BAD}
    for case in astray:
        if case.id not in known:
            message = f"{case.id} breaks before it tests anything, and not because something is still to be written:\n{excerpt(case.message)}"
            yield GateProblem(code=GateCode.TEST_NOT_RED, message=message, path=file_of(case.id))
    is_red = bool(_errors_of(paths, run.report)) or any(case.outcome in _BAD for case in cases)
    if run.wants_red and not is_red:
        passing = ", ".join(case.id for case in cases if case.outcome == "passed")
        message = (
            f"No test fails without the change, so none of them shows it. These pass already: {passing or 'none'}. "
            "Write at least one that fails now and passes when the sub-work-item is done."
        )
        yield GateProblem(code=GateCode.TEST_NOT_RED, message=message, path=paths[0])
