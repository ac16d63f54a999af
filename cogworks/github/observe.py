"""What the decision needs of a snapshot."""

from collections.abc import Mapping

from cogworks.github.facts import PullRequest
from cogworks.github.snapshot import Snapshot
from cogworks.pipeline.graph import Instance
from cogworks.pipeline.position import Facts, PullFacts
from cogworks.settings import Config
from cogworks.vocabulary import VisitKey


def facts_of(
    snapshot: Snapshot,
    config: Config,
    *,
    lease_ages_s: Mapping[VisitKey, float],
    take_over: bool = False,
    wanted: Instance | None = None,
) -> Facts:
    """The facts in one snapshot, as `decide` takes them."""
    labels = frozenset(snapshot.issue.labels)
    set_events = [e for e in snapshot.issue.label_events if e.added and e.label == config.labels.trigger]
    return Facts(
        issue_is_open=snapshot.issue.state == "open",
        issue_url=snapshot.issue.url,
        is_triggered=config.labels.trigger in labels,
        is_held=config.labels.hold in labels,
        is_cancelled=config.labels.cancel in labels,
        trigger=config.labels.trigger,
        trigger_event_id=set_events[-1].id if set_events else "",
        is_safety_critical=config.labels.safety_critical in labels,
        pulls={pull.number: pull_facts(pull) for pull in snapshot.pulls},
        lease_ages_s=lease_ages_s,
        max_cost_usd=config.budgets.pipeline_max_cost_dollars,
        max_tokens=config.budgets.pipeline_max_tokens,
        take_over=take_over,
        wanted=wanted,
    )


def pull_facts(pull: PullRequest) -> PullFacts:
    """A pull request as the gates see it.

    Approved means: a writer approved this very head and no writer asks for changes (protocol §9.9).
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
