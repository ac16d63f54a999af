"""Which open work items can move, told from a repository's listing and the tips of their ledgers alone."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from cogworks.pipeline.state import LEASE_MARGIN_S, LEASE_TTL_S
from cogworks.settings import LabelConfig
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Value

NEWS_PER_ITEM = 20
_HEADLINE = re.compile(r"cogworks: (?P<node>\S+) (?P<verb>\S+)(?: \[skip ci\])?")
_LINE = re.compile(r"^(?P<name>Holder|Cogworks-Waits-For): (?P<value>.+)$", re.MULTILINE)
_READ_BEFORE_CLAIM = timedelta(seconds=5)
_WAITS_FOR = re.compile(r"(?P<kind>[a-z]+)(?: (?P<number>\d{1,10})?@(?P<oid>[0-9a-f]*))?")
_AT_WORK = frozenset({"claim", "checkpoint"})
_AFTER_A_READ = frozenset({"claim", "obeyed"})
"""What a step commits right after it read what people said."""


class News(Value):
    """Something that a person may have done on an issue."""

    at: datetime
    label: str = ""
    """The label that was put on or taken off; empty = a comment was posted."""


class Listed(Value):
    """An open issue that carries the trigger label."""

    number: IssueNumber
    title: str
    url: str
    updated_at: datetime
    labels: frozenset[str]
    milestone_number: int | None = None
    milestone_title: str = ""
    news: tuple[News, ...] = ()
    """The newest label events and comments, at most `NEWS_PER_ITEM`."""


class Tip(Value):
    """The newest commit of an item's ledger."""

    oid: CommitOid
    message: str
    committed_date: datetime
    """GitHub's clock."""
    claimed_date: datetime | None = None
    """When a step last read the item and claimed a visit; None = too long ago to be among the newest commits."""


class PullSeen(Value):
    """A pull request of the repository, as far as a sweep looks at it."""

    number: IssueNumber
    state: Literal["open", "closed", "merged"]
    head: BranchName
    head_oid: CommitOid
    updated_at: datetime
    is_approved: bool | None = None
    """A writer approved this very head and none asks for changes; None = reviews were not read."""


class Waited(Value):
    """What the ledger's newest commit says the item waits for."""

    kind: str
    number: IssueNumber | None = None
    oid: CommitOid = CommitOid("")
    """Of the pull request's head; of `budget`: the mark of its limits."""


class Movable(Value):
    """A step may do something."""

    reason: str


class Resting(Value):
    """A step would do nothing."""

    why: Literal["held", "leased", "waiting", "done", "unchanged"]
    reason: str


Verdict = Movable | Resting


class Seen(Value):
    """Everything one sweep learned."""

    server_date: datetime
    """GitHub's clock at the sweep's first answer; the next sweep reads pull requests down to it."""
    config_oid: str
    """The tree of `.cogworks` at the head of the default branch; empty where there is none."""
    labels: LabelConfig
    limits: str = ""
    """`limits_mark` of the configured budget."""
    items: tuple[Listed, ...]
    tips: Mapping[IssueNumber, Tip]
    pulls: Mapping[IssueNumber, PullSeen]

    def own_pulls(self, item: Listed) -> tuple[PullSeen, ...]:
        """The item's pull requests among those that were seen, by number."""
        prefix = f"cogworks/{item.number}/"
        return tuple(pull for _, pull in sorted(self.pulls.items()) if pull.head.startswith(prefix))


def waited_for(tip: Tip) -> Waited | None:
    """What the tip's trailer names; None where the item may go on by itself."""
    found = _LINE.findall(tip.message)
    text = next((value for name, value in reversed(found) if name == "Cogworks-Waits-For"), "")
    parsed = _WAITS_FOR.fullmatch(text.strip())
    if parsed is None:
        return None
    number = parsed["number"]
    return Waited(
        kind=parsed["kind"],
        number=IssueNumber(int(number)) if number else None,
        oid=CommitOid(parsed["oid"] or ""),
    )


def claimed_at(history: Iterable[tuple[str, datetime]]) -> datetime | None:
    """The date of the newest claim among a ledger's commits (message, date), newest first."""
    for message, date in history:
        headline = _HEADLINE.match(message)
        if headline and headline["verb"] in _AFTER_A_READ:
            return date
    return None


def in_milestone(item: Listed, wanted: str) -> bool:
    """Whether the item is in the milestone with this title or number; an empty wish is fulfilled by all."""
    return not wanted or wanted in (item.milestone_title, str(item.milestone_number))


def judge(item: Listed, seen: Seen) -> Verdict:
    """Whether a step could move the item.

    In doubt it can: a step that finds nothing to do costs one request, an item that is passed over stands still.
    """
    if seen.labels.hold in item.labels:
        return Resting(why="held", reason=f"label {seen.labels.hold!r} is set")
    tip = seen.tips.get(item.number)
    if tip is None:
        return Movable(reason="new")
    headline = _HEADLINE.match(tip.message)
    node, verb = (headline["node"], headline["verb"]) if headline else ("the last commit", "of its ledger")
    if verb in _AT_WORK:
        return _leased(tip, node, seen.server_date)
    waited = waited_for(tip)
    if verb == "done" or (waited is not None and waited.kind == "done"):
        return Resting(why="done", reason="every node is done")
    if waited is None:
        return Movable(reason=f"after {node} {verb}")
    return _spoken(item, tip, seen.labels) or _afforded(waited, seen) or _decided(item, tip, waited, seen)


def _leased(tip: Tip, node: str, server_date: datetime) -> Verdict:
    age_s = (server_date - tip.committed_date).total_seconds()
    left_s = LEASE_TTL_S + LEASE_MARGIN_S - age_s
    if left_s <= 0:
        return Movable(reason=f"the runner of {node} was last heard of {age_s:.0f} s ago")
    holder = next((value for name, value in _LINE.findall(tip.message) if name == "Holder"), "another runner")
    return Resting(
        why="leased", reason=f"{holder} works on {node} ({left_s:.0f} s until it may be taken over)"
    )


def _is_unseen(at: datetime, tip: Tip) -> bool:
    """Whether the step that wrote the tip read the item before this happened, as far as can be told."""
    return tip.claimed_date is None or at >= tip.claimed_date - _READ_BEFORE_CLAIM


def _spoken(item: Listed, tip: Tip, labels: LabelConfig) -> Verdict | None:
    inputs = {labels.trigger, labels.hold, labels.cancel, labels.restart, labels.safety_critical}
    fresh = [news for news in item.news if _is_unseen(news.at, tip)]
    for news in fresh:
        if news.label in inputs:
            return Movable(reason=f"label {news.label!r} was set or removed")
        if not news.label:
            return Movable(reason="somebody commented")
    if len(fresh) >= NEWS_PER_ITEM:
        return Movable(reason="more happened on the issue than was read")
    return None


def _afforded(waited: Waited, seen: Seen) -> Verdict | None:
    if waited.kind == "budget" and waited.oid != seen.limits:
        return Movable(reason="the budget was changed")
    return None


def _decided(item: Listed, tip: Tip, waited: Waited, seen: Seen) -> Verdict:
    for pull in seen.own_pulls(item):
        is_other = pull.number != waited.number
        if is_other and pull.state != "open" and _is_unseen(pull.updated_at, tip):
            return Movable(reason=f"pull request #{pull.number} was {pull.state}")
    if waited.number is None:
        return Resting(why="waiting", reason=_WORDS.get(waited.kind, f"waits for {waited.kind}"))
    known = seen.pulls.get(waited.number)
    if known is None:
        return Movable(reason=f"pull request #{waited.number} is not there any more")
    if waited.kind == "reopen":
        if known.state == "closed":
            return Resting(why="waiting", reason=f"waits until pull request #{known.number} is reopened")
        return Movable(reason=f"pull request #{known.number} is {known.state} again")
    if known.state != "open":
        return Movable(reason=f"pull request #{known.number} was {known.state}")
    if waited.oid and known.head_oid != waited.oid:
        return Movable(reason=f"pull request #{known.number} has new commits")
    if known.is_approved:
        return Movable(reason=f"pull request #{known.number} is approved")
    return Resting(why="waiting", reason=f"waits for pull request #{known.number} to be merged or approved")


_WORDS = {
    "approval": "waits for an approval",
    "retry": "a node failed; it waits to be retried",
    "label": "waits for a label",
    "resume": "waits until somebody says why it may go on",
    "cancelled": "was cancelled",
    "budget": "stopped at its budget",
}


def wants_pull(tip: Tip) -> IssueNumber | None:
    """The pull request whose reviews `judge` has to see, if any."""
    waited = waited_for(tip)
    return waited.number if waited else None


def is_down_to(pulls: Sequence[PullSeen], since: datetime | None) -> bool:
    """Whether a page of pull requests, newest first, reaches behind `since`; None = one page is enough."""
    return since is None or not pulls or pulls[-1].updated_at < since - timedelta(seconds=5)
