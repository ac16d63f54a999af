"""Where the tests of a sub-work-item are: what their writer hands over to the writer of the code."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

from pydantic import Field

from cogworks.canonical import digest
from cogworks.nodes.contract import Failed
from cogworks.nodes.replies import PlannedItem
from cogworks.nodes.task import NodeTask
from cogworks.vocabulary import Value

Source = Literal["reported", "stored", "planned", "convention"]
"""Who said where the tests are: their writer, an earlier hand-off, the plan, or nobody."""

_TEST_DIRECTORIES = frozenset({"test", "tests", "spec", "specs", "__tests__"})
_TEST_STEM = re.compile(r"(?:tests?|test_.+|.+_tests?|.+\.test|.+\.test-d|.+\.spec|conftest|[A-Z]\w*Tests?)")
_NO_BEHAVIOUR = frozenset({"refactor", "documentation", "configuration_change", "dependency_update"})
"""Kinds of issues whose tests may pass from the beginning."""
_PROSE = frozenset({"", ".md", ".rst", ".txt", ".adoc"})
_DATA = _PROSE | {".csv", ".ini", ".json", ".toml", ".xml", ".yaml", ".yml"}


class RedRun(Value):
    """What the tests did on the tree without the change."""

    collected: int
    failed: int
    passed: int
    missing: tuple[str, ...] = ()
    """What they need and nothing declares yet, e.g. `cannot import name 'add' from 'adder'`."""
    failing_before: tuple[str, ...] = ()
    """Those that fail as they did without the new tests, and are not among the failed ones."""


class TestHandoff(Value):
    """Tests that are written and committed; the writer of the code may not change them."""

    __test__ = False
    schema_version: Literal[1] = Field(default=1, alias="schema")
    work_item: int
    sub_work_item: int | None
    """Number of the sub-issue, where there is one."""
    feature_id: str
    test_path: str = Field(min_length=1)
    """Repository-relative POSIX path in the working copy of this sub-work-item."""
    extra_paths: tuple[str, ...] = ()
    """Further files that belong to the tests: more test files, data."""
    source: Source
    sha256: str
    """Of the test file's text."""
    extra_sha256: tuple[str, ...] = ()
    """Of the further files, in their order."""
    test_ids: tuple[str, ...] = ()
    """Those that could be collected when it was made."""
    red: RedRun
    written_by: str
    attempt: int
    commit: str
    """The commit that holds them."""
    request: str = ""
    """sha256 of the sub-issue that they were written for; empty: as the plan had it."""

    @property
    def failing_before(self) -> tuple[str, ...]:
        """Tests of these files that failed in the same way before they were written: nobody has to make them pass."""
        return self.red.failing_before

    @property
    def asked(self) -> frozenset[str]:
        """Those of its tests that somebody has to make pass."""
        return frozenset(self.test_ids).difference(self.failing_before)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file that was handed over, the test file first."""
        return (self.test_path, *self.extra_paths)

    def as_json(self) -> dict[str, Any]:
        """As it is kept in outputs."""
        return self.model_dump(mode="json", by_alias=True, exclude=None if self.request else {"request"})


class Resolved(NamedTuple):
    """Where the tests are, and who said so."""

    path: str
    source: Source
    usual: str
    """Where they would be by convention."""


class Convention(NamedTuple):
    """What the place of tests follows from when nobody says it."""

    work_item: int
    sub_work_item: int
    """Number of the sub-issue, else its position in the plan."""
    extension: str

    @property
    def feature_id(self) -> str:
        return f"wi-{self.work_item}"


def resolved(
    *, reported: str, stored: str = "", planned: Sequence[str] = (), convention: Convention
) -> Resolved:
    """Where the tests are: as reported, else as stored, else as planned, else by convention.

    Args:
        reported: by the writer, empty when it said nothing.
        stored: by an earlier hand-off of the same sub-work-item.
        planned: the files of the plan; they say it when exactly one of them is a test file.
    """
    usual = conventional_path(convention)
    tests = [path for path in planned if is_test_path(path)]
    if reported:
        return Resolved(reported, "reported", usual)
    if stored:
        return Resolved(stored, "stored", usual)
    if len(tests) == 1:
        return Resolved(tests[0], "planned", usual)
    return Resolved(usual, "convention", usual)


def conventional_path(convention: Convention) -> str:
    """Where tests are when nobody says it: `tests/generated/<feature>/test_issue_<number><extension>`."""
    name = f"test_issue_{convention.sub_work_item}{convention.extension}"
    return f"tests/generated/{convention.feature_id}/{name}"


def convention_of(task: NodeTask, item: PlannedItem) -> Convention:
    """Where the tests of a sub-work-item are, when nobody says."""
    number = (task.sub_item.number or task.sub_item.ordinal) if task.sub_item else task.item.number
    return Convention(task.item.number, number, extension_of(item.files))


def extension_of(planned: Iterable[str]) -> str:
    """The extension of a sub-work-item's code: the one most of its planned files have, prose aside; may be empty."""
    suffixes = [suffix for path in planned if (suffix := PurePosixPath(path).suffix) not in _PROSE]
    return Counter(suffixes).most_common(1)[0][0] if suffixes else ""


def is_test_path(path: str) -> bool:
    """Whether a file belongs to the tests, as far as its name tells in the usual layouts of most languages."""
    place = PurePosixPath(path)
    # `.github/workflows/test.yaml` says when tests run, and is none of them.
    if len(place.parts) > 1 and place.parts[0].startswith("."):
        return False
    return is_in_tests(path) or _TEST_STEM.fullmatch(place.stem) is not None


def is_in_tests(path: str) -> bool:
    """Whether a file lies in a folder of tests, as far as the folder's name tells."""
    return any(part.lower() in _TEST_DIRECTORIES for part in PurePosixPath(path).parts[:-1])


def holds_tests(path: str) -> bool:
    """Whether a test runner may be handed a file to run what is in it; data of tests it may not."""
    place = PurePosixPath(path)
    return place.suffix not in _DATA and _TEST_STEM.fullmatch(place.stem) is not None


def regression_paths(outputs: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    """The test files of finished sub-work-items as their hand-offs have them, from the outputs of their code; never
    recomputed."""
    handed = [
        TestHandoff.model_validate(code["test_handoff"]) for code in outputs if code.get("test_handoff")
    ]
    return tuple(dict.fromkeys(handoff.test_path for handoff in handed))


def hands_over(task: NodeTask) -> bool:
    """Whether tests are written before the code in this visit; code that came with its tests is reworked with them."""
    is_first = not task.earlier.get("code")
    return task.conventions.test_writer == "separate" and (is_first or stored_handoff(task) is not None)


def wants_red(task: NodeTask) -> bool:
    """Whether some test of the change has to fail without it: the issue is about behaviour."""
    classification = task.inputs.get("classification") or {}
    return classification.get("type") not in _NO_BEHAVIOUR


def request_of(task: NodeTask) -> str:
    """sha256 of the sub-issue as people rewrote it; empty where it is as the plan has it."""
    edited = task.sub_item.edited if task.sub_item else None
    return digest(edited) if edited else ""


def dropped(item: PlannedItem, lost: Sequence[str]) -> Failed:
    """The end of a visit whose handed-over tests no longer hold tests that passed before them."""
    return Failed(
        reason=f"code_generation: {item.key} ({item.title}): the tests that were handed over no longer hold "
        f"{', '.join(lost)}, which passed before. Nothing was changed. If they may go, remove them by hand on the base branch; else "
        "make the sub-issue more precise. Then remove the trigger label and set it again.",
        category="escalated",
    )


def stored_handoff(task: NodeTask) -> TestHandoff | None:
    """What the latest successful visit of this sub-work-item handed over."""
    stored = (task.earlier.get("code") or {}).get("test_handoff")
    return TestHandoff.model_validate(stored) if stored else None
