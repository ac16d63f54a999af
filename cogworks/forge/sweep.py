"""Which open work items can move, judged by a repository's listing and the tips of their ledgers alone."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from cogworks.forge.observe import present_inputs
from cogworks.pipeline.noticing import OID_DIGITS, read_seen
from cogworks.pipeline.people import BLOCKED, CONFIGURATION, PART, Inputs
from cogworks.pipeline.visits import LEASE_MARGIN_S, LEASE_TTL_S
from cogworks.settings.sections import LabelConfig
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Value

COMMENTS_PER_ITEM = 20
EVENTS_PER_ITEM = 50
_HEADLINE = re.compile(r"cogworks: (?P<node>\S+) (?P<verb>\S+)(?: \[skip ci\])?")
_LINE = re.compile(r"^(?P<name>Holder|Cogworks-Waits-For|Cogworks-Seen): (?P<value>.+)$", re.MULTILINE)
_WAITS_FOR = re.compile(r"(?P<kind>[a-z]+)(?: (?P<number>\d{1,10})?@(?P<oid>[0-9a-f]*))?")
_OTHER_ISSUES = (BLOCKED, PART)
_AT_WORK = frozenset({"claim", "checkpoint"})


class LabelChange(Value):
    """A label was put on an issue or taken off."""

    id: str
    label: str
    is_added: bool


class Listed(Value):
    """An open issue that carries the trigger label."""

    number: IssueNumber
    title: str
    url: str
    updated_at: datetime
    labels: frozenset[str]
    milestone_number: int | None = None
    milestone_title: str = ""
    label_changes: tuple[LabelChange, ...] = ()
    """The newest, oldest first, at most `EVENTS_PER_ITEM`."""
    comment_ids: tuple[int, ...] = ()
    """Of the newest comments that a person may have written, at most `COMMENTS_PER_ITEM`."""


class Tip(Value):
    """The newest commit of an item's ledger."""

    oid: CommitOid
    message: str
    committed_date: datetime
    """GitHub's clock."""


class PullSeen(Value):
    """A pull request of the repository, as far as a sweep looks at it."""

    number: IssueNumber
    state: Literal["open", "closed", "merged"]
    head: BranchName
    head_oid: CommitOid
    updated_at: datetime
    is_approved: bool | None = None
    """A writer approved this very head and none asks for changes; None = reviews were not read."""
    change_requests: tuple[int, ...] = ()
    """The reviews by writers that ask for changes, where reviews were read."""
    looks_failed: bool = False
    """GitHub sums its checks up as failed; ours and those still under way count as well there."""
    has_failed_checks: bool = False
    """All checks of the head have ended and some failed, where checks were read."""
    is_conflicting: bool = False
    """GitHub cannot merge it, where that was read and is known."""


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
    problem: str = ""
    """What is wrong with `config.toml`; what it says of labels is read as far as it can be, limits are not known."""
    spoken: frozenset[IssueNumber] = frozenset()
    """Items where somebody wrote a line to cogworks that no step dealt with."""

    def own_pulls(self, item: Listed) -> tuple[PullSeen, ...]:
        """The item's pull requests among those that were seen, by number."""
        prefix = f"cogworks/{item.number}/"
        return tuple(pull for _, pull in sorted(self.pulls.items()) if pull.head.startswith(prefix))


def waited_for(tip: Tip) -> tuple[Waited, ...]:
    """What the tip's trailer names; empty where the item may go on by itself."""
    matches = [_WAITS_FOR.fullmatch(part.strip()) for part in _trailer(tip, "Cogworks-Waits-For").split(";")]
    return tuple(
        Waited(
            kind=parsed["kind"],
            number=IssueNumber(int(parsed["number"])) if parsed["number"] else None,
            oid=CommitOid(parsed["oid"] or ""),
        )
        for parsed in matches
        if parsed is not None
    )


def seen_by(tip: Tip) -> Inputs:
    """What the step that wrote the tip had seen of people's doings."""
    return read_seen(_trailer(tip, "Cogworks-Seen"))


def unread(item: Listed, tip: Tip) -> int:
    """How many of the newest comments no step has looked at."""
    last = seen_by(tip).last_comment_id
    return sum(1 for number in item.comment_ids if number > last)


def _trailer(tip: Tip, name: str) -> str:
    values = (value for each, value in reversed(_LINE.findall(tip.message)) if each == name)
    return next(values, "").strip()


def in_milestone(item: Listed, milestone: str) -> bool:
    """Whether the item is in the milestone with this title or number; an empty wish is fulfilled by all."""
    return not milestone or milestone in (item.milestone_title, str(item.milestone_number))


def judge(item: Listed, seen: Seen) -> Verdict:
    """Whether a step could move the item.

    In doubt it can: a step that finds nothing to do costs one request, an item that is passed over stands still.
    """
    tip = seen.tips.get(item.number)
    if tip is None:
        if seen.labels.hold in item.labels:
            return Resting(why="held", reason=f"label {seen.labels.hold!r} is set")
        return Movable(reason="new")
    if requested := _requested_move(item, tip, seen):
        return requested
    headline = _HEADLINE.match(tip.message)
    node, verb = (headline["node"], headline["verb"]) if headline else ("the last commit", "of its ledger")
    if verb in _AT_WORK:
        return _leased(tip, node, seen.server_date)
    waited = waited_for(tip)
    if not waited and verb != "done":
        return Movable(reason=f"after {node} {verb}")
    others = _other_issues(waited, seen)
    return (
        _pull_news(tip, seen)
        or _afforded(waited, seen)
        or _mended(waited, seen)
        or others
        or _decided(waited, seen)
    )


def has_begun(item: Listed, seen: Seen) -> bool:
    """Whether a node of the item was ever claimed, as far as the newest commit of its ledger says."""
    tip = seen.tips.get(item.number)
    return tip is not None and all(wait.kind not in (CONFIGURATION, BLOCKED) for wait in waited_for(tip))


def _leased(tip: Tip, node: str, server_date: datetime) -> Verdict:
    age_s = (server_date - tip.committed_date).total_seconds()
    left_s = LEASE_TTL_S + LEASE_MARGIN_S - age_s
    if left_s <= 0:
        return Movable(reason=f"the runner of {node} last renewed its lease {age_s:.0f} s ago")
    holder = next((value for name, value in _LINE.findall(tip.message) if name == "Holder"), "another runner")
    return Resting(
        why="leased", reason=f"{holder} works on {node} ({left_s:.0f} s until it may be taken over)"
    )


def _requested_move(item: Listed, tip: Tip, seen: Seen) -> Movable | None:
    """Something that people asked for since the step which wrote the tip."""
    if item.number in seen.spoken:
        return Movable(reason="somebody wrote to cogworks")
    if unread(item, tip) >= COMMENTS_PER_ITEM:
        return Movable(reason="more comments were written than were read")
    if label := _changed_label(item, seen_by(tip), seen.labels):
        return Movable(reason=f"label {label!r} was set or removed")
    return None


def _pull_news(tip: Tip, seen: Seen) -> Movable | None:
    """Something that became of a pull request since the step which wrote the tip."""
    before = seen_by(tip)
    dealt_with = set(before.reviews or ())
    known_heads = _known_heads(before)
    known_conflicts = _known_conflicts(before)
    for pull in before.pulls:
        now = seen.pulls.get(pull.number)
        if now is None:
            continue
        if now.state != pull.state:
            return Movable(reason=f"pull request #{now.number} {_BECAME[now.state]}")
        if now.head_oid[:OID_DIGITS] != pull.head_oid[:OID_DIGITS]:
            return Movable(reason=f"pull request #{now.number} has new commits")
        if now.is_approved is not None and now.is_approved != pull.is_approved:
            word = "approved" if now.is_approved else "no longer approved"
            return Movable(reason=f"pull request #{now.number} is {word}")
        if now.state == "open" and now.has_failed_checks and _head(now) not in known_heads:
            return Movable(reason=f"checks of pull request #{now.number} failed")
        if now.state == "open" and now.is_conflicting and _head(now) not in known_conflicts:
            return Movable(reason=f"pull request #{now.number} conflicts with the branch that it goes to")
        if now.state == "open" and not set(now.change_requests) <= dealt_with:
            return Movable(reason=f"somebody asked for changes of pull request #{now.number}")
    return None


def _afforded(waited: Sequence[Waited], seen: Seen) -> Movable | None:
    if seen.limits and any(wait.kind == "budget" and wait.oid != seen.limits for wait in waited):
        return Movable(reason="the budget was changed")
    return None


def _mended(waited: Sequence[Waited], seen: Seen) -> Movable | None:
    """Whether `.cogworks` is another one than that which kept the item from beginning."""
    if any(wait.kind == CONFIGURATION and wait.oid != seen.config_oid for wait in waited):
        return Movable(reason="the configuration was changed")
    return None


def awaited_issues(waited: Sequence[Waited], seen: Seen) -> tuple[IssueNumber, ...]:
    """Of the other issues that an item waits for, those that a sweep sees: they are open and carry the trigger label."""
    awaited = {wait.number for wait in waited if wait.kind in _OTHER_ISSUES}
    return tuple(item.number for item in seen.items if item.number in awaited)


def _other_issues(waited: Sequence[Waited], seen: Seen) -> Verdict | None:
    kinds = {wait.kind for wait in waited}.intersection(_OTHER_ISSUES)
    if not kinds:
        return None
    left = ", ".join(f"#{number}" for number in awaited_issues(waited, seen))
    if BLOCKED in kinds:
        return (
            Resting(why="waiting", reason=f"waits for {left}")
            if left
            else Movable(reason="nothing seems to block it any more")
        )
    if left:
        return Resting(why="waiting", reason=f"was divided; waits for {left}")
    return Movable(reason="none of the issues that it was divided into is worked on any more")


def _changed_label(item: Listed, before: Inputs, labels: LabelConfig) -> str:
    """An input label that was set, set again or removed since; empty when there is none."""
    names = {
        "hold": labels.hold,
        "cancel": labels.cancel,
        "restart": labels.restart,
        "safety_critical": labels.safety_critical,
    }
    now = present_inputs(item.labels, labels)
    if differing := sorted({*now} ^ {*before.labels}):
        return names[differing[0]]
    inputs = {labels.trigger, *names.values()} & item.labels
    # A change that is no longer among them is older than all of them.
    ids = [change.id for change in item.label_changes]
    start = ids.index(before.last_label_event_id) + 1 if before.last_label_event_id in ids else 0
    fresh = [c.label for c in item.label_changes[start:] if c.is_added and c.label in inputs]
    return fresh[-1] if fresh else ""


def _decided(waited: Sequence[Waited], seen: Seen) -> Verdict:
    reasons = []
    for wait in waited:
        if wait.kind == "done":
            return Resting(why="done", reason="every node is done")
        known = seen.pulls.get(wait.number) if wait.number is not None else None
        if wait.number is None:
            reasons.append(_WORDS.get(wait.kind, f"waits for {wait.kind}"))
        elif known is None:
            return Movable(reason=f"pull request #{wait.number} is not there any more")
        elif wait.kind == "reopen":
            reasons.append(f"waits until pull request #{known.number} is reopened")
        elif wait.kind == "review":
            reasons.append(f"waits for pull request #{known.number} to be approved")
        else:
            reasons.append(f"waits for pull request #{known.number} to be merged or approved")
    if not reasons:
        return Resting(why="done", reason="every node is done")
    why: Literal["held", "waiting"] = "held" if waited[0].kind in ("label", "resume") else "waiting"
    return Resting(why=why, reason="; ".join(reasons))


_BECAME = {"open": "is open again", "closed": "was closed", "merged": "was merged"}
_WORDS = {
    "approval": "waits for an approval",
    "retry": "a node failed or reached its limit; it waits for a retry",
    "label": "waits until a label is removed",
    "resume": "waits until somebody says why it may go on",
    "cancelled": "was cancelled",
    "budget": "stopped at its budget",
    CONFIGURATION: "waits until its configuration is fixed",
}


def wants_pulls(tip: Tip, pulls: Mapping[IssueNumber, PullSeen]) -> tuple[IssueNumber, ...]:
    """The pull requests whose reviews and checks `judge` has to see: those that the item waits for, and of its open ones those that
    changed since and those whose checks look failed, which changes nothing else of them.

    Args:
        pulls: what the sweep has seen, without reviews.
    """
    before = seen_by(tip)
    known_heads = _known_heads(before)
    waited = [
        wait.number for wait in waited_for(tip) if wait.number is not None and wait.kind not in _OTHER_ISSUES
    ]
    changed = [
        known.number
        for known in before.pulls
        if (now := pulls.get(known.number))
        and now.state == "open"
        and (now.updated_at >= tip.committed_date or (now.looks_failed and _head(now) not in known_heads))
    ]
    return tuple(dict.fromkeys([*waited, *changed]))


def wants_mergeable(tip: Tip, pulls: Mapping[IssueNumber, PullSeen]) -> tuple[IssueNumber, ...]:
    """The open pull requests of an item of which `judge` has to see whether GitHub can merge them: nothing else of them changes
    when the branch moves that they go to.

    Args:
        pulls: as for `wants_pulls`, which reads this of its own.
    """
    before, read = seen_by(tip), wants_pulls(tip, pulls)
    known = _known_conflicts(before)
    return tuple(
        each.number
        for each in before.pulls
        if each.state == "open"
        and each.number not in read
        and ((now := pulls.get(each.number)) is None or (now.state == "open" and _head(now) not in known))
    )


def _known_conflicts(before: Inputs) -> frozenset[tuple[IssueNumber, str]]:
    """The heads whose conflicts were dealt with."""
    return frozenset((head.number, head.oid[:OID_DIGITS]) for head in before.conflicts)


def _known_heads(before: Inputs) -> frozenset[tuple[IssueNumber, str]]:
    """The heads whose failed checks were dealt with."""
    return frozenset((head.number, head.oid[:OID_DIGITS]) for head in before.failed_heads)


def _head(pull: PullSeen) -> tuple[IssueNumber, str]:
    return pull.number, pull.head_oid[:OID_DIGITS]


def is_down_to(pulls: Sequence[PullSeen], since: datetime | None) -> bool:
    """Whether a page of pull requests, newest first, reaches behind `since`; None = one page is enough."""
    return since is None or not pulls or pulls[-1].updated_at < since - timedelta(seconds=5)
