import json

import pytest

from cogworks.domain_services.messages import TestReport
from cogworks.errors import BudgetReached, InvalidReply
from cogworks.repair.localise.localising import localise
from cogworks.repair.localise.slices import Slice
from cogworks.repair.planning import Caps, Situation, combined, fallback_landmarks, planned, shown
from tests.fixing import landmark, pattern, place, plan
from tests.repair.exploring import COVERAGE, FAILING, NODES, SHOP, TARGET, ScriptedExplorer
from tests.repair.scripted_model import Answers

FOUND = localise(FAILING, ScriptedExplorer({"shop.py": SHOP}, nodes=NODES, coverage=COVERAGE))
SITUATION = Situation(
    failing=FAILING,
    suspects=FOUND.suspects,
    slices=FOUND.slices,
    targets=(TARGET,),
    reasons=("an earlier diff broke test_count",),
)
HERE = place("shop.py", 1, 2)


def a_pattern(primary: dict[str, object]) -> str:
    return json.dumps({**json.loads(pattern()), "primary": primary, "alternatives": []})


def test_the_pattern_is_the_models_with_the_symbol_at_its_place() -> None:
    model = Answers(a_pattern(HERE))

    found = combined(SITUATION, model, purpose="fix-combine-1")

    assert (found.pattern.primary_location.symbol, found.problems) == ("shop.total", ())
    template, purpose, shown = model.asked[0]
    assert (template, purpose) == ("combine", "fix-combine-1")
    for text in (
        "assert total([1]) == 1",
        "2     return sum(prices) - 1",
        "an earlier diff broke test_count",
    ):
        assert text in shown


def test_cases_of_one_failing_test_that_differ_only_in_values_are_shown_in_part() -> None:
    said = "t.py:3: in test_a\n    assert f({0})\nE   assert {0} == 1"
    cases = [
        {"id": f"t.py::test_a[{number}]", "outcome": "failed", "message": said.format(number)}
        for number in range(12)
    ]
    failing = TestReport.model_validate({"cases": cases})

    told = SITUATION.model_copy(update={"failing": failing}).failures()

    assert [each["test"] for each in told] == ["t.py::test_a[0]", "t.py::test_a[1]", "t.py::test_a[2]"]
    assert told[0]["text"].startswith("12 cases of t.py::test_a fail in the same place")
    assert "The others: [3], [4]" in told[0]["text"]
    assert told[1]["text"] == said.format(1)


def test_the_parts_of_one_file_of_tests_stand_below_each_other_and_say_where_lines_are_left_out() -> None:
    parts = (
        Slice(artifact="a_test.go", lines=(9, 9), text="cases = 1\n"),
        Slice(artifact="a_test.go", lines=(11, 12), text="more = 2\nlast = 3\n"),
        Slice(artifact="b_test.go", lines=(1, 1), text="other = 4\n"),
    )

    told = SITUATION.model_copy(update={"tests": parts}).sources()

    assert told == [
        {"path": "a_test.go", "first": 9, "text": "9 cases = 1\n…\n11 more = 2\n12 last = 3\n"},
        {"path": "b_test.go", "first": 1, "text": "1 other = 4\n"},
    ]


def test_suspects_are_told_in_their_order_and_without_a_figure_that_would_only_look_exact() -> None:
    told = shown(SITUATION)["suspects"]

    assert len(told) == len(SITUATION.suspects) > 1
    for line, each in zip(told, SITUATION.suspects, strict=True):
        assert line == f"shop.py:{each.symbol.lines[0]}-{each.symbol.lines[1]} {each.symbol.id}"


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (place("shop.py", 90, 91), "was not shown; look at it first"),
        (place("shop.py", 2, 1), "ends before it begins"),
    ],
)
def test_a_place_nobody_has_seen_is_sent_back_once_with_the_problem(
    bad: dict[str, object], problem: str
) -> None:
    model = Answers(a_pattern(bad), a_pattern(HERE))

    found = combined(SITUATION, model, purpose="c")

    assert found.pattern.primary_location.lines == (1, 2)
    assert [purpose for _, purpose, _ in model.asked] == ["c", "c-again"]
    assert problem in model.asked[1][2]


@pytest.mark.parametrize(
    "answers",
    [(a_pattern(place("other.py", 1, 1)),) * 2, (InvalidReply("no JSON"),)],
    ids=["unseen twice", "no reply fits"],
)
def test_without_a_usable_answer_the_first_suspect_is_the_pattern(
    answers: tuple[str | Exception, ...],
) -> None:
    found = combined(SITUATION, Answers(*answers), purpose="c")

    assert found.pattern.primary_location.symbol == "shop.total"
    assert 0 < found.pattern.confidence < 1
    assert found.problems


def test_a_used_up_budget_is_not_mended_by_a_fallback() -> None:
    with pytest.raises(BudgetReached):
        combined(SITUATION, Answers(BudgetReached("enough")), purpose="c")


def test_landmarks_come_in_an_order_that_works() -> None:
    before = combined(SITUATION, Answers(a_pattern(HERE)), purpose="c").pattern
    second = landmark("second", HERE, after=["first"], test=TARGET)
    model = Answers(plan(second, landmark("first", HERE, allow_api=["shop.total"])))

    found = planned(SITUATION, before, model, caps=Caps(), purpose="l")

    assert [each.id for each in found.landmarks] == ["first", "second"]
    assert found.landmarks[0].constraints == ("allow_api:shop.total",)
    assert found.landmarks[1].landmark_test == TARGET


def test_a_plan_is_asked_for_with_what_one_change_may_hold() -> None:
    before = combined(SITUATION, Answers(a_pattern(HERE)), purpose="c").pattern
    model = Answers(plan(landmark("first", HERE)))

    planned(SITUATION, before, model, caps=Caps(changed_lines=7, files=3), purpose="l")

    assert "Each changes at most 7 lines in at most 3 file(s)" in model.asked[0][2]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (plan(landmark("a", HERE, after=["b"]), landmark("b", HERE, after=["a"])), "wait for each other"),
        (plan(landmark("a", HERE, test="tests/t.py::gone")), "none of those that ran"),
        (plan(*(landmark(f"l{number}", HERE) for number in range(4))), "1 to 3 landmarks, not 4"),
        (plan(landmark("a", place("shop.py", 2, 1))), "ends before it begins"),
    ],
    ids=["circle", "unknown test", "too many", "backwards"],
)
def test_a_plan_that_cannot_be_carried_out_is_sent_back_once_and_then_dropped(bad: str, problem: str) -> None:
    before = combined(SITUATION, Answers(a_pattern(HERE)), purpose="c").pattern
    model = Answers(bad, bad)

    found = planned(SITUATION, before, model, caps=Caps(), purpose="l")

    assert found.landmarks == ()
    assert any(problem in each for each in found.problems)
    assert problem in model.asked[1][2]


def test_the_fallback_has_one_landmark_for_each_suspect() -> None:
    found = fallback_landmarks(FOUND.suspects)

    assert [(each.id, each.target_spans[0].symbol) for each in found] == [
        ("suspect-1", "shop.total"),
        ("suspect-2", "shop.count"),
    ]
