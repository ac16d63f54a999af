"""What the model is told when it writes the tests and the code of a sub-work-item.

Whether written tests assert what is wanted, as a model sees it: an opt-in question before they are handed over."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from pydantic import Field, model_validator

from cogworks.codebase.diffparsing import parse_diff
from cogworks.codegen.handoff import is_in_tests, is_test_path
from cogworks.codegen.mending import MENDING
from cogworks.cycle.feedback import MAX_PROBLEMS, Trial
from cogworks.nodes.artifacts import interface_files, key_of, planned_items, spec_path, wanted_text
from cogworks.nodes.asking import purpose_of
from cogworks.nodes.contract import NodePorts, Workspace
from cogworks.nodes.intake import issue
from cogworks.nodes.replies import JudgedTests, PlannedItem
from cogworks.nodes.shown import repository_view, shown_once, view_variables
from cogworks.nodes.task import NodeTask
from cogworks.sight.excerpts import around_changes
from cogworks.sight.kinds import Kind, kind_of
from cogworks.sight.question import About
from cogworks.sight.seen import Stretch
from cogworks.sight.stretches import tokens_of
from cogworks.sight.view import FirstView
from cogworks.vocabulary import Severity, SubItemKey, Value


class ShownFile(Value):
    """One file."""

    path: str
    text: str
    is_cut: bool = False
    """Whether only the parts around what is new are shown, with line numbers."""


class HandedOver(Value):
    """The tests as they are shown to the writer of the code; no code is asked for without them."""

    test_path: str = Field(min_length=1)
    files: tuple[ShownFile, ...] = Field(min_length=1)
    """The test file and all that belongs to it."""
    missing: tuple[str, ...] = ()
    """What keeps them from being loaded, and is still to be written."""
    failures: tuple[str, ...] = ()
    """What failed of them when they ran last, one text for each cause."""
    failing_before: str = ""
    """Tests of their files that failed before they were written, as a list; nobody has to make them pass."""
    unrun: str = ""
    """Those of the files whose tests no runner here runs, as a list."""
    notes: str = ""

    @model_validator(mode="after")
    def _test_file_is_shown(self) -> Self:
        if self.test_path not in [file.path for file in self.files]:
            raise ValueError(f"`test_path` is {self.test_path!r}, which is none of the files that are shown")
        return self


class Opening(NamedTuple):
    """How a conversation about a sub-work-item begins."""

    variables: dict[str, Any]
    view: FirstView
    hidden: frozenset[str] = frozenset()
    """Paths that the one that answers must not see."""


def coding_opening(task: NodeTask, ports: NodePorts, item: PlannedItem) -> Opening:
    """What the writer of the tests, or of code with its tests, is told first."""
    known = _known(task, ports.workspace(), item)
    view = _view(task, ports, item, known, wants_tests=True)
    variables = {
        **known,
        "interfaces": _interfaces(known, view),
        "sub_item": item.model_dump(mode="json"),
        "findings": findings_to_resolve(task),
        **view_variables(view),
    }
    return Opening(variables, view)


def implementation_opening(
    task: NodeTask,
    ports: NodePorts,
    item: PlannedItem,
    handed_over: HandedOver,
    *,
    suite: Collection[str] = (),
) -> Opening:
    """The same for code whose tests are handed over: those are shown, and the path of no other test.

    Args:
        suite: the files that are known to hold tests; a script of another language is none, whatever its name.
    """
    workspace = ports.workspace()
    known = _known(task, workspace, item)
    paths = {file.path for file in handed_over.files}
    languages = {PurePosixPath(path).suffix for path in (*suite, *paths)} if suite else None
    for_testers = {path for path in workspace.files() if _is_for_testers(path, suite)}
    others = [
        path
        for path in workspace.files()
        if is_test_path(path)
        and path not in paths
        and not _is_foreign_script(path, languages)
        and path not in for_testers
    ]
    plan = item.model_dump(mode="json", exclude={"test_specification"})
    view = _view(task, ports, item, known, apart=sorted(paths), hidden=others, looked=ports.looked())
    variables = {
        **known,
        "interfaces": _interfaces(known, view),
        "sub_item": {**plan, "files": _without_tests(item.files, but=for_testers)},
        "dependencies": [
            {**each, "files": _without_tests(each["files"], but=for_testers)}
            for each in known["dependencies"]
        ],
        "findings": [finding for finding in findings_to_resolve(task) if finding["file"] not in paths],
        "handed_over": handed_over.model_dump(mode="json"),
        **view_variables(view),
    }
    return Opening(variables, view, frozenset(others))


def _is_foreign_script(path: str, languages: Collection[str] | None) -> bool:
    """Whether only its name makes a file a test, and none of the suite is in its language; data of tests has none."""
    if languages is None or kind_of(path) not in (Kind.SOURCE, Kind.TEST):
        return False
    return not is_in_tests(path) and PurePosixPath(path).suffix not in languages


def _is_for_testers(path: str, suite: Collection[str]) -> bool:
    """Whether a file is code of the project for those who test with it, like `werkzeug/test.py`: none of its tests is known to be there."""
    place = PurePosixPath(path)
    is_plain = place.stem in ("test", "tests") and not is_in_tests(path) and len(place.parts) > 1
    return is_plain and kind_of(path) is Kind.TEST and bool(suite) and path not in suite


def judging_variables(
    task: NodeTask, workspace: Workspace, item: PlannedItem, paths: Sequence[str]
) -> dict[str, Any]:
    """What the judge of written tests is shown: what is wanted, and the tests, but no code."""
    shown = [(path, workspace.read(path)) for path in paths]
    return {
        "item": issue(task.item),
        "specification": wanted_text(task, workspace),
        "interfaces": [file.model_dump() for file in interface_files(task, workspace)],
        "sub_item": item.model_dump(mode="json"),
        "test_files": [{"path": path, "text": text} for path, text in shown if text is not None],
    }


def _known(task: NodeTask, workspace: Workspace, item: PlannedItem) -> dict[str, Any]:
    return {
        "item": issue(task.item),
        "other_items": [
            {"key": other.key, "title": other.title} for other in planned_items(task) if other.key != item.key
        ],
        "specification": wanted_text(task, workspace),
        "interfaces": interface_files(task, workspace),
        "dependencies": _dependencies(task, item),
    }


def _view(
    task: NodeTask,
    ports: NodePorts,
    item: PlannedItem,
    known: Mapping[str, Any],
    *,
    apart: Sequence[str] = (),
    hidden: Sequence[str] = (),
    looked: Mapping[str, Sequence[Stretch]] = MappingProxyType({}),
    wants_tests: bool = False,
) -> FirstView:
    wanted = [*item.files, *(path for each in known["dependencies"] for path in each["files"])]
    # Of what was changed since, the text as it is now has to be seen as well.
    unchanged = [file.path for file in known["interfaces"] if file.is_whole and not file.change]
    tests = f"\n{item.test_specification}" if wants_tests else ""
    about = About(
        title=f"{task.item.title}\n{item.title}",
        text=f"{item.description}{tests}\n{known['specification']}\n{task.item.body}",
        wanted=tuple(wanted),
        without=frozenset({spec_path(task), *unchanged, *apart}),
        hidden=frozenset(hidden),
        wants_tests=wants_tests,
        # Whoever writes tests writes nothing else.
        wants_change_log=not wants_tests,
        looked=looked,
    )
    return repository_view(task, ports, about)


def _interfaces(known: Mapping[str, Any], view: FirstView) -> list[dict[str, Any]]:
    return [file.model_dump() for file in shown_once(known["interfaces"], view)]


def _without_tests(paths: Sequence[str], *, but: Collection[str]) -> list[str]:
    return [path for path in paths if path in but or not is_test_path(path)]


def findings_to_resolve(task: NodeTask) -> list[dict[str, Any]]:
    """The findings of the review that sent this sub-work-item back, blocking ones first, and before them what people asked
    for; none on a first visit."""
    asked = [
        {
            "file": change.file,
            "line": change.line,
            "severity": Severity.BLOCKING,
            "criterion": f"the check {change.check} failed" if change.check else f"asked for by {change.by}",
            "explanation": change.text,
        }
        for change in task.asked_changes
        # The base is merged in before anybody is asked for code.
        if change.merges is None
    ]
    review = task.inputs.get("review")
    # The latest review may be another sub-work-item's; only our own can have sent us back.
    if task.visit.ordinal == 1 or review is None or review.get("sub_item") != key_of(task):
        return asked
    if review.get(MENDING):
        # Nothing is wrong with the change; what is proposed word for word is applied without asking anybody.
        return asked
    findings: list[dict[str, Any]] = list(review["findings"])
    return asked + sorted(findings, key=lambda finding: finding["severity"] != Severity.BLOCKING)


def _dependencies(task: NodeTask, item: PlannedItem) -> list[dict[str, Any]]:
    """What the sub-work-items this one depends on did; their code is in the repository."""
    dependencies = []
    for key in sorted(set(item.depends_on)):
        code = task.dependency_outputs.get(SubItemKey(key), {}).get("code")
        if code is not None:
            paths = [file["path"] for file in code["files"] if file["action"] != "delete"]
            dependencies.append(
                {"key": key, "summary": code["summary"], "notes": code["notes"], "files": paths}
            )
    return dependencies


PROMPT = "judge_tests"
CATEGORY = "TEST_MEANING"


def judged(
    task: NodeTask, ports: NodePorts, *, workspace: Workspace, item: PlannedItem, paths: Sequence[str]
) -> Trial:
    """One question about the tests that stand in the tree; its answer is in the ledger before anything follows from it.

    Args:
        paths: of the test file and all that belongs to it.
    """
    ports.say(f"{item.key}: asking whether the tests assert what is wanted")
    reply = ports.model.ask(
        PROMPT,
        judging_variables(task, workspace, item, paths),
        JudgedTests,
        purpose=purpose_of(PROMPT, task.visit, 1),
    )
    ports.checkpoint()
    problems = objections(reply, paths)
    return Trial(category=CATEGORY, problems=problems) if problems else Trial()


def objections(reply: JudgedTests, paths: Sequence[str]) -> tuple[str, ...]:
    """What the writer is told; nothing of files that are not theirs."""
    problems = [
        f"{verdict.file}: {verdict.test} {_misses(verdict.demand)}: {verdict.explanation or 'no reason was given'}"
        for verdict in reply.verdicts
        if not verdict.holds and verdict.file in paths
    ]
    problems += [f"no test asserts this acceptance criterion: {criterion}" for criterion in reply.untested]
    return tuple(problems[:MAX_PROBLEMS])


def _misses(demand: str) -> str:
    if not demand:
        return "asserts what neither specification nor acceptance criteria ask for"
    return f"does not assert what is wanted ({demand})"


MAX_SHOWN_TOKENS = 5_000
"""Of a longer file that was there before, what is new is shown and what is around it."""


def shown_tests(
    ports: NodePorts, workspace: Workspace, paths: Sequence[str], *, base: str
) -> Iterator[ShownFile]:
    """Those of the files that are there, in their order; a new one whole, however long it is.

    Args:
        base: the branch or commit that the change starts from.
    """
    texts = {path: text for path in paths if (text := workspace.read(path)) is not None}
    is_any_long = any(tokens_of(text) > MAX_SHOWN_TOKENS for text in texts.values())
    changed = parse_diff(workspace.diff(base)).diff.files if is_any_long else ()
    added = {file.path: file.added_lines for file in changed if file.kind == "modify"}
    for path, text in texts.items():
        part = None
        if path in added and tokens_of(text) > MAX_SHOWN_TOKENS:
            part = around_changes(
                ports.index(), path, added[path], room_tokens=MAX_SHOWN_TOKENS, is_test=True
            )
        yield ShownFile(path=path, text=part or text, is_cut=part is not None)
