"""An approval counts for so many hours from when GitHub says that it was written."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.pipeline.gates import lapsed

WRITTEN = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age", "valid_hours", "counts"),
    [
        (timedelta(0), 1, True),
        (timedelta(hours=1), 1, True),
        (timedelta(hours=1, seconds=1), 1, False),
        (timedelta(days=3650), 0, True),
        (timedelta(seconds=-5), 1, True),
    ],
    ids=["fresh", "exactly-the-limit", "a-second-later", "for-ever", "written-after-the-read"],
)
def test_how_long_an_approval_counts(age: timedelta, valid_hours: int, counts: bool) -> None:
    assert (lapsed(WRITTEN, now=WRITTEN + age, valid_hours=valid_hours) == "") is counts


def test_the_reason_says_when_it_was_written_and_which_key_decides() -> None:
    reason = lapsed(WRITTEN, now=WRITTEN + timedelta(days=8), valid_hours=168)

    assert reason == (
        "it was written at 2026-05-01 12:00 UTC and expired after 168 hour(s) (`approvals.valid_hours`)"
    )


@pytest.mark.parametrize(("written", "now"), [(None, WRITTEN), (WRITTEN, None)])
def test_an_age_that_nobody_knows_voids_nothing(written: datetime | None, now: datetime | None) -> None:
    assert lapsed(written, now=now, valid_hours=1) == ""


@given(st.timedeltas(timedelta(0), timedelta(days=400)), st.timedeltas(timedelta(0)), st.integers(1, 9000))
def test_what_has_lapsed_stays_lapsed(age: timedelta, later: timedelta, valid_hours: int) -> None:
    later = min(later, timedelta(days=10_000))
    before = lapsed(WRITTEN, now=WRITTEN + age, valid_hours=valid_hours)
    after = lapsed(WRITTEN, now=WRITTEN + age + later, valid_hours=valid_hours)

    assert bool(after) >= bool(before)
