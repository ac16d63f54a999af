"""What people should know beside where the run stands: notices, money, and what the status comment says when the ledger does not."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from cogworks.errors import SafetyHalt
from cogworks.forge.bodies import STATUS_TOPIC, parse_marker
from cogworks.forge.effects import PostComment
from cogworks.forge.facts import Comment
from cogworks.forge.snapshot import Snapshot
from cogworks.leaving import called, in_markdown, in_title
from cogworks.pipeline.expected import ShortOfARound, expected_here, short_of_a_round
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.lane_choice import LARGE_IS_FOR, SMALL_IS_FOR
from cogworks.pipeline.limits import budget_key, max_cost_usd, share_spent
from cogworks.pipeline.people import REPLY, Owed
from cogworks.pipeline.position import instance_name, is_request_changed
from cogworks.pipeline.spend import Expected, Spend, Sum, unconfirmed
from cogworks.pipeline.state import RunState

# How versions before 0.1 showed the revision, whose markers did not carry it: at the end, below all words of others.
_SENTENCE = re.compile(r"^Revision (\d+)\. State digest: `[0-9a-f]{64}`\n\n</details>\s*\Z", re.MULTILINE)


def notices(state: RunState, facts: Facts) -> list[str]:
    """Paragraphs of the status comment, none when there is nothing to say."""
    lines = []
    if state.run_number > 1:
        lines.append(f"- This is run {state.run_number} of the item. It uses nothing of the earlier runs.")
    is_doubted = any(doubt.sub_item is None for doubt in state.inputs.doubts)
    # The question about a stranger's text says there that it was edited.
    if is_request_changed(state, facts) and not is_doubted and state.status == "running":
        lines.append(
            "- The issue was edited after this run began. The run goes on, and asks before it makes a last pull request: "
            "`/cogworks resume <why>` keeps the result, `/cogworks restart` begins anew."
        )
    lines.extend(
        f"- {instance_name(left.instance)} was interrupted: {left.stopped_because}."
        for left in state.given_back
        if left.stopped_because
    )
    lines.extend(
        f"- Branch `{name}` has a commit that cogworks did not push. cogworks keeps it, judges it anew and "
        "builds on it."
        for name in facts.foreign_branches
    )
    lines.extend(
        f"- The label `{label.label}` does not count: {label.by} set it without write permission."
        for label in facts.ignored_labels
    )
    lines.extend(_lane(state, facts))
    if facts.is_locked:
        lines.append("- The issue is locked: only people with write permission can answer here.")
    return ["\n".join(lines)] if lines else []


def divided(state: RunState) -> list[str]:
    """The issues into which the item was divided, each with those that it waits for; none where it was not."""
    numbers = {part.key: f"#{part.number}" for part in state.parts}
    lines = []
    for part in state.parts:
        first = ", ".join(numbers[key] for key in part.depends_on)
        lines.append(f"- #{part.number}: {in_title(part.title)}{f' (after {first})' if first else ''}")
    return ["\n".join(["**Divided into:**", "", *lines])] if lines else []


def _lane(state: RunState, facts: Facts) -> Iterator[str]:
    """What became of the wish for the short way; nobody who did not ask for it reads of it."""
    if state.moved_up is not None:
        yield (
            f"- **Lane:** `default`, moved up from `small`: {in_markdown(in_title(state.moved_up.why))}. Intake "
            "still counts, and the next nodes get what the run learnt."
        )
        return
    if not facts.lane or (facts.lane == "default" and state.pipeline == "default"):
        return
    is_critical = facts.is_safety_critical or state.is_safety_critical
    if state.pipeline == "large":
        why = f", chosen by what Intake found: {LARGE_IS_FOR}" if facts.lane == "auto" else ""
        yield (
            f"- **Lane:** `large`{why}. The issue is divided into several issues, and each is worked on by "
            "itself."
        )
        return
    if facts.lane == "auto" and state.pipeline == "default":
        if state.kind:
            why = "the work is safety-critical" if is_critical else SMALL_IS_FOR
            yield f"- **Lane:** `default`, chosen by what Intake found: {why}."
        else:
            yield "- **Lane:** chosen when Intake is done."
        return
    if state.pipeline == "small":
        yield "- **Lane:** `small`: no specification and no plan, one pull request." + _criticality(
            state, is_critical=is_critical
        )
    elif is_critical and facts.lane == "small":
        yield "- **Lane:** `default`, although `small` was asked for: safety-critical work never takes `small`."
    elif state.status == "running":
        yield (
            f"- **Lane:** `{state.pipeline}`, because `{facts.lane}` was asked for after this run began; "
            f"`/cogworks restart` begins anew in `{facts.lane}`."
        )


def _criticality(state: RunState, *, is_critical: bool) -> str:
    if not is_critical:
        return ""
    if state.pull_requests or state.status != "running":
        return (
            " The item has become safety-critical since its pull request was opened: people decide on that. "
            "`/cogworks restart` begins anew in `default`."
        )
    return " The item has become safety-critical since: it moves to `default` when the node that has begun is done."


def owed_comment(owed: Owed, snapshot: Snapshot, state: RunState) -> PostComment:
    """A comment that is due, as it is posted.

    Its words come from the ledger, so anybody who may push there may have written them: they act nowhere, and call nobody but the author
    of the comment or the review that they answer.
    """
    reviews = [(each.database_id, each.author) for pull in snapshot.pulls for each in pull.reviews]
    authors = [(each.database_id, each.author) for each in snapshot.issue.comments] + reviews
    author = next((by for number, by in authors if owed.topic == f"{REPLY}{number}"), None)
    # Our own greeting may call its author; whatever else stands in the ledger is made harmless.
    greeting = f"{called(author.login)}: " if author else ""
    rest = owed.body.removeprefix(greeting)
    body = in_markdown(rest) if rest == owed.body else f"{greeting}{in_markdown(rest)}"
    return PostComment(number=state.issue, topic=owed.topic, body=body, visit_key=owed.visit_key)


def refuse_missing_ledger(snapshot: Snapshot) -> None:
    """Never take an item for a new one because its ledger is gone.

    Raises:
        SafetyHalt: there is no ledger, but a status comment of ours.
    """
    for comment in snapshot.issue.comments:
        # Begun anew, it would do everything a second time beside its own pull requests.
        if _is_our_status(comment):
            number = snapshot.issue.number
            raise SafetyHalt(
                f"{snapshot.issue.url} has a status comment ({comment.url or comment.node_id}), but its ledger is "
                f"gone: there is no branch `cogworks/ledger/{number}`. Nothing was written. Restore the branch from "
                f"a clone (`git push origin <oid>:refs/heads/cogworks/ledger/{number}`), or from "
                f"`refs/cogworks/archive/{number}` if `cogworks gc` moved it. Or delete that comment to begin anew."
            )


def refuse_foreign_ledger(snapshot: Snapshot, state: RunState) -> None:
    """Believe a ledger only about the item that it is the ledger of.

    Raises:
        SafetyHalt: it is another item's, or names as the item's own what GitHub says is not.
    """
    # By its node id, which a repository keeps when it is renamed.
    here = (snapshot.repository.node_id, snapshot.issue.number)
    problems = [*snapshot.strangers]
    if (state.repository_id, state.issue) != here:
        problems.append(
            f"it is of issue #{state.issue} in repository {state.repository_id}, not of #{here[1]} in {here[0]}"
        )
    if problems:
        branch = f"cogworks/ledger/{snapshot.issue.number}"
        listed = "\n".join(f"  - {each}" for each in problems)
        raise SafetyHalt(
            f"`state.json` on branch `{branch}` is not what cogworks wrote there. Nothing was "
            f"written.\n{listed}\nSee who wrote it (`git log {branch}`), and push the last commit before that "
            "again. Or delete the branch and the status comment to begin anew."
        )


def refuse_ledger_of_others(snapshot: Snapshot, writers: Sequence[str]) -> None:
    """Believe a ledger only if its newest commit was made by somebody named, by the host's own hand.

    Each of our commits is made on top of one that was looked at like this, so the newest one speaks for all.

    Args:
        writers: logins as people write them, an App's with `[bot]` or without; empty: nothing is compared.

    Raises:
        SafetyHalt: the commit is somebody else's, or was pushed, so that its author is only what the pusher wrote.
    """
    ledger = snapshot.ledger
    # The root that new ledgers begin at holds no state, so its author says nothing of this item.
    if not writers or ledger is None or ledger.oid == snapshot.root_oid:
        return
    known = {_bare(each) for each in writers}
    # A signature of the host says that its API made the commit; what is pushed names whomever it likes.
    if ledger.is_signed_by_host and _bare(ledger.author) in known:
        return
    author = f"`{ledger.author}`" if ledger.author else "an account that the host does not know"
    signature = "is signed by the host" if ledger.is_signed_by_host else "is not signed by the host"
    branch = f"cogworks/ledger/{snapshot.issue.number}"
    raise SafetyHalt(
        f"the newest commit of branch `{branch}`, {ledger.oid}, names {author} as its author and "
        f"{signature}. Nothing was written. `writers` under `[ledger]` wants a signed commit of "
        f"{' or '.join(f'`{each}`' for each in writers)}. See what the commit changed (`git show "
        f"{ledger.oid}`), and push the commit before it again. Or add its author to `writers` if it is a "
        "runner of yours. If your own server signs no commits, leave `writers` empty."
    )


def _bare(login: str) -> str:
    # Logins have no case, and an App is written with `[bot]` or without.
    return login.casefold().removesuffix("[bot]")


def refuse_older_ledger(snapshot: Snapshot, state: RunState) -> None:
    """A ledger only grows: one that is behind its own view was set back by somebody.

    Raises:
        SafetyHalt: the status comment shows more than the ledger holds.
    """
    ref = state.status_comment
    body = next((c.body for c in snapshot.issue.comments if ref and c.node_id == ref.node_id), "")
    shown = _revision_shown(body)
    if shown is not None and shown > state.revision and snapshot.ledger is not None:
        raise SafetyHalt(
            f"branch `cogworks/ledger/{state.issue}` is at {snapshot.ledger.oid} with revision "
            f"{state.revision}, but the status comment shows revision {shown}: somebody set the branch back. "
            "Nothing was written. Push the newer commit again. Or delete the status comment to go on from the "
            "older one."
        )


def _revision_shown(body: str) -> int | None:
    """What a status comment shows of the ledger: its marker says so, or its text where an older version wrote it."""
    marker = parse_marker(body)
    if marker is not None and marker.revision is not None:
        return marker.revision
    # What somebody edited on the page has the line ends of a web form.
    match = _SENTENCE.search(body.replace("\r\n", "\n"))
    return int(match[1]) if match else None


def _is_our_status(comment: Comment) -> bool:
    marker = parse_marker(comment.body)
    if marker is None or marker.topic != STATUS_TOPIC:
        return False
    # Anybody can copy a marker; a stranger must not be able to stop an item with one.
    return comment.viewer_did_author or (comment.author is not None and comment.author.is_bot)


# Told by the headline (`ledger/record.change_for`): a read brings the messages of earlier commits, and no
# earlier state.
_RECORDED = re.compile(r"cogworks: \S+ (?:succeeded|failed)\b")


@dataclass(frozen=True)
class Insisted:
    """Labels that are left as people want them until the next visit ends."""

    gone: frozenset[str]
    there: frozenset[str]


def insisted_on(snapshot: Snapshot, state: RunState) -> Insisted:
    """The labels that were taken off, or put on, more than once since the last visit ended.

    The first time is repaired. Since a visit ended its views do not change, so the second time was no doing of ours.
    """
    since = _end_of_last_visit(snapshot, state)
    if since is None:
        return Insisted(frozenset(), frozenset())
    events = [event for event in snapshot.issue.label_events if event.created_at >= since]
    off = Counter(event.label for event in events if not event.added)
    on = Counter(event.label for event in events if event.added)
    return Insisted(
        gone=frozenset(label for label, times in off.items() if times > 1),
        there=frozenset(label for label, times in on.items() if times > 1),
    )


def _end_of_last_visit(snapshot: Snapshot, state: RunState) -> datetime | None:
    """None where the last visit ended after the snapshot, or too long ago to be in it."""
    ledger = snapshot.ledger
    if ledger is None or not state.visits or state.visits[-1].visit_key not in (ledger.state_text or ""):
        return None
    return next((c.committed_date for c in ledger.history if _RECORDED.match(c.message)), None)


_TOKENS_KEY = "`budgets.pipeline_max_tokens` in `.cogworks/config.toml`"


def expected_lines(state: RunState, facts: Facts, pipeline: Pipeline) -> list[str]:
    """What the item is expected to cost, on what that rests, and the most it can cost; said while the run goes on."""
    expected = expected_here(state)
    if state.status != "running" or expected is None:
        return []
    sentence = " ".join([_expected_cost(expected), *_other_lane(state, facts)])
    most = Sum(usd=max_cost_usd(facts, pipeline), tokens=facts.max_tokens)
    return [f"**Expected cost:** {sentence} It can cost {_amount(most)} at most."]


def budget_lines(state: RunState, facts: Facts, pipeline: Pipeline) -> list[str]:
    """How far the budget is used up, and whether it has no room for another round; said while the run goes on."""
    share, short = share_spent(state, facts, pipeline), short_of_a_round(state, facts, pipeline)
    if state.status != "running" or not (share or short):
        return []
    sentences = [f"at least {share} % of it is spent"] if share else []
    if short:
        keys = " and ".join(_keys(short, facts, pipeline))
        sentences.append(f"{_short(short)}; raise {keys}, or a rework may stop half-way")
    return [f"**Budget** (${max_cost_usd(facts, pipeline):.2f}): {'; '.join(sentences)}."]


def cost_so_far(state: RunState, facts: Facts, pipeline: Pipeline) -> str:
    """What the item has cost, against its limits."""
    spent = state.spent
    tokens = spent.input_tokens + spent.output_tokens
    before = state.earlier.spend
    earlier = f" · ${before.cost_usd:.4f}{_lost(before)} before in this item" if before.cost_usd else ""
    return (
        f"**Cost so far:** ${spent.cost_usd:.4f}{_lost(spent)} of ${max_cost_usd(facts, pipeline):.2f} · {tokens:,} of {facts.max_tokens:,} tokens "
        f"· {spent.model_calls} model calls{earlier}"
    )


def _expected_cost(expected: Expected) -> str:
    about, lane = f"about {_amount(expected.whole)}", f"`{expected.pipeline}`"
    # Of one item there is no range.
    if expected.items == 1:
        return f"{about}, as the one item that has ended on {lane} here."
    if expected.items:
        between = f"${expected.lowest_usd:.2f} to ${expected.highest_usd:.2f}"
        return (
            f"{about}, the median of the last {expected.items} items that ended on {lane} here ({between})."
        )
    part = (
        f", and {_amount(expected.part)} for each sub-work-item after the first"
        if expected.part.tokens
        else ""
    )
    return (
        f"{about} where nothing is sent back{part}. No item has ended on {lane} here yet: this rests on {expected.questions} questions "
        f"that show up to {expected.shown_tokens:,} tokens of the repository each, and what a model asks to see besides comes on top."
    )


def _other_lane(state: RunState, facts: Facts) -> Iterator[str]:
    """Before Intake is done nobody knows which of two lanes it will be; what is divided costs what its parts will."""
    if facts.lane == "auto" and not state.kind:
        for each in state.expected:
            if each.pipeline not in (state.pipeline, "large"):
                yield f"Should Intake choose `{each.pipeline}`: about {_amount(each.whole)}."


def _short(short: ShortOfARound) -> str:
    dear = (
        [f"${short.round.usd:.2f}, and ${short.left.usd:.2f} is left"]
        if short.round.usd > short.left.usd
        else []
    )
    if short.round.tokens > short.left.tokens:
        dear.append(f"{short.round.tokens:,} tokens, and {short.left.tokens:,} are left")
    if short.is_expected:
        return f"a round of rework may cost {'; '.join(dear)} beside what the item is expected to cost"
    return f"another round may cost as much as the dearest so far, {'; '.join(dear)}"


def _keys(short: ShortOfARound, facts: Facts, pipeline: Pipeline) -> Iterator[str]:
    if short.round.usd > short.left.usd:
        yield budget_key(facts, pipeline)
    if short.round.tokens > short.left.tokens:
        yield _TOKENS_KEY


def _amount(worth: Sum) -> str:
    return f"${worth.usd:.2f} and {worth.tokens:,} tokens"


def _lost(spend: Spend) -> str:
    lost = unconfirmed(spend)
    return f" ({lost})" if lost else ""
