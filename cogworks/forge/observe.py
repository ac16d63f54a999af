"""What the decision needs of a snapshot, and which of its labels people speak with."""

from collections.abc import Callable, Collection, Mapping
from typing import Literal, get_args

from cogworks.forge.bodies import work_prefix
from cogworks.forge.facts import PullRequest
from cogworks.forge.inbox import newest_event
from cogworks.forge.labels import LANE_LABEL
from cogworks.forge.publication import commit_body
from cogworks.forge.snapshot import Snapshot
from cogworks.forge.surface import is_status_lost
from cogworks.pipeline.facts import Facts, PullFacts
from cogworks.pipeline.graph import Instance
from cogworks.pipeline.people import IgnoredLabel, InputLabel
from cogworks.pipeline.state import RunState, issue_digest
from cogworks.settings.config import Config
from cogworks.settings.sections import AskedLane, LabelConfig, Lane
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, VisitKey


def facts_of(
    snapshot: Snapshot,
    config: Config,
    *,
    lease_ages_s: Mapping[VisitKey, float],
    state: RunState | None = None,
    ignored: tuple[IgnoredLabel, ...] = (),
    take_over: bool = False,
    wanted: Instance | None = None,
    branch_of: Callable[[Instance], BranchName | None] = lambda _: None,
) -> Facts:
    """The facts in one snapshot, as `decide` takes them.

    Args:
        state: what the run knows already; None before it began.
        ignored: labels that count as not there, because of who set them.
        branch_of: the branch that a node commits to.
    """

    names = config.labels
    labels = counting_labels(snapshot, ignored)
    return Facts(
        issue_is_open=snapshot.issue.state == "open",
        issue_url=snapshot.issue.url,
        is_triggered=names.trigger in labels,
        is_held=names.hold in labels,
        # Set by somebody who is known, it was obeyed once and is over.
        is_cancelled=names.cancel in labels and newest_event(snapshot, names.cancel) is None,
        trigger=config.labels.trigger,
        is_safety_critical=names.safety_critical in labels,
        lane=asked_lane(snapshot, config, labels),
        issue_digest=issue_digest(snapshot.issue.title, snapshot.issue.body),
        ignored_labels=ignored,
        input_labels=present_inputs(snapshot.issue.labels, names),
        is_locked=snapshot.issue.locked,
        foreign_branches=foreign_branches(snapshot, state, branch_of),
        is_status_gone=state is not None and is_status_lost(snapshot, state),
        blocked_by=snapshot.issue.open_blockers,
        open_parts=_open_parts(snapshot, state),
        pulls={pull.number: _as_known_here(pull, snapshot, state) for pull in snapshot.pulls},
        lease_ages_s=lease_ages_s,
        max_cost_usd=config.budgets.pipeline_max_cost_dollars,
        small_max_cost_usd=config.budgets.small_max_cost_dollars,
        max_tokens=config.budgets.pipeline_max_tokens,
        take_over=take_over,
        wanted=wanted,
        now=snapshot.server_date,
        approval_hours=config.approvals.valid_hours,
    )


def _open_parts(snapshot: Snapshot, state: RunState | None) -> tuple[IssueNumber, ...]:
    """What somebody took from below the issue is a part of it no longer."""
    open_below = {issue.number for issue in snapshot.issue.sub_issues if issue.state == "open"}
    return tuple(part.number for part in (state.parts if state else ()) if part.number in open_below)


def foreign_branches(
    snapshot: Snapshot, state: RunState | None, branch_of: Callable[[Instance], BranchName | None]
) -> tuple[BranchName, ...]:
    """The item's branches whose head no visit of ours is known to have pushed, by name."""
    ours: Mapping[BranchName, tuple[CommitOid, ...]] = {} if state is None else state.pushed
    # A branch that was only just made stands where it starts: on the default branch or on another one of ours.
    starts = {snapshot.repository.head_oid, *(oid for heads in ours.values() for oid in heads)}
    unfinished = () if state is None else (*state.leases, *state.given_back)
    on_the_way = [(branch_of(lease.instance), commit_body(lease.visit_key)) for lease in unfinished]
    return tuple(
        sorted(
            name
            for name, branch in snapshot.branches.items()
            if branch.oid not in (ours[name] if ours.get(name) else starts)
            # Made through the API, its name was known only afterwards: the runner that goes on with the visit looks into it.
            and not any(own == name and trailer in branch.message for own, trailer in on_the_way)
        )
    )


def _as_known_here(pull: PullRequest, snapshot: Snapshot, state: RunState | None) -> PullFacts:
    is_ours = pull.base.startswith(work_prefix(snapshot.issue.number))
    gone = is_ours and pull.base not in snapshot.branches
    if gone and state is not None:
        # Who closed it while its base was there rejected it, whatever became of the base later.
        seen = next((each for each in state.inputs.pulls if each.number == pull.number), None)
        gone = seen is None or seen.state != "closed" or seen.is_base_gone
    stands = snapshot.branches.get(pull.base)
    is_default = pull.base == snapshot.repository.default_branch
    base_oid = snapshot.repository.head_oid if is_default else stands.oid if stands else None
    return pull_facts(pull).model_copy(update={"is_base_gone": gone, "base_oid": base_oid})


def pull_facts(pull: PullRequest) -> PullFacts:
    """A pull request as the gates see it.

    Approved means: a writer approved this very head and no writer asks for changes.
    """
    writers = [review for review in pull.reviews if review.can_push]
    approved = [r for r in writers if r.state == "approved" and r.oid == pull.head_oid]
    is_refused = any(review.state == "changes_requested" for review in writers)
    approver = approved[0].author if approved and not is_refused else None
    return PullFacts(
        number=pull.number,
        state=pull.state,
        head_oid=pull.head_oid,
        url=pull.url,
        merged_by=pull.merged_by.login if pull.merged_by else "",
        approved_by=approver.login if approver else "",
    )


def present_inputs(labels: Collection[str], names: LabelConfig) -> tuple[InputLabel, ...]:
    """The input labels among these names, beside the trigger, in a fixed order."""
    called: dict[InputLabel, str] = {
        "hold": names.hold,
        "cancel": names.cancel,
        "restart": names.restart,
        "safety_critical": names.safety_critical,
    }
    return tuple(label for label, name in called.items() if name in labels)


def counting_labels(snapshot: Snapshot, ignored: Collection[IgnoredLabel]) -> frozenset[str]:
    """The labels of the issue without those that count as not there because of who set them."""
    ignored_events = {label.event_id for label in ignored}

    def counts(label: str) -> bool:
        event = newest_event(snapshot, label)
        return event is None or event.id not in ignored_events

    return frozenset(filter(counts, snapshot.issue.labels))


def asked_lane(snapshot: Snapshot, config: Config, labels: Collection[str]) -> AskedLane | Literal[""]:
    """The lane that the label names, or else the configuration; empty where the repository has pipelines of its own.

    Of two labels the one for the longer way counts. What is a part of another issue is divided again where its own label says
    so, and not because the repository divides all its issues.

    Args:
        labels: those that count.
    """
    if "pipeline.toml" in snapshot.repository.config_files:
        return ""
    lanes: tuple[AskedLane, ...] = get_args(AskedLane)
    # `AskedLane` names the longer way first, and the first of these counts.
    named = (lane for lane in lanes if f"{LANE_LABEL}{lane}" in labels)
    is_part = snapshot.issue.parent is not None
    configured = config.pipelines.lane
    return next(named, "auto" if configured == "large" and is_part else configured)


def first_lane(snapshot: Snapshot, config: Config, ignored: Collection[IgnoredLabel]) -> Lane | None:
    """The lane that a new run begins on, never `small` where safety is at stake; None: its repository has none.

    With `auto` it is `default`: the rule needs what Intake finds (`pipeline/lane_choice`).
    """
    labels = counting_labels(snapshot, ignored)
    asked = asked_lane(snapshot, config, labels)
    if not asked:
        return None
    if asked == "large":
        return "large"
    return "small" if asked == "small" and config.labels.safety_critical not in labels else "default"
