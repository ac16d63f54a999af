"""Where a repository asks for it, a model looks once whether the tests assert what is wanted, before they are handed over."""

from collections.abc import Mapping
from typing import Any

import pytest

from cogworks.codegen.prompt import objections
from cogworks.cycle.eventlog import read_events
from cogworks.cycle.events import Header
from cogworks.cycle.replay import verify
from cogworks.nodes.code_generation import run
from cogworks.nodes.contract import Failed, Succeeded
from cogworks.nodes.replies import JudgedTests, TestVerdict, WrittenTests
from cogworks.nodes.task import Conventions, NodeTask
from cogworks.settings.config import parse_config
from tests.codegen.test_test_writing import CUSTOM, TEXT, implemented, traced, world, written
from tests.fakes import FakePorts
from tests.nodes.examples import task
from tests.world import CONFIG

JUDGED = Conventions(test_judge=True)
NOBODY_ASKED = "asserts what neither specification nor acceptance criteria ask for"
BETTER = f"{TEXT}# Asserts something now.\n"


def verdict(*, holds: bool, **changes: Any) -> TestVerdict:
    fields: Mapping[str, Any] = {
        "file": CUSTOM,
        "test": "test_sum",
        "demand": "add(2, 2) is 4",
        "holds": holds,
        "explanation": "" if holds else "It asserts nothing; compare add(2, 2) with 4.",
    }
    return TestVerdict.model_validate({**fields, **changes})


GOOD = JudgedTests(verdicts=(verdict(holds=True),))
BAD = JudgedTests(verdicts=(verdict(holds=False),))


def the_task(**changes: Any) -> NodeTask:
    return task("code_generation", sub_item="A", **{"conventions": JUDGED, **changes})


def played(place: FakePorts, **changes: Any) -> Succeeded:
    outcome = run(the_task(**changes), place)
    assert isinstance(outcome, Succeeded), outcome.reason
    return outcome


def test_it_is_off_unless_the_repository_asks_for_it() -> None:
    assert parse_config(CONFIG).tests.semantic_check is False
    assert parse_config(f"{CONFIG}[tests]\nsemantic_check = true\n").tests.semantic_check is True


def test_tests_that_assert_what_is_wanted_are_handed_over_for_one_question_more() -> None:
    place = world(written(), GOOD, implemented())

    played(place)

    assert place.model.purposes == ["write_tests-A-1", "judge_tests-A-1", "implementation-A-1"]
    asked = place.model.asked[1]
    assert TEXT in asked
    assert "add(2, 2) is 4" in asked
    assert "def add(a, b)" not in asked


def test_what_is_found_goes_back_to_the_writer_once_and_is_judged_no_second_time() -> None:
    place = world(written(), BAD, written(text=BETTER), implemented())

    outcome = played(place)

    assert place.model.purposes == [
        "write_tests-A-1",
        "judge_tests-A-1",
        "write_tests-A-2",
        "implementation-A-1",
    ]
    assert (
        f"{CUSTOM}: test_sum does not assert what is wanted (add(2, 2) is 4): It asserts nothing; compare add(2, 2) with 4."
        in place.model.asked[2]
    )
    assert [kind for kind, _ in traced(place)] == ["test_meaning", "test_handoff"]
    assert outcome.output["test_handoff"]["attempt"] == 2
    # Nothing of the first answer was committed.
    assert [tree.get(CUSTOM) for _, tree in place.copy.commits] == [BETTER, BETTER]


def test_the_last_answer_is_judged_by_what_can_be_measured_alone() -> None:
    place = world(written(test_path="tests/lost.py", extra_paths=(CUSTOM,)), written(), implemented())

    played(place)

    assert place.model.purposes == ["write_tests-A-1", "write_tests-A-2", "implementation-A-1"]


def test_tests_that_cannot_be_measured_are_never_judged() -> None:
    empty = WrittenTests(test_path=CUSTOM, files=())

    outcome = run(the_task(), world(empty, empty))

    assert isinstance(outcome, Failed)


def test_the_answer_is_in_the_ledger_before_anything_follows_from_it() -> None:
    place = world(written(), GOOD, implemented())
    without = world(written(), implemented())

    played(place)
    played(without, conventions=Conventions())

    assert len(place.saved) == len(without.saved) + 1


def test_the_log_names_the_words_of_the_question_and_decides_itself_again() -> None:
    place = world(written(), BAD, written(text=BETTER), implemented())
    played(place)

    log = read_events(place.kept["events-1.ndjson"])

    assert isinstance(log[0].body, Header)
    assert set(log[0].body.prompt_digests) == {
        "write_tests",
        "judge_tests",
        "implementation",
        "decide_dispute",
    }
    assert verify(log).divergence is None


@pytest.mark.parametrize(
    ("reply", "problems"),
    [
        (GOOD, ()),
        (
            JudgedTests(verdicts=(verdict(holds=False, demand="", explanation=""),)),
            (f"{CUSTOM}: test_sum {NOBODY_ASKED}: no reason was given",),
        ),
        (JudgedTests(verdicts=(verdict(holds=False, file="tests/test_adding.py"),)), ()),
        (
            JudgedTests(verdicts=(verdict(holds=True),), untested=("add(-1, 1) is 0",)),
            ("no test asserts this acceptance criterion: add(-1, 1) is 0",),
        ),
    ],
    ids=["holds", "nobody-asked", "of-somebody-else", "untested"],
)
def test_what_the_writer_is_told(reply: JudgedTests, problems: tuple[str, ...]) -> None:
    assert objections(reply, [CUSTOM]) == problems
