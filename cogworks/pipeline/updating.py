"""Pull requests whose base branch moved on: which of them are brought up to date, and what their work is told."""

from cogworks.pipeline.facts import Facts
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.redoing import NotNow, is_mended_by_code, is_worked_on, revised
from cogworks.pipeline.state import KnownPull, RunState
from cogworks.pipeline.visits import AskedChange
from cogworks.vocabulary import IssueNumber


def updated(
    state: RunState, facts: Facts, pipeline: Pipeline, *, by: str, number: IssueNumber | None
) -> RunState:
    """The state in which the base of a pull request is merged into its branch; of no number, of all that go to a branch of
    the repository's own.

    What other sub-work-items built on it stays: it meets the newer commits when its own pull request is merged.

    Raises:
        NotNow: there is no such pull request, it holds no code, or it is being worked on.
    """
    wanted = [pull for pull in state.pull_requests if number in (None, pull.number)]
    if number is not None and not wanted:
        raise NotNow(f"#{number} is no pull request of this item")
    ours = {pull.head for pull in state.pull_requests}
    chosen = [
        pull
        for pull in wanted
        if _is_open(facts, pull)
        and is_mended_by_code(state, pipeline, pull.number)
        and (number is not None or pull.base not in ours)
    ]
    if not chosen:
        which = f"#{number}" if number is not None else "no pull request of this item"
        raise NotNow(f"{which} is open and holds code, so there is nothing to bring up to date")
    for pull in chosen:
        state = _with_base(state, facts, pipeline, pull, by)
    return state


def _with_base(state: RunState, facts: Facts, pipeline: Pipeline, pull: KnownPull, by: str) -> RunState:
    base_oid = facts.pulls[pull.number].base_oid
    if base_oid is None:
        raise NotNow(f"the branch `{pull.base}`, to which #{pull.number} goes, is not there")
    if is_worked_on(state, pipeline, pull.number):
        raise NotNow(f"#{pull.number} is being worked on; ask again when that has ended")
    asked = AskedChange(
        by=by,
        pull_request=pull.number,
        merges=base_oid,
        text=f"Merge its base branch at {base_oid[:12]}.",
    )
    reason = f"#{pull.number} is brought up to date with its base branch, as {by} asked"
    return revised(
        state, facts, pipeline, pull.number, reason=reason, changes=(asked,), keeps_dependents=True
    )


def _is_open(facts: Facts, pull: KnownPull) -> bool:
    now = facts.pulls.get(pull.number)
    return now is not None and now.state == "open"
