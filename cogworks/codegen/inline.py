"""Tests that stand in the very files of the code, as those of most crates do: they come with it, and nobody hands them over.

The names that runners give them, and indentation, show where such tests stand, in whatever language.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from cogworks.codebase.changes import FileChange
from cogworks.codebase.diffmodel import lines_of, undone
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codegen.handoff import is_test_path
from cogworks.codegen.proving import Side
from cogworks.codegen.suite import run_suite
from cogworks.domain_services.messages import TestCase, TestReport, commands_of
from cogworks.nodes.contract import NodePorts, Workspace
from cogworks.nodes.replies import CodeChange, PlannedItem
from cogworks.repair.proof import Proof
from cogworks.repair.transact.measure import file_of, with_hidden_tests

_EXAMPLE = re.compile(r"(?:doc(?: .*)?|\w+(?:\.\w+)+)")
"""How runners name a test in documentation: `doc total` of a crate, `adder.adding.add` of a module."""
_GROUP = re.compile(r"\b(?:mod|module|namespace|class|describe|suite|context)\b")
_CLOSING = re.compile(r"\s*(?:[)}\]]+[;,)]*|end)\s*")
MAX_NAMED = 3


class Stretch(NamedTuple):
    """Lines of a text, from 0; the last one is no part of it any more."""

    first: int
    end: int


def may_hold_tests(item: PlannedItem) -> bool:
    """Whether a sub-work-item may have its tests in files of its code: its plan names no file of tests."""
    return not any(is_test_path(path) for path in item.files)


def code_with_tests(item: PlannedItem, baseline: TestReport) -> tuple[str, ...]:
    """The planned files of code in which tests stand; none where the plan names a file of tests as well.

    Examples in documentation are no place for the tests of a change, unless no other file holds any.

    Args:
        baseline: the suite without the change.
    """
    if not may_hold_tests(item):
        return ()
    named = [(file_of(case.id), _is_example(case.id)) for case in baseline.cases]
    tested = {file for file, is_example in named if not is_example}
    holding = tested or {file for file, _ in named}
    return tuple(path for path in item.files if path in holding)


def unshown(reply: CodeChange, texts: Mapping[str, str], baseline: TestReport) -> tuple[str, ...]:
    """The files of code that an answer names for their tests although the tests in them are as they were.

    Args:
        reply: in whole files.
        texts: path -> the text without the change, of files of code in which tests stand.
    """
    written = {file.path: file.content for file in reply.files if file.action != "delete"}
    return tuple(
        f"{path} is listed in `tests`, and its tests are as they were; add tests there that fail without the change"
        for path, before in texts.items()
        if path in reply.tests and _same_tests(before, written.get(path, before), _of(path, baseline))
    )


def inline_lines(workspace: Workspace, since: str, baseline: TestReport) -> dict[str, frozenset[int]]:
    """Files of code that differ from a branch or commit -> the numbers, from 1, of the lines that belonged to tests there.

    Args:
        baseline: a run of the tests that were there.
    """
    texts = (
        texts_before(workspace, since) if any(not is_test_path(file_of(c.id)) for c in baseline.cases) else {}
    )
    return {
        path: frozenset(_lines_of_tests(text, _of(path, baseline)))
        for path, text in texts.items()
        if text is not None and not is_test_path(path)
    }


def _lines_of_tests(text: str, tests: Sequence[str]) -> Iterator[int]:
    for each in _stretches(text, tests):
        yield from range(each.first + 1, each.end + 1)


def with_tests_of(before: str, after: str, tests: Sequence[str]) -> str | None:
    """The text before a change with the tests after it; None where that is not certain.

    It can where all tests of the file stand in one block that both texts have once.

    Args:
        tests: the ids of all tests of the file, after the change.
    """
    names = [_segments(test)[:-1] for test in tests]
    shared = [name for name in (names[0] if names else ()) if all(name in each for each in names)]
    for name in shared:
        old, new = _blocks(before, name), _blocks(after, name)
        if len(old) == len(new) == 1:
            there, here = lines_of(before), lines_of(after)
            own, gone = here[new[0].first : new[0].end], there[old[0].first : old[0].end]
            if _is_whole(own) and _is_whole(gone):
                return "".join([*there[: old[0].first], *own, *there[old[0].end :]])
    return None


def _is_example(test: str) -> bool:
    return _EXAMPLE.fullmatch(test.partition("::")[2]) is not None


def _of(path: str, report: TestReport) -> tuple[str, ...]:
    return tuple(case.id for case in report.cases if file_of(case.id) == path and not _is_example(case.id))


def _segments(test: str) -> tuple[str, ...]:
    """The groups that a test is in, and its own name without its parameters."""
    name = test.partition("::")[2]
    return tuple(part.split("[")[0].strip() for part in re.split(r" > |::", name))


def _same_tests(before: str, after: str, tests: Sequence[str]) -> bool:
    """Whether the stretches of tests hold the same lines; False where nothing is known of them."""
    old, new = (
        [lines_of(text)[each.first : each.end] for each in _stretches(text, tests)]
        for text in (before, after)
    )
    return bool(old) and old == new


def _stretches(text: str, tests: Sequence[str]) -> list[Stretch]:
    """The blocks that tests and the groups right around them begin."""
    stretches: list[Stretch] = []
    for names in {_segments(test)[-2:] for test in tests}:
        stretches += _blocks(text, names[-1], is_group=False)
        stretches += _blocks(text, names[0]) if len(names) > 1 else ()
    return sorted(set(stretches))


def _blocks(text: str, name: str, *, is_group: bool = True) -> list[Stretch]:
    """The stretches that begin with a line that has a name in it and are indented more than that line."""
    lines = lines_of(text)
    head = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return [
        Stretch(at, end)
        for at, line in enumerate(lines)
        if head.search(line)
        and (not is_group or _GROUP.search(line))
        and (end := _end_of(lines, at)) > at + 1
    ]


def _is_whole(block: Sequence[str]) -> bool:
    """Whether a block that a brace opens is closed by its last line; a text in it may stand further left than the block."""
    if not block[0].rstrip().endswith("{"):
        return True
    text = "".join(block)
    return _CLOSING.fullmatch(block[-1]) is not None and text.count("{") == text.count("}")


def _end_of(lines: Sequence[str], at: int) -> int:
    """Where the block ends that a line begins: before the next line that is indented no more, unless that one closes it."""
    own, end = _indented(lines[at]), at + 1
    for number in range(at + 1, len(lines)):
        if not lines[number].strip():
            continue
        if _indented(lines[number]) <= own:
            is_closed = end > at + 1 and _CLOSING.fullmatch(lines[number])
            return number + 1 if is_closed else end
        end = number + 1
    return end


def _indented(line: str) -> int:
    return len(line) - len(line.lstrip())


def texts_before(workspace: Workspace, since: str) -> dict[str, str | None]:
    """Every file that differs from a commit, as it was there; None: it was not there. Empty where a diff cannot tell."""
    parsed = parse_diff(workspace.diff(since))
    if parsed.problems or any(file.binary is not None for file in parsed.diff.files):
        return {}
    return undone(parsed.diff, workspace.read)


def without_code(
    ports: NodePorts,
    workspace: Workspace,
    baseline: Side,
    *,
    after: TestReport,
    tests: Sequence[str],
    who: str,
) -> Side:
    """What the change is proven against, its own tests run on the files as they were with nothing but tests put in.

    As it was where these files cannot be separated for sure.

    Args:
        baseline: the suite on the tree that the change began with.
        after: the suite with the change.
        tests: the files whose tests the change is about.
    """
    changes = _taken_back(workspace, baseline.tree.commit, after, tests)
    if not changes or workspace.apply(changes) is not None:
        workspace.roll_back()
        return baseline
    try:
        ports.say(f"{who}: running the tests of the change without its code")
        tree = baseline.tree.model_copy(update={"tree": workspace.tree_name()})
        run = run_suite(ports, workspace, tests, who=who)
    finally:
        workspace.roll_back()
    return Side(tree, _with_outcomes(baseline.report, run, after, tests), baseline.judged)


def _taken_back(
    workspace: Workspace, since: str, after: TestReport, tests: Sequence[str]
) -> tuple[FileChange, ...]:
    """What makes the files what they were, but for the tests in them; empty where that is not certain, or nothing is left."""
    changes: list[FileChange] = []
    for path, before in texts_before(workspace, since).items():
        now = workspace.read(path)
        wanted = _with_own_tests(before, now, _of(path, after)) if path in tests else before
        if is_test_path(path) or wanted == now:
            continue
        if path in tests and wanted is None:
            return ()
        changes.append(_change(path, wanted, now))
    return tuple(changes)


def _with_own_tests(before: str | None, now: str | None, tests: Sequence[str]) -> str | None:
    return None if before is None or now is None else with_tests_of(before, now, tests)


def _change(path: str, wanted: str | None, now: str | None) -> FileChange:
    if wanted is None:
        return FileChange(path=path, action="delete")
    return FileChange(path=path, action="create" if now is None else "modify", content=wanted)


def _with_outcomes(
    baseline: TestReport, run: TestReport, after: TestReport, tests: Sequence[str]
) -> TestReport:
    """The suite as it was found, with what the tests of the change did without its code."""
    known, ran = {case.id for case in baseline.cases}, {case.id for case in run.cases}
    cases_by_id = {
        case.id: case
        for case in with_hidden_tests(run, after).cases
        if file_of(case.id) in tests and (case.id in ran or case.id not in known)
    }
    cases: list[TestCase] = [cases_by_id.pop(case.id, case) for case in baseline.cases]
    return baseline.model_copy(
        update={"cases": (*cases, *cases_by_id.values()), "commands": commands_of((baseline, run))}
    )


def with_untried(proof: Proof, tests: Collection[str]) -> Proof:
    """The proof, with a warning of new tests of which nobody can say whether they fail without the change."""
    return proof.model_copy(update={"warnings": (*proof.warnings, *_untried(proof, tests))})


def _untried(proof: Proof, tests: Collection[str]) -> Iterator[str]:
    new = [
        file_of(each.id)
        for each in proof.tests
        if each.base == "absent" and each.head == "passed" and not is_test_path(file_of(each.id))
    ]
    files = sorted(set(new) & set(tests))
    if files:
        count = sum(1 for file in new if file in tests)
        more = f" and {len(files) - MAX_NAMED} more" if len(files) > MAX_NAMED else ""
        yield (
            f"{count} new test(s) in {', '.join(f'`{file}`' for file in files[:MAX_NAMED])}{more} were not run without the "
            "change, for they stand in files of its code: that they pass with it is shown, that they fail without it is not."
        )
