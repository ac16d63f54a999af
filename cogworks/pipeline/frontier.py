"""Which nodes of a run can start now: fan-out, joins, dead paths and sub-items in dependency order.

Every forward edge of a finished node is taken or not; the edges of a skipped node are dead. A node is ready when all
edges into it are decided and at least one is taken, skipped when none is, and blocked when a node it waits for failed.
A loop is walked by one node at a time: where it leads back from starts last of its nodes, and no other starts meanwhile.
An edge from a per-item node to a per-sub-item node starts it for every sub-item; one that leads back joins them all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from cogworks.errors import UsageError
from cogworks.pipeline.elements import Edge, EdgeRef, Instance, SubItem
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.routing import EdgeMark, EdgeVerdict, Reopened, out_edges_after, reopened_by
from cogworks.vocabulary import NodeId, SubItemKey

__all__ = [
    "EdgeMark",
    "EdgeRef",
    "EdgeVerdict",
    "Frontier",
    "Instance",
    "InstanceStatus",
    "Reopened",
    "SubItem",
    "frontier",
    "in_dependency_order",
    "instances",
    "out_edges_after",
    "reopened_by",
]


class InstanceStatus(StrEnum):
    """What is known of an instance that has been started; one without a status has not."""

    SUCCEEDED = "succeeded"
    """Finished, its gate passed and its edges decided."""
    FAILED = "failed"
    """Gave up for good."""
    RUNNING = "running"
    WAITING_GATE = "waiting_gate"
    """Finished, but a person has yet to approve it."""
    ROUTING = "routing"
    """Finished and its gate passed, but a model has yet to say where it leads."""


@dataclass(frozen=True)
class Frontier:
    """Where a run stands."""

    ready: tuple[Instance, ...]
    """May start now, best first: the order of `instances`, so one sub-item is finished before the next begins."""
    skipped: frozenset[Instance]
    """Never start: no taken path leads to them any more."""
    blocked: Mapping[Instance, Instance]
    """Can never start -> the failed instance that is to blame."""
    finished: bool
    """Every instance succeeded or was skipped, and no dead end is among them."""
    dead_ends: tuple[Instance, ...]
    """Succeeded, but none of the edges that lead on was taken: an error of the graph or of its conditions."""
    held: Mapping[Instance, Instance]
    """Not started, and not before the one that is at work ends: that one may lead back over it."""
    to_stop: tuple[Instance, ...]
    """Running or waiting, though a sibling that aborts its siblings failed."""


def in_dependency_order(sub_items: Sequence[SubItem]) -> tuple[SubItem, ...]:
    """Every sub-item after those it depends on, the given order where that leaves a choice.

    Raises:
        UsageError: a dependency is unknown, or sub-items depend on one another in a circle.
    """
    by_key = {item.key: item for item in sub_items}
    for item in sub_items:
        if unknown := [key for key in item.depends_on if key not in by_key]:
            raise UsageError(
                f"sub-item {item.key!r} depends on {unknown[0]!r}, which is not a sub-item; plan again"
            )
    ordered: dict[SubItemKey, SubItem] = {}
    waiting = list(by_key.values())
    while waiting:
        # Only the first that is free: the given order stays wherever it can.
        free = next((item for item in waiting if all(key in ordered for key in item.depends_on)), None)
        if free is None:
            circle = ", ".join(repr(item.key) for item in waiting)
            raise UsageError(f"the sub-items {circle} depend on one another in a circle; plan again")
        ordered[free.key] = free
        waiting.remove(free)
    return tuple(ordered.values())


def instances(pipeline: Pipeline, sub_items: Sequence[SubItem] | None) -> tuple[Instance, ...]:
    """Every place where a node can be visited, each after all it can wait for.

    First the per-item nodes in topological order, then sub-item after sub-item in dependency order, then the per-item
    nodes that join them. Without sub-items (None: not planned yet) the per-sub-item nodes have no instance.
    """
    keys = [item.key for item in in_dependency_order(sub_items or ())]
    return tuple(_in_order(pipeline, keys))


def frontier(
    pipeline: Pipeline,
    marks: Mapping[EdgeRef, EdgeMark],
    status: Mapping[Instance, InstanceStatus],
    sub_items: Sequence[SubItem] | None,
) -> Frontier:
    """What can start, what never will, and whether the run is at its end.

    Args:
        marks: what `out_edges_after` said of every finished instance; marks of unfinished ones are ignored.
        status: every instance that was started and not reopened since.
        sub_items: None while they are not planned.

    Raises:
        UsageError: the sub-items' dependencies make no order.
    """
    ordered = in_dependency_order(sub_items or ())
    return _Reading(pipeline, marks, status, ordered, is_planned=sub_items is not None).frontier


class _Judgement(StrEnum):
    """What is known of an instance that no failure keeps from starting."""

    SUCCEEDED = "succeeded"
    SKIPPED = "skipped"
    READY = "ready"
    ACTIVE = "active"
    PENDING = "pending"
    VACUOUS = "vacuous"
    """Activated for an empty list of sub-items: nothing to do, so everything after it may go on."""


@dataclass(frozen=True)
class _Reading:
    """One look at a run; the judgements are made in `instances` order, so each rests on finished ones."""

    pipeline: Pipeline
    marks: Mapping[EdgeRef, EdgeMark]
    status: Mapping[Instance, InstanceStatus]
    sub_items: tuple[SubItem, ...]
    is_planned: bool

    @cached_property
    def frontier(self) -> Frontier:
        judged = self._judgements()
        # Stand-ins are judged for what comes after them; nobody ever visits one.
        real = {at: judgement for at, judgement in judged.items() if not self._is_stand_in(at)}
        dead_ends = tuple(
            at for at, judgement in real.items() if judgement is _Judgement.SUCCEEDED and self._is_stuck(at)
        )
        settled = {_Judgement.SUCCEEDED, _Judgement.SKIPPED, _Judgement.VACUOUS}
        return Frontier(
            ready=self._startable([at for at, judgement in real.items() if judgement is _Judgement.READY]),
            skipped=frozenset(at for at, judgement in real.items() if judgement is _Judgement.SKIPPED),
            blocked={
                at: judgement
                for at, judgement in real.items()
                if isinstance(judgement, Instance) and at not in self.status
            },
            finished=not dead_ends and all(judgement in settled for judgement in judged.values()),
            dead_ends=dead_ends,
            held={at: last for at, last in self._held.items() if at not in self.status},
            to_stop=tuple(at for at in real if at in self._aborted and at in self.status),
        )

    def _judgements(self) -> dict[Instance, "_Judgement | Instance"]:
        keys: list[SubItemKey | None] = [item.key for item in self.sub_items]
        judged: dict[Instance, _Judgement | Instance] = {}
        # Without sub-items a node stands in for its own, so that what joins them has something to wait for.
        for at in _in_order(self.pipeline, keys or [None]):
            judged[at] = self._judge(at, judged)
        return judged

    def _judge(
        self, at: Instance, judged: Mapping[Instance, "_Judgement | Instance"]
    ) -> "_Judgement | Instance":
        match self.status.get(at):
            case InstanceStatus.SUCCEEDED:
                return _Judgement.SUCCEEDED
            # The instance itself: those that wait for it pass it on as the one to blame.
            case InstanceStatus.FAILED:
                return at
            case InstanceStatus.RUNNING | InstanceStatus.WAITING_GATE | InstanceStatus.ROUTING:
                return _Judgement.ACTIVE
            case None:
                return self._aborted.get(at) or self._judge_unstarted(at, judged)

    def _judge_unstarted(
        self, at: Instance, judged: Mapping[Instance, "_Judgement | Instance"]
    ) -> "_Judgement | Instance":
        decided = [self._decided(ref, judged[source]) for ref, source in self._incoming(at)]
        # A failure first: with one, no other edge makes the node ready any more.
        if culprit := next((each for each in decided if isinstance(each, Instance)), None):
            return culprit
        # As long as one edge is open, nobody knows whether this is a join or a dead path.
        if None in decided:
            return _Judgement.PENDING
        # No edge leads to the start, and it runs all the same.
        if EdgeMark.TAKEN not in decided and at.node != self.pipeline.start:
            return _Judgement.SKIPPED
        if self._is_stand_in(at):
            return _Judgement.VACUOUS if self.is_planned else _Judgement.PENDING
        return self._after_others(at, judged)

    def _decided(self, ref: EdgeRef, source: "_Judgement | Instance") -> EdgeMark | Instance | None:
        match source:
            case Instance():
                return source
            case _Judgement.SKIPPED:
                return EdgeMark.DEAD
            case _Judgement.VACUOUS:
                return EdgeMark.TAKEN
            case _Judgement.SUCCEEDED:
                return self.marks.get(ref)
            case _:
                return None

    def _after_others(
        self, at: Instance, judged: Mapping[Instance, "_Judgement | Instance"]
    ) -> "_Judgement | Instance":
        depends_on = self._by_key[at.sub_item].depends_on if at.sub_item is not None else ()
        others = [judged[Instance(node, key)] for key in depends_on for node in self.pipeline.sub_item_exits]
        # Where its loop is being walked, a result that was kept may decide its edges before the loop has come by.
        others += [judged[Instance(node, at.sub_item)] for node in self.pipeline.repeats.get(at.node, ())]
        if culprit := next((each for each in others if isinstance(each, Instance)), None):
            return culprit
        done = all(each in {_Judgement.SUCCEEDED, _Judgement.SKIPPED} for each in others)
        return _Judgement.READY if done and at not in self._held else _Judgement.PENDING

    def _incoming(self, at: Instance) -> Iterable[tuple[EdgeRef, Instance]]:
        for edge in self.pipeline.forward_to(at.node):
            for key in self._source_keys(edge, at):
                yield EdgeRef(edge.id, key), Instance(edge.source, key)

    def _source_keys(self, edge: Edge, at: Instance) -> Sequence[SubItemKey | None]:
        if not self.pipeline.is_sub_item(edge.source):
            return (None,)
        if self.pipeline.is_sub_item(at.node):
            return (at.sub_item,)
        return [item.key for item in self.sub_items] or [None]

    def _is_stand_in(self, at: Instance) -> bool:
        """Whether it stands for the sub-items that are not there (yet)."""
        return at.sub_item is None and self.pipeline.is_sub_item(at.node)

    def _is_stuck(self, at: Instance) -> bool:
        marks = [
            self.marks.get(EdgeRef(edge.id, at.sub_item)) for edge in self.pipeline.forward_from(at.node)
        ]
        return bool(marks) and None not in marks and EdgeMark.TAKEN not in marks

    def _startable(self, ready: Sequence[Instance]) -> tuple[Instance, ...]:
        if self.pipeline.settings.parallel_sub_items:
            return tuple(ready)
        # One sub-item at a time: the one somebody works on goes on, else the first that is ready begins.
        # A gate is no work: while people look at one sub-item, the next one may begin.
        at_work = {InstanceStatus.RUNNING, InstanceStatus.ROUTING}
        running = [at for at, known in self.status.items() if known in at_work]
        busy = next((at.sub_item for at in (*running, *ready) if at.sub_item is not None), None)
        return tuple(at for at in ready if at.sub_item in {None, busy})

    @cached_property
    def _by_key(self) -> Mapping[SubItemKey, SubItem]:
        return {item.key: item for item in self.sub_items}

    @cached_property
    def _held(self) -> Mapping[Instance, Instance]:
        """Whatever an instance at work may lead back over -> that instance."""
        active = {InstanceStatus.RUNNING, InstanceStatus.WAITING_GATE, InstanceStatus.ROUTING}
        return {
            Instance(node, last.sub_item): last
            for last, known in self.status.items()
            if known in active
            for node in self.pipeline.repeats.get(last.node, ())
        }

    @cached_property
    def _aborted(self) -> Mapping[Instance, Instance]:
        """Whatever else the sources of a failed node started, when that node aborts its siblings -> that node."""
        aborted: dict[Instance, Instance] = {}
        for failed, known in self.status.items():
            if (
                known is not InstanceStatus.FAILED
                or not self.pipeline.node(failed.node).abort_siblings_on_failure
            ):
                continue
            for ref, source in self._incoming(failed):
                # An edge that was not taken started nothing that could be stopped.
                if self.marks.get(ref) is EdgeMark.TAKEN:
                    aborted |= dict.fromkeys(self._unfinished_after(source, failed), failed)
        return aborted

    def _unfinished_after(self, source: Instance, failed: Instance) -> Iterable[Instance]:
        over = {InstanceStatus.SUCCEEDED, InstanceStatus.FAILED}
        for node in self.pipeline.downstream_of(source.node):
            keys: Sequence[SubItemKey | None] = (None,)
            if self.pipeline.is_sub_item(node):
                keys = (
                    [failed.sub_item]
                    if failed.sub_item is not None
                    else [item.key for item in self.sub_items]
                )
            yield from (at for key in keys if self.status.get(at := Instance(node, key)) not in over)


def _in_order(pipeline: Pipeline, keys: Sequence[SubItemKey | None]) -> Iterable[Instance]:
    order = pipeline.topological_order
    later = pipeline.after_sub_items
    per_sub_item: list[NodeId] = [node for node in order if pipeline.is_sub_item(node)]
    yield from (Instance(node) for node in order if node not in later and not pipeline.is_sub_item(node))
    yield from (Instance(node, key) for key in keys for node in per_sub_item)
    yield from (Instance(node) for node in order if node in later)
