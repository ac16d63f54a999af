"""The whole item under kills at random and losses between its steps: it ends as if nothing had happened."""

from random import Random

import pytest
from github import Github

from cogworks.demo.facts import FULL_NAME, ISSUE_NUMBER, TRIGGER
from tests.chaos.portrait import Portrait, differences
from tests.chaos.timeline import LEASE_IS_OLD_S, MAX_STEPS, Theatre
from tests.exhaustive import IS_EXHAUSTIVE, SEED

SEEDS = range(20) if IS_EXHAUSTIVE else range(SEED, SEED + 2)
MOST_REQUESTS = 14
KILL_SHARE = 0.4


def run_with_kills(theatre: Theatre, chance: Random) -> int:
    """Play the item from its beginning; how many steps were killed."""
    theatre.back_to(theatre.steps[0])
    killed = in_a_row = 0
    for _ in range(MAX_STEPS):
        # A third death of one visit fails its node on purpose.
        if in_a_row < 2 and chance.random() < KILL_SHARE:
            moment = chance.choice(["hold_before", "hold_after"])
            if theatre.crash_at({"kind": moment, "nth": chance.randint(1, MOST_REQUESTS)}):
                killed += 1
                in_a_row += 1
                theatre.admin.advance(LEASE_IS_OLD_S)
                if chance.random() < 0.3:
                    theatre.wipe()
                continue
        in_a_row = 0
        report = theatre.process()
        assert report["exit_code"] == 0, report
        if report["outcome"] == "done":
            return killed
        theatre.act(report)
    raise AssertionError(f"the item was not done after {MAX_STEPS} steps")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", SEEDS)
def test_an_item_killed_at_random_ends_as_if_nothing_had_happened(done: Theatre, seed: int) -> None:
    killed = run_with_kills(done, Random(seed))

    assert killed > 0
    assert differences(done.steps[-1].after, done.portrait()) == []


def delete_labels(api: Github) -> None:
    """Every label that the repository has, but the one with which a person asks for the work."""
    for label in api.get_repo(FULL_NAME).get_labels():
        if label.name != TRIGGER:
            label.delete()


def without_labels_of_others(found: Portrait) -> Portrait:
    """The portrait without labels that are set once, when a sub-issue is made, and are nobody's view afterwards."""
    issues = {
        number: issue if number == ISSUE_NUMBER else {**issue, "labels": None}
        for number, issue in found["issues"].items()
    }
    return {**found, "issues": issues, "labels": None}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_item_whose_labels_and_local_files_vanish_between_all_steps_ends_the_same(done: Theatre) -> None:
    done.back_to(done.steps[0])
    for _ in range(MAX_STEPS):
        report = done.process()
        assert report["exit_code"] == 0, report
        if report["outcome"] == "done":
            break
        done.act(report)
        delete_labels(done.person._api)
        done.wipe()

    expected, found = (
        without_labels_of_others(done.steps[-1].after),
        without_labels_of_others(done.portrait()),
    )
    assert differences(expected, found) == []
