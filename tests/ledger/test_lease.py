from datetime import UTC, datetime, timedelta

from cogworks.ledger.lease import lease_ages_s
from cogworks.ledger.record import change_for
from tests.pipeline.runs import finished, lease, new_run

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def message_of(name: str) -> tuple[str, str]:
    """Visit key and commit message of a lease on a node's next visit."""
    state = finished(new_run(), "spec", "plan")
    held = lease(state, name)
    return held.visit_key, change_for(state, held, "checkpoint", {}, sequence=1).message


def test_a_lease_is_as_old_as_the_newest_commit_of_its_visit() -> None:
    state = finished(new_run(), "spec", "plan")
    key, message = message_of("code@A")
    _, other = message_of("code@B")
    history = [
        (other, NOW - timedelta(seconds=5)),
        (message, NOW - timedelta(seconds=70)),
        (message, NOW - timedelta(seconds=130)),
    ]

    assert lease_ages_s([lease(state, "code@A")], history, server_date=NOW) == {key: 70.0}


def test_a_lease_nobody_has_heard_of_within_the_history_has_no_age() -> None:
    state = finished(new_run(), "spec", "plan")
    _, other = message_of("code@B")

    assert lease_ages_s([lease(state, "code@A")], [(other, NOW)], server_date=NOW) == {}
    assert lease_ages_s([], [(other, NOW)], server_date=NOW) == {}


def test_a_commit_that_is_newer_than_the_answers_date_is_just_made() -> None:
    state = finished(new_run(), "spec", "plan")
    key, message = message_of("code@A")

    ages = lease_ages_s([lease(state, "code@A")], [(message, NOW + timedelta(seconds=2))], server_date=NOW)

    assert ages == {key: 0.0}
