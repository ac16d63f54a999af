"""A disputed test goes back to its writer once, then a third question decides, and only then a person is asked."""

from typing import Any

import pytest

from cogworks.cycle.monitor import verify_seriality
from cogworks.cycle.replay import verify
from cogworks.errors import ApprovalNeeded
from cogworks.nodes.code_generation import run
from cogworks.nodes.replies import DecidedDispute, DisputedTest, ProposedFile, WrittenTests
from cogworks.pipeline.gates import KEEP_TEST
from tests.codegen.test_test_writing import CUSTOM, FIX, implemented, log, played, the_task, world
from tests.fakes import FakePorts
from tests.nodes.examples import CLASSIFICATION, output

TEXT = "def test_sum(): ...\n\n\ndef test_other(): ...\n"
BETTER = "def test_sum():\n    pass\n\n\ndef test_other(): ...\n"
DISPUTED = implemented(
    FIX, test_dispute=DisputedTest(test_id=f"{CUSTOM}::test_sum", reason="R1 says that add(2, 2) is 4.")
)
STANDS_BY = WrittenTests(test_path=CUSTOM, files=(), confirmed="R2 asks for it.")


def decided(verdict: str) -> DecidedDispute:
    return DecidedDispute.model_validate({"verdict": verdict, "sentence": "R1", "reason": "R2 is older."})


def whole(text: str = TEXT, action: str = "create") -> WrittenTests:
    file = ProposedFile.model_validate({"path": CUSTOM, "action": action, "content": text})
    return WrittenTests(test_path=CUSTOM, files=(file,))


def asked(place: FakePorts) -> ApprovalNeeded:
    with pytest.raises(ApprovalNeeded) as caught:
        run(the_task(), place)
    return caught.value


def test_a_writer_who_agrees_corrects_that_test_and_the_coder_gets_the_new_ones() -> None:
    place = world(whole(), DISPUTED, whole(BETTER, "modify"), implemented())

    outcome = played(place)

    assert outcome.output["tests"]["added"] == [f"{CUSTOM}::test_other", f"{CUSTOM}::test_sum"]
    assert place.copy.tree[CUSTOM] == BETTER
    _, _, writer, coder = place.model.asked
    assert "R1 says that add(2, 2) is 4." in writer
    assert "    pass" in coder
    assert "R1 says" not in coder


def test_a_test_that_nobody_disputes_stays() -> None:
    without = whole("def test_sum():\n    pass\n", "modify")
    place = world(whole(), DISPUTED, without, whole(BETTER, "modify"), implemented())

    played(place)

    assert f"{CUSTOM}::test_other was handed over and nobody disputes it" in place.model.asked[3]
    assert place.copy.tree[CUSTOM] == BETTER


def test_where_both_insist_a_third_question_decides_with_the_specification_at_hand() -> None:
    place = world(whole(), DISPUTED, STANDS_BY, decided("test_stands"), implemented())

    played(place)

    _, _, _, decider, coder = place.model.asked
    for told in ("R1 says that add(2, 2) is 4.", "R2 asks for it.", TEXT, "specification"):
        assert told in decider
    assert "R2 is older. (R1)" in coder
    assert place.copy.tree[CUSTOM] == TEXT
    assert place.model.purposes[3] == "decide_dispute-A-1"


def test_a_writer_whom_the_decision_goes_against_corrects_the_test() -> None:
    place = world(
        whole(), DISPUTED, STANDS_BY, decided("test_is_wrong"), whole(BETTER, "modify"), implemented()
    )

    played(place)

    assert "decided that the test is wrong" in place.model.asked[4]
    assert place.copy.tree[CUSTOM] == BETTER


@pytest.mark.parametrize(
    "answers",
    [
        [STANDS_BY, decided("undecided")],
        [STANDS_BY, decided("test_is_wrong"), STANDS_BY],
        [STANDS_BY, decided("test_stands"), DISPUTED],
    ],
    ids=["undecided", "writer-insists", "coder-insists"],
)
def test_then_a_person_is_asked_and_the_item_waits_until_it_is_told_that_the_test_stays(
    answers: list[Any],
) -> None:
    question = asked(world(whole(), DISPUTED, *answers))
    place = world(whole(), DISPUTED, *answers, implemented())
    approved = the_task().model_copy(update={"approved_calls": (question.call_hash,)})

    assert (question.tool, question.outcome) == (KEEP_TEST, "waiting")
    assert "R1 says that add(2, 2) is 4." in question.shown
    assert asked(world(whole(), DISPUTED, *answers)).call_hash == question.call_hash

    run(approved, place)
    assert "A person looked at it and decided that it is right." in place.model.asked[-1]
    assert place.copy.tree[CUSTOM] == TEXT


@pytest.mark.parametrize(
    ("safety", "verdict", "is_ambiguous"),
    [(True, "undecided", True), (False, "undecided", False), (True, "test_is_wrong", False)],
)
def test_a_specification_of_two_readings_is_ambiguous_where_a_mistake_could_harm(
    safety: bool, verdict: str, is_ambiguous: bool
) -> None:
    answers = [STANDS_BY, decided(verdict), *([STANDS_BY] if verdict == "test_is_wrong" else [])]
    classified = {"classification": {**output(CLASSIFICATION), "safety_affecting": safety}}

    with pytest.raises(ApprovalNeeded) as raised:
        run(the_task(inputs=classified), world(whole(), DISPUTED, *answers))

    assert str(raised.value).startswith("SCOPE_AMBIGUOUS: A: the test ") == is_ambiguous
    assert (raised.value.code == "SCOPE_AMBIGUOUS") == is_ambiguous


@pytest.mark.parametrize(
    "answers",
    [
        [whole(BETTER, "modify"), implemented()],
        [STANDS_BY, decided("test_stands"), implemented()],
        [STANDS_BY, decided("test_is_wrong"), whole(BETTER, "modify"), implemented()],
    ],
    ids=["agreed", "stands", "overruled"],
)
def test_the_log_of_a_dispute_decides_itself_again(answers: list[Any]) -> None:
    place = world(whole(), DISPUTED, *answers)

    run(the_task(), place)

    replayed = verify(log(place))
    assert (replayed.divergence, replayed.is_complete) == (None, True)
    assert verify_seriality(log(place)) == ()
