"""A visit of twelve turns, killed at its requests: no turn that is recorded is paid for again, and the words stay the same."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from random import Random

import pytest

from tests.chaos.crashes import CrashPoint, crash_points, recovery
from tests.chaos.long_talk import TURNS, LongTalk
from tests.exhaustive import IS_EXHAUSTIVE

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]

SAMPLED = 6
SEED = int(os.environ.get("COGWORKS_TESTS_SEED") or datetime.now(UTC).toordinal())


def undisturbed(talk: LongTalk) -> list[str]:
    talk.played.back_to(talk.step)
    talk.asked()
    assert talk.played.process()["outcome"] == "succeeded"
    return talk.asked()


def test_the_visit_has_twelve_turns(talk: LongTalk) -> None:
    asked = undisturbed(talk)

    assert (len(asked), len({*asked})) == (TURNS, TURNS) == (12, 12)


def test_whoever_takes_over_a_long_talk_pays_no_recorded_turn_again_and_says_the_same(talk: LongTalk) -> None:
    words = undisturbed(talk)
    points = [*crash_points(talk.step)]
    chosen = points if IS_EXHAUSTIVE else Random(SEED).sample(points, min(SAMPLED, len(points)))

    wrong = [line for point in chosen for line in (*recovery(talk.played, point), *_paid(point, words, talk))]
    assert wrong == [], f"seed {SEED}"


def _paid(point: CrashPoint, words: Sequence[str], talk: LongTalk) -> Iterator[str]:
    """What is wrong with what two runners asked together."""
    # Where the visit is recorded already, whoever comes next asks the review.
    times = Counter(asked for asked in talk.asked() if "You review a change" not in asked)
    if {*times} != {*words}:
        yield f"{point}: {len({*times} - {*words})} other questions were asked, {len({*words} - {*times})} were not"
    # The reply that came in as the runner died is in no ledger.
    if times.total() > TURNS + 1:
        yield f"{point}: {times.total() - TURNS} turns were paid twice"


def test_what_whoever_wrote_the_tests_looked_at_counts_for_whoever_writes_the_code(talk: LongTalk) -> None:
    undisturbed(talk)

    # The first reader has looked at nothing yet, and goes on to read these.
    for_tests, for_code = ({each["path"]: each["reasons"] for each in view} for view in talk.views())
    looked = {"README.md", "src/hourglass/parsing.py", "src/hourglass/__init__.py"}
    assert {path for path in for_tests if "looked at before" in for_tests[path]} == set()
    assert {path for path in for_code if "looked at before" in for_code[path]} >= looked
