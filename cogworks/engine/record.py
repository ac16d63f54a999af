"""What the end of a claimed visit makes of the run's state, and the files that keep it.

What a visit's publication teaches: ids for the state, heads and pull requests for the facts.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cogworks.engine.packs import PACKS_FILE, frozen_by, packs_text
from cogworks.engine.tasks import VIEW, slot_values
from cogworks.forge.bodies import STATUS_TOPIC
from cogworks.forge.publication import Published
from cogworks.forge.snapshot import Snapshot
from cogworks.ledger.lease import Entry, VisitLease
from cogworks.ledger.record import edges_file, output_as_kept, view_file, visit_files
from cogworks.llm.provider import ModelReply
from cogworks.nodes.contract import Failed, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.packs.choosing import FrozenPacks, ReadElsewhere
from cogworks.packs.declared import Exemplar, Pack, Unusable
from cogworks.pipeline.checks import CLASSIFICATION
from cogworks.pipeline.decision import Run
from cogworks.pipeline.elements import PARTS, is_routing
from cogworks.pipeline.expected import came_to
from cogworks.pipeline.facts import Facts, PullFacts
from cogworks.pipeline.graph import Instance, Pipeline, PipelineConfiguration
from cogworks.pipeline.lane_choice import suits_large, suits_small
from cogworks.pipeline.noticing import noticed, rest_line
from cogworks.pipeline.people import CommentRef
from cogworks.pipeline.position import Standing
from cogworks.pipeline.state import KnownPull, RunState
from cogworks.pipeline.transitions import (
    EdgeEvaluation,
    edge_evaluations,
    edges_line,
    learn_classification,
    learn_parts,
    learn_plan,
    moved_up,
    settle,
    switched,
)
from cogworks.pipeline.unmerged import done_with, left_at, looked_at
from cogworks.pipeline.visits import VisitRecord
from cogworks.pipeline.wording import with_reported
from cogworks.settings.config import Config
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber


def known(state: RunState, published: Published) -> RunState:
    """The state with the ids that publishing taught."""
    pulls = {pull.slug: pull for pull in state.pull_requests}
    pulls.update(
        (
            p.slug,
            KnownPull(
                slug=p.slug,
                number=p.number,
                node_id=p.node_id,
                head=p.head,
                base=p.base,
                is_shown_only=p.is_shown_only,
            ),
        )
        for p in published.pull_requests
    )
    comment = next((c for c in published.comments if c.topic == STATUS_TOPIC), None)
    update: dict[str, Any] = {"pull_requests": tuple(pulls.values())}
    if pulls and not state.pull_requests and state.inputs.reviews is None:
        # From now on every review counts, whenever it was written.
        update["inputs"] = state.inputs.model_copy(update={"reviews": ()})
    if comment is not None:
        update["status_comment"] = CommentRef(node_id=comment.node_id, database_id=comment.database_id)
    heads = {commit.branch: commit.oid for commit in published.commits}
    return left_at(state.model_copy(update=update), heads)


def with_head(
    state: RunState, at: Instance, branch: BranchName, snapshot: Snapshot, published: Published
) -> RunState:
    """The state that knows which head of its branch a sub-work-item's visit made, or else looked at."""
    sub_item = at.sub_item
    pushed = next((commit.oid for commit in published.commits if commit.branch == branch), None)
    there = snapshot.branches.get(branch)
    head = pushed or (there.oid if there else None)
    return looked_at(state, sub_item, head) if sub_item is not None and head is not None else state


def with_published(facts: Facts, state: RunState, snapshot: Snapshot, published: Published) -> Facts:
    """The facts with the pull requests that the visit opened and the heads that it made."""
    heads = {name: branch.oid for name, branch in snapshot.branches.items()}
    new_heads = {commit.branch: commit.oid for commit in published.commits}
    pulls = dict(facts.pulls)
    for pull in state.pull_requests:
        if pull.number in pulls and pull.head in new_heads:
            # What was approved is not what is there now.
            moved = {"head_oid": new_heads[pull.head], "approved_by": ""}
            pulls[pull.number] = pulls[pull.number].model_copy(update=moved)
    for opened in published.pull_requests:
        oid = (heads | new_heads).get(opened.head, CommitOid(""))
        new = PullFacts(number=opened.number, state="open", head_oid=oid, url=opened.url)
        pulls.setdefault(opened.number, new)
    return facts.model_copy(update={"pulls": pulls})


def _closed(facts: Facts, numbers: Collection[IssueNumber]) -> Facts:
    pulls = {
        number: pull.model_copy(update={"state": "closed"})
        if number in numbers and pull.state == "open"
        else pull
        for number, pull in facts.pulls.items()
    }
    return facts.model_copy(update={"pulls": pulls})


@dataclass(frozen=True)
class Claimed:
    """A visit that is ours."""

    visit_lease: VisitLease
    move: Run
    task: NodeTask
    snapshot: Snapshot
    facts: Facts
    pipeline: Pipeline
    pipelines: PipelineConfiguration
    """Every pipeline the first node may choose."""
    config: Config
    memory: Mapping[str, ModelReply]
    kept: Mapping[str, str]
    """What earlier attempts of the visit had kept: name of the file -> text."""
    asked_s: float
    """What the runner's clock said when the claim was sent."""
    shelf: Sequence[Pack | Unusable] = ()
    """The context packs of which the visit's result chooses."""
    elsewhere: Mapping[Exemplar, ReadElsewhere] = field(default_factory=dict)
    """Files of other repositories that those it chose show."""


@dataclass(frozen=True, kw_only=True)
class Ending(Entry):
    """The end of a visit as the ledger has it."""

    standing: Standing
    """The run after it."""


def ending_of(
    claimed: Claimed, outcome: Outcome, record: VisitRecord, published: Published, facts: Facts
) -> Callable[[RunState], Ending]:
    """How the visit ends, on whatever state it is recorded."""
    after = transition(claimed, outcome, record, published, facts)
    evaluations = evaluations_after(claimed, outcome, record)

    def ending(state: RunState) -> Ending:
        now = after(state)
        return Ending(
            state=now.state,
            # A loop that is used up makes a failure of a node that succeeded.
            verb=now.state.visits[-1].status,
            files=files_after(claimed, outcome, now.state, evaluations),
            waits_for=rest_line(now),
            edges=edges_line(evaluations),
            standing=now,
        )

    return ending


def transition(
    claimed: Claimed, outcome: Outcome, record: VisitRecord, published: Published, facts: Facts
) -> Callable[[RunState], Standing]:
    """The run after the visit, from whatever state it is recorded on."""
    pipeline = pipeline_after(claimed, outcome)
    view = view_after(claimed, outcome, record)
    frozen = frozen_after(claimed, outcome)

    def after(state: RunState) -> Standing:
        issue = claimed.snapshot.issue
        state = with_reported(
            state, outcome.orders, title=issue.title, body=issue.body, visit_key=record.visit_key
        )
        if isinstance(outcome, Succeeded) and not is_routing(record.instance):
            state = _learn(state, slot_values(claimed.pipeline.node(record.node), outcome.output), published)
            if frozen is not None:
                state = state.model_copy(update={"packs_at": _packs_path(state, record)})
            state = with_head(state, claimed.move.instance, claimed.task.branch, claimed.snapshot, published)
        if reason := _moves_up(claimed, outcome):
            settled = moved_up(known(state, published).recorded(record), pipeline, reason)
        else:
            if pipeline is not claimed.pipeline:
                state = switched(state, pipeline)
            settled = settle(known(state, published), pipeline, record, view)
        now = Standing(settled, facts, pipeline)
        finished = now.position.frontier.finished
        ended = {"status": "done", "came_to": came_to(settled, pipeline)} if finished else {}
        now = now.noting(settled.model_copy(update={"gates": now.position.gates, **ended}))
        # The views come after the record, and close these: no further step is needed to have seen it.
        return now.noting(noticed(now.state, _closed(facts, done_with(now))))

    return after


def frozen_after(claimed: Claimed, outcome: Outcome) -> FrozenPacks | None:
    """The packs that the visit's classification chose; None where there were none to choose of."""
    if not claimed.shelf or not isinstance(outcome, Succeeded):
        return None
    node = claimed.pipeline.node(claimed.move.instance.node)
    classification = slot_values(node, outcome.output)[CLASSIFICATION]
    known: Mapping[str, Any] = classification if isinstance(classification, Mapping) else {}
    return frozen_by(
        claimed.shelf,
        known,
        labels=claimed.snapshot.issue.labels,
        is_safety_critical=_is_safety_critical(claimed, known),
        commit=claimed.snapshot.repository.head_oid,
        max_tokens=claimed.config.context_packs.max_tokens,
        elsewhere=claimed.elsewhere,
    )


def _packs_path(state: RunState, visit: VisitRecord) -> str:
    return f"{state.folder(visit.index, visit.instance)}/{PACKS_FILE}"


def view_after(claimed: Claimed, outcome: Outcome, record: VisitRecord) -> Mapping[str, Any]:
    """What the conditions of the visit's edges are evaluated over."""
    if is_routing(record.instance):
        view: Mapping[str, Any] = claimed.task.inputs[VIEW]
        return view
    view = {**claimed.task.inputs, "retry_count": record.ordinal - 1}
    if isinstance(outcome, Succeeded):
        view = {**view, **slot_values(claimed.pipeline.node(record.node), outcome.output)}
    return view


def pipeline_after(claimed: Claimed, outcome: Outcome) -> Pipeline:
    """The pipeline on which the run goes on: the first node's classification may name another one.

    The name must be a known one: `with_known_pipeline` has made sure of that.
    """
    name = _requested(claimed, outcome)
    return claimed.pipeline if name is None else claimed.pipelines.choose(name)


def with_known_pipeline(claimed: Claimed, outcome: Outcome) -> Outcome:
    """The outcome; a failure where it chose a pipeline that there is not, or chose anew too late."""
    name = _requested(claimed, outcome)
    if name is None or not isinstance(outcome, Succeeded):
        return outcome
    known = claimed.pipelines.pipelines
    if name not in known:
        listed = ", ".join(f"`{each}`" for each in known)
        return Failed(
            reason=(
                f"{claimed.pipeline.title_of(claimed.move.instance.node)} asked for the pipeline `{name}`, which "
                f"{claimed.pipelines.source} does not declare. Available are {listed}. Add it, or name one of those "
                "in the issue, then restart the item. Asking again gives no other answer."
            ),
            category="escalated",
            output=outcome.output,
            orders=outcome.orders,
        )
    if (
        claimed.visit_lease.state.sub_items is not None
        and known[name].graph_hash != claimed.pipeline.graph_hash
    ):
        return Failed(
            reason=(
                f"the pipeline `{name}` was chosen after `{claimed.pipeline.name}` had made sub-work-items. Comment "
                "`/cogworks restart` to begin anew."
            ),
            category="escalated",
            output=outcome.output,
            orders=outcome.orders,
        )
    return outcome


def files_after(
    claimed: Claimed, outcome: Outcome, state: RunState, evaluations: tuple[EdgeEvaluation, ...]
) -> dict[str, str]:
    """The files that finish the visit, which is the newest of the state."""
    visit = state.visits[-1]
    files = visit_files(state, visit, kept_output(outcome))
    if visit.awaits_routing:
        files.update(view_file(state, visit, view_after(claimed, outcome, visit)))
    if (frozen := frozen_after(claimed, outcome)) is not None:
        files[_packs_path(state, visit)] = packs_text(frozen)
    if evaluations:
        files.update(edges_file(state, visit, [each.model_dump(mode="json") for each in evaluations]))
    return files


def evaluations_after(claimed: Claimed, outcome: Outcome, record: VisitRecord) -> tuple[EdgeEvaluation, ...]:
    """What was looked at to decide the edges of a visit; nothing where the run leaves its pipeline after it."""
    if _moves_up(claimed, outcome):
        return ()
    return edge_evaluations(pipeline_after(claimed, outcome), record, view_after(claimed, outcome, record))


def kept_output(outcome: Outcome) -> Mapping[str, Any] | None:
    """A success is read by later nodes, even an empty one; what a failure left is for people."""
    return output_as_kept(outcome.output) if isinstance(outcome, Succeeded) or outcome.output else None


def _requested(claimed: Claimed, outcome: Outcome) -> str | None:
    """The pipeline that the first node chose, or that a node asks for that needs more; None = the run stays on the one it is on."""
    at = claimed.move.instance
    if _moves_up(claimed, outcome):
        return "default"
    if not isinstance(outcome, Succeeded) or at.node != claimed.pipeline.start or is_routing(at):
        return None
    if CLASSIFICATION not in claimed.pipeline.node(at.node).outputs:
        return None
    classification = slot_values(claimed.pipeline.node(at.node), outcome.output)[CLASSIFICATION]
    if claimed.pipelines.are_lanes:
        return _lane(claimed, classification)
    name = str(classification.get("pipeline") or "") if isinstance(classification, Mapping) else ""
    # "default" is what a prompt says that knows of no other pipeline.
    known = claimed.pipelines.pipelines
    return claimed.pipelines.default if name in ("", "default") and name not in known else name


def _lane(claimed: Claimed, classification: object) -> str | None:
    if claimed.pipeline.name == "large":
        # Somebody asked for it, and nothing is written on it: its parts are judged one by one.
        return None
    if _is_safety_critical(claimed, classification):
        return "default"
    # What people chose stands, whatever Intake found.
    if claimed.facts.lane != "auto":
        return None
    if suits_small(classification):
        return "small"
    return "large" if suits_large(classification) else None


def _moves_up(claimed: Claimed, outcome: Outcome) -> str:
    """Why the run leaves the short way after the visit; empty: it stays."""
    # A repository may call a pipeline of its own `small`: there is no longer way to move it to.
    is_short = claimed.pipelines.are_lanes and claimed.pipeline.name == "small"
    return outcome.moves_up if is_short and isinstance(outcome, Succeeded) else ""


def _is_safety_critical(claimed: Claimed, classification: object) -> bool:
    # Anybody who says so is believed, and no later answer lifts it.
    is_said = isinstance(classification, Mapping) and classification.get("safety_affecting") is True
    return is_said or claimed.facts.is_safety_critical or claimed.visit_lease.state.is_safety_critical


def _learn(state: RunState, slots: Mapping[str, Any], published: Published) -> RunState:
    if "classification" in slots:
        state = learn_classification(state, slots["classification"])
    issues = {issue.key: (issue.number, issue.node_id) for issue in published.sub_issues}
    plan = slots.get("plan")
    if isinstance(plan, Mapping) and (published.sub_issues or plan.get("sub_work_items") == []):
        # An empty plan is one too: what comes after the sub-work-items goes on.
        state = learn_plan(state, plan, issues)
    if isinstance(parts := slots.get(PARTS), Mapping):
        state = learn_parts(state, parts, issues)
    return state
