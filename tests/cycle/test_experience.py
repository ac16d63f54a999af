"""A log tells which decisions helped; what nobody judged, and what this version cannot follow, it does not tell."""

from collections.abc import Mapping, Sequence

import pytest

from cogworks.cycle.events import Event, Proposed
from cogworks.cycle.experience import MAX_OBSERVATIONS, environment_of, observations_in, youngest
from cogworks.cycle.results import Action, ActionResult
from tests.cycle.remembered import FRESH, remembered
from tests.cycle.scripted import (
    DONE,
    FOUND,
    LONG_REPAIR,
    NONE_VALID,
    committed,
    cycle,
    header,
    proposed,
    ran,
    recorded,
    rolled_back,
)

Script = Mapping[Action, Sequence[ActionResult]]


def told(events: Sequence[Event]) -> list[tuple[int, str, float]]:
    found = observations_in(events, source="41/visits/0007-code@57", age_days=3)
    assert {(each.source, each.age_days) for each in found} <= {("41/visits/0007-code@57", 3)}
    return [(each.cycle, each.pattern, each.worth) for each in found]


def test_a_decision_helped_when_a_change_was_kept_before_the_next_of_its_kind() -> None:
    assert told(recorded(LONG_REPAIR)) == [
        (2, "ANALYZE_FAILURE:tests_fail", 1.0),
        (3, "GENERATE_PATCH:landmark", 1.0),
        (4, "APPLY_PATCH", 0.0),
        (5, "APPLY_PATCH", 1.0),
        (7, "ANALYZE_FAILURE:tests_fail", 1.0),
        (8, "GENERATE_PATCH:landmark", 0.0),
        (9, "GENERATE_PATCH:none_valid", 1.0),
        (10, "APPLY_PATCH", 1.0),
    ]


def test_a_change_that_was_taken_back_helped_half() -> None:
    script: Script = {
        Action.RUN_TESTS: (ran("t.py::a", tree="t0"), ran("t.py::b", newly=("t.py::b",)), ran(tree="t2")),
        Action.ANALYZE_FAILURE: (FOUND,),
        Action.GENERATE_PATCH: (proposed("1"), proposed("2")),
        Action.APPLY_PATCH: (committed("t1"), committed("t2")),
        Action.REVERT_PATCH: (DONE.model_copy(update={"tree": "t0"}),),
    }

    worths = [worth for _, _, worth in told(recorded(script, task={}))]

    assert worths == [0.5, 0.5, 0.5, 1.0, 1.0, 1.0]


def test_tests_that_were_sent_back_helped_nothing() -> None:
    script: Script = {
        Action.RUN_TESTS: (ran(tree="t0"),),
        Action.WRITE_TESTS: (NONE_VALID, NONE_VALID),
    }

    found = told(recorded(script, task={"writes_tests": True, "wants_change": True}))

    assert found == [(2, "WRITE_TESTS:tests_first", 0.0), (3, "WRITE_TESTS:refused", 0.0)]


def test_what_a_person_stopped_before_it_was_tried_is_not_judged() -> None:
    script = {**LONG_REPAIR, Action.APPLY_PATCH: (rolled_back("1"),)}
    run = cycle(script)
    for _ in range(3):
        run.run_cycle()
    run.force(Action.ABORT, "hold")
    run.run_until_done()

    assert told(run.events) == []


def test_the_situation_is_the_one_in_which_it_was_decided() -> None:
    found = observations_in(recorded(LONG_REPAIR), source="", age_days=0)
    [second_apply] = [each for each in found if each.cycle == 5]

    assert second_apply.situation == FRESH.model_copy(
        update={
            "attempts": 1,
            "test_file": "t.py",
            "signature": second_apply.situation.signature,
        }
    )
    assert len(second_apply.situation.signature) == 8


@pytest.mark.parametrize("length", range(0, len(recorded(LONG_REPAIR)), 7))
def test_a_log_that_breaks_off_tells_no_more_than_the_whole_one(length: int) -> None:
    whole = {(number, pattern) for number, pattern, _ in told(recorded(LONG_REPAIR))}

    assert {(number, pattern) for number, pattern, _ in told(recorded(LONG_REPAIR)[:length])} <= whole


def test_a_plan_that_this_version_would_not_make_ends_what_is_told() -> None:
    """Of a long payload only the hash is in the log; where the plan of today gives another, the log is of another version."""
    log = list(recorded(LONG_REPAIR))
    strange = [at for at, event in enumerate(log) if isinstance(event.body, Proposed) and event.cycle >= 4]
    for at in strange:
        body = log[at].body.model_copy(update={"payload": None})
        log[at] = log[at].model_copy(update={"body": body})
    same = told(log)
    for at, event in enumerate(log):
        if event.kind == "CGW_COMMIT" and event.cycle >= 4:
            log[at] = event.model_copy(
                update={"body": event.body.model_copy(update={"payload_hash": "0" * 64})}
            )

    assert same == told(recorded(LONG_REPAIR))
    assert told(log) == []


def test_the_environment_is_conventions_and_words_of_questions() -> None:
    one = header()
    others = [
        one.model_copy(update={"config_digest": "1" * 64}),
        one.model_copy(update={"prompt_digests": {"implementation": "2" * 64}}),
    ]

    assert environment_of(one) == environment_of(one.model_copy(update={"item": "octo-org/adder#8"}))
    assert len({environment_of(each) for each in (one, *others)}) == 3


def test_the_youngest_are_kept_whatever_the_order_of_reading() -> None:
    many = [remembered("APPLY_PATCH", 1, age_days=n % 40, cycle=n) for n in range(1, 100)]

    kept = youngest(many)

    assert len(kept) == MAX_OBSERVATIONS
    assert kept == youngest(many[::-1])
    assert max(each.age_days for each in kept) <= min(each.age_days for each in many if each not in kept)
