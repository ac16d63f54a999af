"""What is held back from whoever proposes, and how much of it is tried."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pytest

from cogworks.codegen.doubting import passing
from cogworks.cycle.events import Limits
from cogworks.domain_services.exploring import Beside, BesideCall, BesideParams, Mutant
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.options import Options, parse_options
from cogworks.repair.proof import Proof, ProvenTest, Tree
from cogworks.vocabulary import CommitOid
from tests.cycle.repair_scene import TARGETS, RepairScene
from tests.cycle.test_repairing import BOTH, PATTERN, WHOLE
from tests.fixing import diffs, plan
from tests.repair.benches import make_worktree

Outcome = Literal["passed", "failed", "error", "skipped"]
_OLD, _NEW = BOTH["a.txt"]
WITH_A_VALUE = {"a.txt": (_OLD, f"{_NEW}\n# 7")}


class Tries:
    """Answers that only the input of a test is treated otherwise; obeys `TriesBeside`."""

    def __init__(self, outcomes: Mapping[str, Outcome] | None = None, *, again: bool = False) -> None:
        """Args:
        outcomes: of tests that ran for it; none: they are not told.
        again: whether they passed once more.
        """
        self._again = again
        self._cases = tuple(TestCase(id=test, outcome=end) for test, end in (outcomes or {}).items())
        self.asked: list[BesideParams] = []

    def beside(self, params: BesideParams) -> Beside | None:
        self.asked.append(params)
        mutants = (Mutant(artifact="a.txt", line=1, change="without `a`", is_noticed=True),)
        return Beside(
            calls=calls("new") if params.lines else (),
            against=calls("old") if params.against else None,
            mutants=mutants,
            report=TestReport(cases=self._cases),
            again=self._again,
        )


def calls(changed: str) -> tuple[BesideCall, ...]:
    return tuple(
        BesideCall(
            test="a.txt::a",
            artifact="a.txt",
            symbol="f",
            own="0",
            given=str(number),
            outcome="same" if number else changed,
            is_value=True,
        )
        for number in range(9)
    )


def repaired(
    folder: Path,
    tries: Tries | None,
    options: Options | None = None,
    change: Mapping[str, tuple[str, str]] = WITH_A_VALUE,
) -> RepairScene:
    scene = RepairScene(
        make_worktree(folder),
        PATTERN,
        plan(WHOLE),
        diffs(change),
        options=options or Options(),
        tries=tries,
    )
    result = scene.run()
    assert result.success, result.error
    return scene


def test_a_proven_change_is_tried_beside_its_tests_against_the_code_without_it(tmp_path: Path) -> None:
    tries = Tries()

    scene = repaired(tmp_path, tries)

    [asked] = tries.asked
    assert (asked.timeout_s, asked.max_mutants) == (20, 8)
    assert asked.lines == asked.mistakes_in == {"a.txt": ((1, 1), (4, 5))}
    before = asked.against
    assert before is not None
    assert before.lines == {"a.txt": ((1, 1), (4, 4))}
    assert asked.calls_of == before.tests == ("a.txt::a", "a.txt::d")
    assert before.files == {"a.txt": b"a = bad\nb = good\nc = good\nd = bad\n"}
    proof = scene.work.notes.proof
    assert proof is not None
    assert proof.is_proven
    assert [warning[:42] for warning in proof.warnings] == ["The change treats the inputs of a.txt::a o"]


def test_a_change_that_writes_no_value_knows_no_input_and_is_tried_with_mistakes_alone(
    tmp_path: Path,
) -> None:
    tries = Tries()

    proof = repaired(tmp_path, tries, change=BOTH).work.notes.proof

    [asked] = tries.asked
    assert (asked.lines, asked.mistakes_in, asked.against) == ({}, {"a.txt": ((1, 1), (4, 4))}, None)
    assert proof is not None
    assert (proof.is_proven, proof.warnings) == (True, ())


@pytest.mark.parametrize(
    ("outcomes", "last"),
    [
        ({}, TARGETS),
        ({"a.txt::a": "passed", "a.txt::d": "passed", "a.txt::b": "failed"}, ()),
        ({"a.txt::a": "passed", "a.txt::d": "failed"}, TARGETS),
        ({"a.txt::a": "passed"}, TARGETS),
    ],
    ids=["not told", "all passed", "one failed", "one is missing"],
)
def test_a_run_that_trying_took_is_one_of_the_further_runs_where_all_passed_in_it(
    tmp_path: Path, outcomes: Mapping[str, Outcome], last: tuple[str, ...]
) -> None:
    scene = repaired(tmp_path, Tries(outcomes))

    proof = scene.work.notes.proof
    assert proof is not None
    assert scene.checks.runs[-1] == last
    assert {each.id: each.reruns for each in proof.tests if each.id in TARGETS} == dict.fromkeys(
        TARGETS, ("passed",)
    )


def test_where_all_passed_once_more_without_a_mistake_that_is_a_further_run_as_well(tmp_path: Path) -> None:
    scene = repaired(tmp_path, Tries(dict.fromkeys(TARGETS, "passed"), again=True))

    proof = scene.work.notes.proof
    assert proof is not None
    assert {each.id: each.reruns for each in proof.tests if each.id in TARGETS} == dict.fromkeys(
        TARGETS, ("passed", "passed")
    )


@pytest.mark.parametrize(("seconds", "count"), [("0", 0), ("7", 1)])
def test_the_configuration_says_how_long_it_is_tried_and_0_is_not_at_all(
    tmp_path: Path, seconds: str, count: int
) -> None:
    tries = Tries()
    options = parse_options(f"[codegen.gates]\nheld_back_s = {seconds}\n", source="a.toml")

    scene = repaired(tmp_path, tries, options)

    assert [params.timeout_s for params in tries.asked] == [float(seconds)] * count
    proof = scene.work.notes.proof
    assert proof is not None
    assert bool(proof.warnings) is bool(count)


def test_no_run_takes_longer_than_what_is_left_and_none_begins_after_it(tmp_path: Path) -> None:
    def times(name: str, seconds: float) -> list[float]:
        """Where so long was spent since the proof was made."""
        (tmp_path / name).mkdir()
        tries, scenes = Tries(), list[RepairScene]()
        scene = RepairScene(
            make_worktree(tmp_path / name),
            PATTERN,
            plan(WHOLE),
            diffs(WITH_A_VALUE),
            options=parse_options("[codegen.gates]\nheld_back_s = 600\n", source="a.toml"),
            tries=tries,
            now=lambda: seconds if scenes and scenes[0].work.notes.proof else 0.0,
        )
        scenes.append(scene)
        assert scene.run().success
        return [params.timeout_s for params in tries.asked]

    left_s = Limits().lint_timeout_s
    assert times("short", 0.0) == [left_s]
    assert times("long", 50.0) == [left_s - 50]
    assert times("longer", left_s) == []


def test_where_nobody_can_try_it_the_proof_stands_alone(tmp_path: Path) -> None:
    proof = repaired(tmp_path, None).work.notes.proof

    assert proof is not None
    assert (proof.is_proven, proof.warnings) == (True, ())


def test_what_failed_in_the_last_run_guards_nothing() -> None:
    seen: dict[str, Outcome] = {
        "t.py::a": "passed",
        "t.py::b": "failed",
        "t.py::c[1]": "passed",
        "t.py::c[2]": "failed",
        "t.py::d[1]": "passed",
    }
    steady = [
        ProvenTest(id=test, base="passed", head=end, verdict="pass_to_pass") for test, end in seen.items()
    ]
    flaky = ProvenTest(id="t.py::e", base="passed", head="passed", reruns=("failed",), verdict="flaky")
    tree = Tree(commit=CommitOid("0" * 40), tree="1" * 40)
    proof = Proof(base=tree, head=tree, commands=(), tests=(*steady, flaky))

    assert [*passing([*seen, "t.py::c", "t.py::d", "t.py::e", "t.py::f"], proof)] == [
        "t.py::a", "t.py::c[1]", "t.py::d[1]", "t.py::d",
    ]  # fmt: skip
    assert [*passing(["t.py::a"], None)] == []
