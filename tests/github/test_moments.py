"""A snapshot turned back: later labels, comments, merges and reviews are undone, earlier ones stay."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.errors import UsageError
from cogworks.forge.addresses import IssueAddress
from cogworks.forge.facts import Account, Comment, LabelEvent, Ledger, PullRequest, Review
from cogworks.forge.snapshot import Snapshot
from cogworks.github.documents import Answer
from cogworks.github.moments import PastItem, PullTimes, When, as_of, parse_past_item, parse_when
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Login
from tests.world import ANN, World

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HEAD = CommitOid("a" * 40)
ADDRESS = IssueAddress("https://github.com", "octo-org", "adder", IssueNumber(7))


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def pull(state: str) -> PullRequest:
    review = Review(author=Account(login=Login("ann"), id=7), state="approved", oid=HEAD, can_push=True)
    return PullRequest.model_validate(
        {
            "node_id": "P_2",
            "number": 2,
            "title": "Spec",
            "body": "",
            "url": "",
            "head": BranchName("cogworks/7/spec"),
            "base": BranchName("main"),
            "head_oid": HEAD,
            "base_oid": HEAD,
            "state": state,
            "merged_by": ANN if state == "merged" else None,
            "reviews": (review,),
        }
    )


def snapshot(*, pulls: tuple[PullRequest, ...] = (), **issue: object) -> Snapshot:
    now = World().snapshot()
    return now.model_copy(
        update={"server_date": at(60), "pulls": pulls, "issue": now.issue.model_copy(update=issue)}
    )


def moment(minutes: int, *, pulls: dict[str, PullTimes] | None = None, closed: int | None = None) -> PastItem:
    ledger = Ledger(oid=HEAD, message="m", committed_date=at(minutes), state_text="{}", history=())
    closed_at = None if closed is None else at(closed)
    return PastItem(at=at(minutes), ledger=ledger, issue_closed_at=closed_at, pulls=pulls or {})


TIMES = PullTimes(created_at=at(10), merged_at=at(30), closed_at=at(30), reviews={("ann", HEAD): at(20)})


@pytest.mark.parametrize(
    ("minutes", "wanted"),
    [
        (5, None),
        (10, ("open", False, 0)),
        (20, ("open", False, 1)),
        (29, ("open", False, 1)),
        (30, ("merged", True, 1)),
    ],
)
def test_a_pull_request_goes_back_to_what_it_was(minutes: int, wanted: tuple[str, bool, int] | None) -> None:
    then = as_of(snapshot(pulls=(pull("merged"),)), moment(minutes, pulls={"P_2": TIMES}))

    found = [(p.state, p.merged_by is not None, len(p.reviews)) for p in then.pulls]
    assert found == ([] if wanted is None else [wanted])


def test_a_closed_pull_request_was_open_before_and_one_without_dates_stays() -> None:
    closed = TIMES.model_copy(update={"merged_at": None})

    assert (
        as_of(snapshot(pulls=(pull("closed"),)), moment(15, pulls={"P_2": closed})).pulls[0].state == "open"
    )
    assert as_of(snapshot(pulls=(pull("closed"),)), moment(15)).pulls[0].state == "closed"


@pytest.mark.parametrize(
    ("state", "closed", "minutes", "wanted"),
    [
        ("open", None, 5, "open"),
        ("closed", 10, 5, "open"),
        ("closed", 10, 10, "closed"),
        ("closed", None, 5, "closed"),
    ],
)
def test_an_issue_closed_later_was_open(state: str, closed: int | None, minutes: int, wanted: str) -> None:
    assert as_of(snapshot(state=state), moment(minutes, closed=closed)).issue.state == wanted


def test_later_comments_and_label_events_are_gone() -> None:
    comment = Comment(
        node_id="C",
        database_id=1,
        author=ANN,
        body="",
        created_at=at(10),
        edited=False,
        viewer_did_author=False,
    )
    now = snapshot(comments=(comment,))

    assert as_of(now, moment(9)).issue.comments == ()
    assert as_of(now, moment(10)).issue.comments == (comment,)


CHANGES = st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=12)


@given(changes=CHANGES, cut=st.integers(0, 12))
def test_labels_are_those_of_any_earlier_moment(changes: list[tuple[str, bool]], cut: int) -> None:
    labels: set[str] = set()
    history = [frozenset(labels)]
    events = []
    for minute, (name, added) in enumerate(changes, start=1):
        if (name in labels) is not added:
            (labels.add if added else labels.discard)(name)
            events.append(
                LabelEvent(id=str(minute), label=name, added=added, actor=ANN, created_at=at(minute))
            )
        history.append(frozenset(labels))
    cut = min(cut, len(changes))

    then = as_of(snapshot(labels=tuple(sorted(labels)), label_events=tuple(events)), moment(cut))

    assert frozenset(then.issue.labels) == history[cut]
    assert len(then.issue.labels) == len(history[cut])
    assert all(event.created_at <= at(cut) for event in then.issue.label_events)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0123abc", When(oid="0123abc")),
        ("A" * 40, When(oid="a" * 40)),
        ("2026-05-01T12:00:00Z", When(time=NOON)),
        ("2026-05-01T14:00:00+02:00", When(time=NOON)),
        ("2026-05-01 12:00", When(time=NOON)),
    ],
)
def test_a_moment_is_a_commit_or_a_time(text: str, wanted: When) -> None:
    assert parse_when(text) == wanted


@given(st.text(max_size=12))
def test_anything_else_is_refused_in_our_words(text: str) -> None:
    said = "names no moment"
    try:
        parse_when(text)
    except UsageError as error:
        said = str(error)

    assert "names no moment" in said


def test_an_answer_without_the_ledger_is_refused() -> None:
    empty = Answer({"repository": {"at": None, "issue": None}, "nodes": []}, (), NOON)

    with pytest.raises(UsageError, match="no commit"):
        parse_past_item(empty, ADDRESS, When(oid="0123abc"), server_date=NOON)
    with pytest.raises(UsageError, match="had no ledger at"):
        parse_past_item(empty, ADDRESS, When(time=NOON), server_date=NOON)
