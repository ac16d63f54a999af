"""What a run remembers of the last look at its item, and the line that tells a sweep."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.pipeline.facts import Facts
from cogworks.pipeline.noticing import OID_DIGITS, noticed, read_seen, seen_line
from cogworks.pipeline.people import InputLabel, Inputs, SeenPull
from cogworks.vocabulary import CommitOid, IssueNumber
from tests.pipeline.runs import MERGED_SPEC, facts, finished, new_run, pull

HEAD = CommitOid("a" * 40)
PULLS = st.builds(
    SeenPull,
    number=st.integers(1, 10**9).map(IssueNumber),
    state=st.sampled_from(["open", "closed", "merged"]),
    head_oid=st.text("0123456789abcdef", min_size=OID_DIGITS, max_size=OID_DIGITS).map(CommitOid),
    is_approved=st.booleans(),
)
INPUTS = st.builds(
    Inputs,
    last_comment_id=st.integers(0, 2**40),
    last_label_event_id=st.from_regex(r"[A-Za-z0-9_=+/-]{0,40}", fullmatch=True),
    labels=st.lists(st.sampled_from(get_args(InputLabel)), unique=True).map(tuple),
    reviews=st.lists(st.integers(1, 2**40), max_size=4).map(tuple),
    pulls=st.lists(PULLS, max_size=4).map(tuple),
)


@given(INPUTS)
def test_the_line_is_read_back_as_it_was_written(inputs: Inputs) -> None:
    line = seen_line(inputs)

    assert "\n" not in line
    assert read_seen(line) == inputs


@given(st.text())
def test_whatever_else_stands_there_counts_as_never_seen(text: str) -> None:
    assert seen_line(read_seen(text)) == "" or "=" in text


def test_a_run_remembers_how_its_own_pull_requests_and_labels_looked() -> None:
    state = finished(new_run(), "spec")
    now = facts(pull(31, approved_by="ann"), pull(99, "closed")).model_copy(
        update={"input_labels": ("hold",)}
    )

    seen = noticed(state, now).inputs

    assert seen.pulls == (SeenPull(number=IssueNumber(31), state="open", head_oid=HEAD, is_approved=True),)
    assert seen_line(seen) == "labels=hold pulls=31:open+:aaaaaaaaaaaa"


@pytest.mark.parametrize("now", [facts(pull(31)), facts()], ids=["the-same", "not-shown-this-time"])
def test_a_look_that_sees_nothing_new_changes_nothing(now: Facts) -> None:
    state = noticed(finished(new_run(), "spec"), facts(pull(31)))

    assert noticed(state, now) is state


def test_an_approval_of_a_merged_pull_request_is_no_news() -> None:
    approved: Any = MERGED_SPEC.model_copy(update={"approved_by": "ann"})

    assert not noticed(finished(new_run(), "spec"), facts(approved)).inputs.pulls[0].is_approved
