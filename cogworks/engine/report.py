"""What one step came to, as it is told."""

from collections.abc import Mapping
from typing import Literal

from cogworks.engine.consider import Considered
from cogworks.forge.snapshot import many_comments
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.position import Standing, codes_of
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState
from cogworks.pipeline.waiting import WaitingFor
from cogworks.vocabulary import ScopeCode, Value


class StepReport(Value):
    """What one step came to."""

    outcome: Literal[
        "succeeded",
        "failed",
        "rejected",
        "done",
        "waiting",
        "backed_off",
        "usage_error",
        "configuration_error",
        "budget_reached",
    ]
    message: str
    node: str = ""
    visit_key: str = ""
    waiting_for: tuple[WaitingFor, ...] = ()
    codes: tuple[ScopeCode, ...] = ()
    """In which ways the work has left its bounds, as far as people have not dealt with it."""
    retry_in_s: float | None = None
    """Backed off: when the other runner's lease may be taken over."""
    urls: Mapping[str, str] = {}
    spend: Spend = Spend()
    """What this step's model calls cost."""
    warnings: tuple[str, ...] = ()


def report(
    outcome: str,
    message: str,
    seen: Considered,
    state: RunState,
    *,
    waiting_for: tuple[WaitingFor, ...] = (),
    warning: str = "",
    retry_in_s: float | None = None,
    facts: Facts | None = None,
) -> StepReport:
    """The report of a step, with the addresses of what there is and the warnings that people should see."""
    pulls = (facts or seen.facts).pulls
    urls = {"issue": seen.snapshot.issue.url}
    if state.status_comment is not None:
        urls["status_comment"] = f"{seen.snapshot.issue.url}#issuecomment-{state.status_comment.database_id}"
    for pull in state.pull_requests:
        if pull.number in pulls:
            urls[pull.slug] = pulls[pull.number].url
    return StepReport.model_validate(
        {
            "outcome": outcome,
            "message": message,
            "waiting_for": waiting_for,
            "codes": codes_of(state),
            "retry_in_s": retry_in_s,
            "urls": urls,
            "warnings": tuple(told for told in (warning, many_comments(seen.snapshot)) if told),
        }
    )


def outcome_after(
    standing: Standing, *, has_failed: bool
) -> Literal["failed", "done", "succeeded", "waiting"]:
    """What a step came to that ended a visit, the last one of the run.

    Args:
        has_failed: whether the visit's node said so.
    """
    visit = standing.state.visits[-1]
    if visit.waits:
        # A node beside it may go on meanwhile.
        return "succeeded" if standing.position.ready else "waiting"
    if has_failed or visit.status == "failed":
        return "failed"
    return "done" if standing.state.status == "done" else "succeeded"
