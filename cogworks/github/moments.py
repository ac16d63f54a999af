"""A work item as it was at an earlier moment: the ledger of that time, and what people had done by then."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cogworks.errors import UsageError
from cogworks.forge.addresses import IssueAddress
from cogworks.forge.facts import FailedCheck, Issue, Ledger, LedgerCommit, PullRequest, ReviewText
from cogworks.forge.snapshot import Snapshot
from cogworks.forge.unmergeable import Failing
from cogworks.github.documents import Answer, as_error, document
from cogworks.github.failed_checks import read_failed_checks
from cogworks.github.permissions import People
from cogworks.github.reading import Queries, SnapshotReader
from cogworks.ledger.record import ledger_branch
from cogworks.unexpected import expecting
from cogworks.vocabulary import CommitOid, Login, Value

_OID = re.compile(r"[0-9a-f]{7,40}")
_AT_FORMS = (
    "a commit of the ledger (7 to 40 hex digits, see `cogworks log`) or a time like 2026-01-31T12:00:00Z"
)


class When(Value):
    """Which earlier moment is meant: after a commit, or at a time."""

    oid: str = ""
    """7 to 40 hex digits; empty for a time."""
    time: datetime | None = None

    def __str__(self) -> str:
        return self.oid or (self.time.isoformat() if self.time else "")


class PullTimes(Value):
    """When things happened to a pull request."""

    created_at: datetime
    merged_at: datetime | None
    closed_at: datetime | None
    reviews: Mapping[tuple[str, str], datetime]
    """Reviewer and reviewed commit -> when."""


class PastItem(Value):
    """What one read returns about an earlier moment."""

    at: datetime
    """GitHub's clock."""
    ledger: Ledger
    issue_closed_at: datetime | None
    pulls: Mapping[str, PullTimes]
    """By node id."""


def parse_when(text: str) -> When:
    """What `--at` names.

    Raises:
        UsageError: neither a commit nor a time.
    """
    text = text.strip()
    if _OID.fullmatch(text.lower()):
        return When(oid=text.lower())
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"`--at {text}` names no moment. Give {_AT_FORMS}.") from None
    return When(time=time if time.tzinfo else time.replace(tzinfo=UTC))


class ItemReader:
    """Reads one work item, now and as it was."""

    def __init__(
        self, client: Queries, address: IssueAddress, *, reader: SnapshotReader, people: People
    ) -> None:
        self._client = client
        self._address = address
        self._reader = reader
        self._people = people

    def read(self) -> Snapshot:
        """The work item as it is now: as `SnapshotReader.read`."""
        return self._reader.read(self._address)

    def permissions(self, snapshot: Snapshot, people: Sequence[Login]) -> Mapping[Login, str]:
        """What each of them may do in the repository; one request."""
        return self._people.permissions(snapshot, people)

    def review_texts(self, snapshot: Snapshot, reviews: Sequence[str]) -> Mapping[str, ReviewText]:
        """As `SnapshotReader.review_texts`."""
        return self._reader.review_texts(snapshot, reviews)

    def failed_checks(self, snapshot: Snapshot, failing: Failing) -> tuple[FailedCheck, ...]:
        """As `read_failed_checks`, without logs: a mere look needs none."""
        return read_failed_checks(self._client, snapshot, failing, lambda _: "")

    def complete(self, snapshot: Snapshot, recorded: Sequence[str]) -> Snapshot:
        """As `SnapshotReader.complete`."""
        return self._reader.complete(snapshot, recorded)

    def at(self, snapshot: Snapshot, when: When) -> Snapshot:
        """The work item as it was; one request.

        Args:
            snapshot: the item now; what GitHub does not date (configuration, heads of branches) stays as it is in it.

        Raises:
            UsageError: there was no ledger then, or the commit is not one of it.
        """
        answer = self._client.query(
            document("moment"),
            {
                **start_of(self._address, when),
                "pulls": [pull.node_id for pull in snapshot.pulls],
            },
        )
        with expecting("repository.at"):
            moment = parse_past_item(answer, self._address, when, server_date=snapshot.server_date)
        return as_of(snapshot, moment)


def start_of(address: IssueAddress, when: When | None) -> dict[str, Any]:
    """Variables that say from which commit of the ledger a history is read, and until when."""
    branch = f"refs/heads/{ledger_branch(address.number)}"
    return {
        "owner": address.owner,
        "name": address.name,
        "number": address.number,
        "at": when.oid if when and when.oid else branch,
        "until": when.time.isoformat() if when and when.time else None,
    }


def parse_past_item(answer: Answer, address: IssueAddress, when: When, *, server_date: datetime) -> PastItem:
    """The moment in an answer to `moment`.

    Raises:
        UsageError: there was no ledger then, or the commit is not one of it.
        CogworksError: an error beside the data, as the fitting kind.
    """
    for problem in answer.errors:
        if problem.type != "NOT_FOUND":
            raise as_error(problem, doing=f"read {address.url} as it was at {when}")
    repository = answer.data.get("repository") or {}
    target = repository.get("at") or {}
    newest = next(iter((target.get("newest") or {}).get("nodes") or ()), None)
    if newest is None:
        raise no_ledger_then(address, when)
    blob = (newest.get("file") or {}).get("object") or {}
    history = tuple(_commit(node) for node in target["history"]["nodes"])
    tip = _commit(newest)
    return PastItem(
        at=tip.committed_date if when.time is None else min(when.time, server_date),
        ledger=Ledger(
            oid=tip.oid,
            message=tip.message,
            committed_date=tip.committed_date,
            state_text=None if blob.get("isTruncated") else blob.get("text"),
            history=history,
        ),
        issue_closed_at=(repository.get("issue") or {}).get("closedAt"),
        pulls={node["id"]: _times(node) for node in answer.data.get("nodes") or () if node},
    )


def no_ledger_then(address: IssueAddress, when: When) -> UsageError:
    """The refusal for a moment at which the ledger did not exist, or for a commit that is not on it."""
    if when.oid:
        return UsageError(
            f"{address.url}: there is no commit {when.oid!r} on the item's ledger; `cogworks log {address.url}` lists them."
        )
    return UsageError(
        f"{address.url}: the item had no ledger at {when}; `cogworks log {address.url}` shows when it began."
    )


def as_of(snapshot: Snapshot, moment: PastItem) -> Snapshot:
    """The snapshot as one read at that moment would have found it, as far as GitHub dates things."""
    pulls = (_pull_as_of(pull, moment) for pull in snapshot.pulls)
    return snapshot.model_copy(
        update={
            "server_date": moment.at,
            "issue": _issue_as_of(snapshot.issue, moment),
            "ledger": moment.ledger,
            "pulls": tuple(pull for pull in pulls if pull is not None),
        }
    )


def _issue_as_of(issue: Issue, moment: PastItem) -> Issue:
    labels = list(issue.labels)
    for event in reversed(issue.label_events):
        if event.created_at <= moment.at:
            continue
        # What was put on later was not there; what was taken off later still was.
        labels = [name for name in labels if name != event.label]
        if not event.added:
            labels.append(event.label)
    closed_at = moment.issue_closed_at
    was_open = issue.state == "open" or (closed_at is not None and closed_at > moment.at)
    return issue.model_copy(
        update={
            "state": "open" if was_open else "closed",
            "labels": tuple(labels),
            "comments": tuple(c for c in issue.comments if c.created_at <= moment.at),
            "label_events": tuple(e for e in issue.label_events if e.created_at <= moment.at),
        }
    )


def _pull_as_of(pull: PullRequest, moment: PastItem) -> PullRequest | None:
    times = moment.pulls.get(pull.node_id)
    if times is None:
        return pull
    if times.created_at > moment.at:
        return None
    ended_at = times.merged_at or times.closed_at
    is_reopened = pull.state != "open" and ended_at is not None and ended_at > moment.at
    early = {key for key, submitted_at in times.reviews.items() if submitted_at <= moment.at}
    return pull.model_copy(
        update={
            "state": "open" if is_reopened else pull.state,
            "merged_by": None if is_reopened else pull.merged_by,
            "reviews": tuple(
                review
                for review in pull.reviews
                if (review.author.login if review.author else "", review.oid or "") in early
            ),
        }
    )


def _commit(node: Mapping[str, Any]) -> LedgerCommit:
    return LedgerCommit(
        oid=CommitOid(node["oid"]), message=node["message"], committed_date=node["committedDate"]
    )


def _times(node: Mapping[str, Any]) -> PullTimes:
    reviews = (node.get("latestOpinionatedReviews") or {}).get("nodes") or ()
    return PullTimes(
        created_at=node["createdAt"],
        merged_at=node["mergedAt"],
        closed_at=node["closedAt"],
        reviews={
            (
                (review.get("author") or {}).get("login", ""),
                (review.get("commit") or {}).get("oid", ""),
            ): review["submittedAt"]
            for review in reviews
            if review.get("submittedAt")
        },
    )
