"""Everything that follows from one snapshot of a work item: its configuration, its state, and the next move."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Protocol

from cogworks.engine.tasks import branch_of
from cogworks.errors import CogworksError, UsageError
from cogworks.forge.bodies import text_below_marker
from cogworks.forge.facts import FailedCheck, ReviewText
from cogworks.forge.inbox import hear, people_to_ask_about
from cogworks.forge.notices import (
    refuse_foreign_ledger,
    refuse_ledger_of_others,
    refuse_missing_ledger,
    refuse_older_ledger,
)
from cogworks.forge.observe import facts_of, first_lane
from cogworks.forge.snapshot import Snapshot
from cogworks.forge.unmergeable import (
    Failing,
    failing_heads,
    has_failing,
    new_change_requests,
    with_change_requests,
    with_conflicts,
    with_failed_checks,
)
from cogworks.forge.wordings import (
    approvers_to_ask_about,
    doubted_approvals,
    edited_texts,
    editors_to_ask_about,
    requests_in,
    seen_texts,
    shown_calls,
    texts_of_people,
)
from cogworks.ledger.lease import lease_ages_s
from cogworks.ledger.record import ledger_branch, read_state
from cogworks.nodes.task import WorkItem
from cogworks.pipeline.decision import Decision, Run, decide
from cogworks.pipeline.elements import place_of
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.graph import Instance, Pipeline, PipelineConfiguration
from cogworks.pipeline.inputs import Heard, obey
from cogworks.pipeline.noticing import noticed
from cogworks.pipeline.parser import pipelines_of
from cogworks.pipeline.people import Inputs
from cogworks.pipeline.position import Standing
from cogworks.pipeline.redoing import read_again
from cogworks.pipeline.state import RunState, issue_digest
from cogworks.pipeline.transitions import moved_up_for_safety
from cogworks.pipeline.unmerged import revalidated
from cogworks.pipeline.wording import has_reader, reports, suspected, worded
from cogworks.settings.config import PIPELINE_FILE, Config, require_config
from cogworks.vocabulary import CommitOid, Login, NodeId, RunId, SubItemKey, Value, VisitKey


class NoSuchNode(UsageError):
    """The operator named a node that the item does not have; nothing that the people on the issue have to know."""


class Reads(Protocol):
    """GitHub as it is read for one work item."""

    def read(self) -> Snapshot: ...
    def complete(self, snapshot: Snapshot, recorded: Sequence[str]) -> Snapshot:
        """The snapshot with the recorded pull requests (node ids) that it lacks; no request when it lacks none."""

    def permissions(self, snapshot: Snapshot, people: Sequence[Login]) -> Mapping[Login, str]:
        """What each of them may do in the repository; one request."""

    def review_texts(self, snapshot: Snapshot, reviews: Sequence[str]) -> Mapping[str, ReviewText]:
        """What is written in these reviews, by node id; one request."""

    def failed_checks(self, snapshot: Snapshot, failing: Failing) -> tuple[FailedCheck, ...]:
        """What the checks say that failed at a head; one request, and one for each log."""


class Wanted(Value):
    """What the operator asked for beside the URL."""

    node: str = ""
    """`<node>` or `<node>@<sub-item key or number>`; empty = whatever is next."""
    take_over: bool = False


@dataclass(frozen=True)
class Considered:
    """Everything known before anything is written."""

    snapshot: Snapshot
    config: Config
    pipelines: PipelineConfiguration
    """Every pipeline of the repository; the run's first node may choose another one."""
    standing: Standing
    """The run, with what people newly asked for obeyed."""
    decision: Decision
    heard: Heard
    """What people newly asked for."""
    known: RunState | None = None
    """The state as the ledger has it."""

    @property
    def state(self) -> RunState:
        return self.standing.state

    @property
    def facts(self) -> Facts:
        return self.standing.facts

    @property
    def pipeline(self) -> Pipeline:
        return self.standing.pipeline

    @property
    def is_news(self) -> bool:
        """Whether people did something that the ledger does not tell of."""
        return self.known is not None and self.state.inputs != self.known.inputs


@dataclass(frozen=True)
class ReadItem:
    """A work item as GitHub showed it; what its ledger and its configuration say is read out of that once."""

    snapshot: Snapshot

    @cached_property
    def known(self) -> RunState | None:
        """The run's state in the ledger; raises as `state_of`."""
        return state_of(self.snapshot)

    @cached_property
    def config(self) -> Config:
        """The configuration; raises ConfigurationError."""
        files = self.snapshot.repository.config_files
        return require_config(files, where=self.snapshot.repository.name_with_owner)

    def shown(self, snapshot: Snapshot) -> "ReadItem":
        """The same with further answers of GitHub.

        Args:
            snapshot: of the same ledger and the same configuration, so that what was read of them goes along.
        """
        after = replace(self, snapshot=snapshot)
        # There `cached_property` keeps what it has read, and `replace` leaves it behind.
        after.__dict__.update({name: read for name, read in vars(self).items() if name != "snapshot"})
        return after


def read_item(tracker: Reads) -> ReadItem:
    """The item as it is now: one request, and one more each where a pull request of the run is missing from the answer,
    where a review newly asks for changes, where checks newly fail, and where somebody newly asked for something or rewrote what was asked for.

    Raises:
        CogworksError: GitHub cannot be read, or the ledger cannot be understood.
    """
    item = ReadItem(tracker.read())
    snapshot, state = item.snapshot, item.known
    if state is not None:
        snapshot = tracker.complete(snapshot, [pull.node_id for pull in state.pull_requests])
        if unread := [review.node_id for _, review in new_change_requests(snapshot, state)]:
            snapshot = snapshot.model_copy(update={"review_texts": tracker.review_texts(snapshot, unread)})
        if has_failing(snapshot, state):
            snapshot = _with_failures(tracker, snapshot, state)
    item = item.shown(snapshot)
    try:
        config = item.config
    except CogworksError:
        # Whoever decides will say so; nobody is obeyed meanwhile.
        return item
    editors = [*editors_to_ask_about(snapshot, state, config), *approvers_to_ask_about(snapshot, state)]
    people = people_to_ask_about(snapshot, state.inputs if state else Inputs(), config, editors=editors)
    if not people:
        return item
    return item.shown(snapshot.model_copy(update={"permissions": tracker.permissions(snapshot, people)}))


def _with_failures(tracker: Reads, snapshot: Snapshot, state: RunState) -> Snapshot:
    try:
        config, pipeline = configured(snapshot, state)
    except CogworksError:
        # Whoever decides will say so; nothing is repaired meanwhile.
        return snapshot
    failures = {
        failing.pull.number: tracker.failed_checks(snapshot, failing)
        for failing in failing_heads(snapshot, state, pipeline, config)
    }
    return snapshot.model_copy(update={"failed_checks": failures})


def refuse_lost_ledger(item: ReadItem) -> None:
    """Never go on where the ledger is gone, was set back or names what is not the item's: GitHub tells.

    Raises:
        SafetyHalt: nothing may be written before somebody looked.
    """
    snapshot, state = item.snapshot, item.known
    refuse_ledger_of_others(snapshot, _ledger_writers(item))
    if state is None:
        refuse_missing_ledger(snapshot)
    else:
        refuse_foreign_ledger(snapshot, state)
        refuse_older_ledger(snapshot, state)


def _ledger_writers(item: ReadItem) -> tuple[str, ...]:
    try:
        return item.config.ledger.writers
    except CogworksError:
        # Whoever considers the item says what is wrong with its configuration, before anything is done.
        return ()


def consider(item: ReadItem, wanted: Wanted, *, new_run_id: Callable[[], RunId]) -> Considered:
    """Everything that follows from one look; writes nothing, so that `process` and `status` agree.

    Raises:
        NoSuchNode: `wanted` names no node of the item.
        CogworksError: a file of the repository or the ledger cannot be understood.
    """
    snapshot, known, config = item.snapshot, item.known, item.config
    pipelines = declared(snapshot, config)
    heard = hear(snapshot, known.inputs if known else Inputs(), config)
    # Nobody writes a command for these: a review asks for changes, checks fail, a base has moved.
    heard = with_change_requests(heard, snapshot, known, config)
    first = first_lane(snapshot, config, heard.ignored_labels)
    pipeline = pipelines.choose(known.pipeline if known and known.has_begun else first)
    heard = with_failed_checks(heard, snapshot, known, pipeline, config)
    heard = with_conflicts(heard, snapshot, known, pipeline, config)

    def fresh() -> RunState:
        # A new run begins where every run does; what an earlier one chose is forgotten.
        return _new_run(snapshot, pipelines.choose(first), new_run_id())

    state = _beginning(known, pipeline, snapshot) if known else fresh()
    texts = seen_texts(snapshot, known, config)
    state = worded(state, texts, requests_in(heard), is_new=known is None)
    facts = facts_of(
        snapshot,
        config,
        lease_ages_s=lease_ages_of(snapshot, state),
        state=state,
        ignored=heard.ignored_labels,
        take_over=wanted.take_over,
        wanted=_instance(wanted.node, state, pipeline),
        branch_of=partial(branch_of, state, pipeline),
    ).model_copy(update={"doubted_approvals": doubted_approvals(state, snapshot, pipeline, config)})
    obeyed = noticed(obey(state, facts, heard, pipeline, fresh=fresh), facts)
    obeyed = revalidated(obeyed, _foreign_heads(obeyed, snapshot, facts, pipeline), pipeline)
    issue = issue_digest(snapshot.issue.title, snapshot.issue.body)
    obeyed = read_again(obeyed, pipeline, issue, first=lambda: pipelines.choose(first))
    # After what people said: an approval that is obeyed now is shown as well.
    facts = facts.model_copy(update={"shown_calls": shown_calls(obeyed, snapshot, pipeline, config)})
    standing = _standing(obeyed, facts, pipelines)
    decision = decide(standing)
    # A step that finds nothing new and shows nobody's text to a model pays nothing to have it read.
    is_new = known is None or obeyed.inputs != known.inputs
    if is_new or isinstance(decision, Run) or obeyed.inputs.contaminated or reports(obeyed.inputs, issue):
        # After what people said: nobody answers for a text that nobody was asked about.
        words = texts_of_people(snapshot, obeyed, edited_texts(snapshot, obeyed))
        asking = suspected(
            obeyed,
            words,
            issue=issue,
            holds=config.security.injection == "hold",
            is_read=has_reader(obeyed, pipeline, issue),
        )
        # The very same state where no text gives orders: then the move stands.
        if asking is not obeyed:
            standing = _standing(asking, facts, pipelines)
            decision = decide(standing)
    return Considered(
        snapshot=snapshot,
        config=config,
        pipelines=pipelines,
        standing=standing,
        decision=decision,
        heard=heard,
        known=known,
    )


def _standing(state: RunState, facts: Facts, pipelines: PipelineConfiguration) -> Standing:
    """Where a run stands: a restart begins where a new run does, and one that moved up goes on elsewhere."""
    critical = facts.is_safety_critical or state.is_safety_critical
    state = moved_up_for_safety(state, pipelines, is_critical=critical)
    return Standing(state, facts, pipelines.choose(state.pipeline))


def _foreign_heads(
    state: RunState, snapshot: Snapshot, facts: Facts, pipeline: Pipeline
) -> Mapping[SubItemKey, CommitOid]:
    heads: dict[SubItemKey, CommitOid] = {}
    for item in state.sub_items or ():
        for node in pipeline.sub_item_exits:
            name = branch_of(state, pipeline, Instance(node, item.key))
            branch = snapshot.branches.get(name) if name else None
            if branch and name in facts.foreign_branches:
                heads[item.key] = branch.oid
    return heads


def configured(snapshot: Snapshot, state: RunState | None) -> tuple[Config, Pipeline]:
    """The configuration of the repository, and the pipeline of the run (None: of a new one).

    Raises:
        ConfigurationError, UsageError: a file is missing or malformed, or has no such pipeline.
    """
    config = ReadItem(snapshot).config
    return config, declared(snapshot, config).choose(state.pipeline if state and state.has_begun else None)


def declared(snapshot: Snapshot, config: Config) -> PipelineConfiguration:
    """The pipelines of the repository, or the built-in ones.

    Raises:
        ConfigurationError: the file is malformed, or a lane is configured beside it.
    """
    text = snapshot.repository.config_files.get("pipeline.toml")
    return pipelines_of(text, source=PIPELINE_FILE, lane=config.pipelines.named)


def lease_ages_of(snapshot: Snapshot, state: RunState) -> Mapping[VisitKey, float]:
    """Seconds since each lease was last heard of, by GitHub's clocks; one that is absent is stale."""
    history = [(c.message, c.committed_date) for c in (snapshot.ledger.history if snapshot.ledger else ())]
    return lease_ages_s(state.leases, history, server_date=snapshot.server_date)


def state_of(snapshot: Snapshot) -> RunState | None:
    """The run's state in the ledger; None before the first claim.

    Raises:
        LedgerUnreadable: the ledger holds something else.
    """
    ledger = snapshot.ledger
    if ledger is None or (ledger.state_text is None and ledger.oid == snapshot.root_oid):
        # A first claim makes the branch before its first commit, and may have died between the two.
        return None
    return read_state(ledger.state_text or "", branch=ledger_branch(snapshot.issue.number))


def work_item(snapshot: Snapshot, config: Config) -> WorkItem:
    """The issue as nodes see it, without the labels that are ours."""
    own = set(config.labels.model_dump().values())
    labels = (name for name in snapshot.issue.labels if not name.startswith("cogworks:") and name not in own)
    return WorkItem(
        number=snapshot.issue.number,
        title=snapshot.issue.title,
        # What was divided from another issue carries a mark that says nothing to whoever reads it.
        body=text_below_marker(snapshot.issue.body),
        labels=tuple(sorted(labels)),
        repository=snapshot.repository.name_with_owner,
        default_branch=snapshot.repository.default_branch,
    )


def _new_run(snapshot: Snapshot, pipeline: Pipeline, run_id: RunId) -> RunState:
    return RunState(
        run_id=run_id,
        repository_id=snapshot.repository.node_id,
        repository=snapshot.repository.name_with_owner,
        issue=snapshot.issue.number,
        issue_digest=issue_digest(snapshot.issue.title, snapshot.issue.body),
        pipeline=pipeline.name,
        graph_hash=pipeline.graph_hash,
    )


def _beginning(known: RunState, pipeline: Pipeline, snapshot: Snapshot) -> RunState:
    """The run as it goes on; one that was refused begins on the repository and the request as they are now."""
    if known.has_begun:
        return known
    asked = issue_digest(snapshot.issue.title, snapshot.issue.body)
    now = {"pipeline": pipeline.name, "graph_hash": pipeline.graph_hash, "issue_digest": asked}
    return known.model_copy(update=now)


def _instance(text: str, state: RunState, pipeline: Pipeline) -> Instance | None:
    if not text:
        return None
    node, _, sub = text.partition("@")
    known = ", ".join(n.id for n in pipeline.nodes)
    if not pipeline.has(place_of(Instance(NodeId(node))).node):
        raise NoSuchNode(f"pipeline {pipeline.name!r} has no node {node!r}; it has {known}.")
    for item in state.sub_items or ():
        if sub in (item.key, str(item.number)):
            return Instance(NodeId(node), item.key)
    if sub:
        raise NoSuchNode(f"{text!r} names sub-work-item {sub!r}, which is not in the plan.")
    return Instance(NodeId(node), None)
