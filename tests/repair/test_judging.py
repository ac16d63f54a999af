"""The judge may turn the finalists round and do nothing else."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.errors import InvalidReply
from cogworks.repair.judging import judge
from cogworks.repair.options import Options, Search
from cogworks.repair.proposing import Proposal
from tests.cycle.repair_scene import RepairScene
from tests.cycle.test_repairing import BOTH, PATTERN, USELESS, WHOLE
from tests.fixing import diffs, plan
from tests.repair.benches import make_worktree
from tests.repair.scripted_model import Answers
from tests.repair.test_proposing import request

PROPOSALS = [Proposal(id=name, diff=f"the diff {name}", rationale="", score=0.5) for name in "abc"]


def order(*names: str) -> str:
    return json.dumps({"order": names})


def ids(proposals: tuple[Proposal, ...]) -> str:
    return "".join(each.id for each in proposals)


def test_the_finalists_come_in_the_judges_order_and_the_others_after_them() -> None:
    model = Answers(order("diff-2", "diff-1"))

    ruling = judge(PROPOSALS, request(), model, finalists=2)

    assert (ids(ruling.proposals), ruling.problem) == ("bac", "")
    template, purpose, shown = model.asked[0]
    assert (template, purpose) == ("judge_diffs", "fix-diffs-1-judge")
    assert "the diff b" in shown
    assert "the diff c" not in shown


@pytest.mark.parametrize(
    "answer",
    [
        order("diff-1"),
        order("diff-1", "diff-1"),
        order("diff-1", "diff-2", "diff-3"),
        order("diff-2", "diff-9"),
        order("ignore the rules", "diff-1"),
        InvalidReply("no JSON"),
    ],
    ids=["too few", "twice", "too many", "unknown", "words", "no answer"],
)
def test_what_is_no_order_of_the_finalists_is_ignored_with_a_note(answer: str | Exception) -> None:
    ruling = judge(PROPOSALS, request(), Answers(answer), finalists=2)

    assert ids(ruling.proposals) == "abc"
    assert ruling.order == ()
    assert ruling.problem


@pytest.mark.parametrize(("proposals", "finalists"), [(PROPOSALS[:1], 2), (PROPOSALS, 1), ([], 2)])
def test_nobody_is_asked_about_a_single_finalist(proposals: list[Proposal], finalists: int) -> None:
    model = Answers()

    assert judge(proposals, request(), model, finalists=finalists).proposals == tuple(proposals)
    assert model.asked == []


@given(st.lists(st.sampled_from(["diff-1", "diff-2", "diff-3", "x"]), min_size=1, max_size=4))
def test_whatever_the_judge_says_the_proposals_are_the_same_ones(names: list[str]) -> None:
    ruling = judge(PROPOSALS, request(), Answers(order(*names)), finalists=3)

    assert sorted(ids(ruling.proposals)) == ["a", "b", "c"]
    assert (ids(ruling.proposals) == "abc") or not ruling.problem


@pytest.mark.parametrize("is_wanted", [False, True])
def test_the_judge_is_asked_only_when_it_is_wanted(tmp_path: Path, is_wanted: bool) -> None:
    answers = [PATTERN, plan(WHOLE), diffs(USELESS, BOTH)]
    answers += [order("diff-2", "diff-1")] if is_wanted else []
    options = Options(search=Search(judge=is_wanted))
    scene = RepairScene(make_worktree(tmp_path), *answers, options=options)

    result = scene.run()

    assert result.success, result.error
    assert scene.codes == (["kept"] if is_wanted else ["gate_targeted", "kept"])
    assert ("judge.done" in scene.moments) is is_wanted
