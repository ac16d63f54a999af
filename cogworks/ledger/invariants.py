"""What must be true of every ledger: rules over its state, its history and its files, each broken one a finding."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

from cogworks.ledger.history import ENDINGS, Entry
from cogworks.pipeline.elements import place_of
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.people import INPUTS_NODE
from cogworks.pipeline.state import RunState, edge_key, visit_key
from cogworks.pipeline.visits import MAX_ATTEMPTS, Lease, VisitRecord
from cogworks.vocabulary import CommitOid, IssueNumber, SubItemKey, Value

REVERT = (
    "look at the commit with `cogworks log`, undo it with `git revert` on the ledger branch, and check again"
)
RESTART = "set the label `cogworks:restart` to begin a new run, which keeps this history"


class Finding(Value):
    """One thing that is not as it must be."""

    kind: Literal["ledger", "graph", "link", "view", "stray", "configuration"]
    """`view` and `link`: `--repair` puts them right; the others are never touched."""
    rule: str
    """A stable name, e.g. `visit_key`."""
    object: str
    """What is wrong: a visit, a commit, a file, a label, an issue."""
    problem: str
    remedy: str
    """What to do next."""

    @property
    def can_be_repaired(self) -> bool:
        return self.kind in ("view", "link")


class Link(Value):
    """One commit of the ledger with its parents."""

    entry: Entry
    parents: tuple[CommitOid, ...]


def check_identity(state: RunState, *, repository_id: str, issue: IssueNumber) -> Iterable[Finding]:
    """The state is of this very work item."""
    if (state.repository_id, state.issue) != (repository_id, issue):
        yield _ledger(
            "identity",
            "state.json",
            f"is of issue #{state.issue} in repository {state.repository_id}, not of #{issue} in {repository_id}",
            REVERT,
        )


def check_visits(state: RunState) -> Iterable[Finding]:
    """Visits and leases have keys that recompute, indices of their own, and make sense in themselves."""
    holders = _every(state)
    for each in holders:
        if each.sub_item is not None and each.sub_item not in _keys(state):
            yield _ledger(
                "plan",
                _name(each),
                f"belongs to sub-work-item {each.sub_item!r}, which is not in the plan",
                REVERT,
            )
        if each.visit_key != visit_key(state, each.instance, each.index):
            yield _ledger("visit_key", _name(each), "has a visit key that does not match the visit", REVERT)
        if each.index < 1 or each.attempt < 1:
            problem = f"has index {each.index} and attempt {each.attempt}; both count from 1"
            yield _ledger("visit", _name(each), problem, REVERT)
    for folded in state.folded:
        if folded.sub_item is not None and folded.sub_item not in _keys(state):
            problem = f"belong to sub-work-item {folded.sub_item!r}, which is not in the plan"
            yield _ledger("plan", f"folded visits of {_at(folded.instance)}", problem, REVERT)
    indices = [each.index for each in holders] + [index for each in state.folded for index in each.indices]
    for index, count in Counter(indices).items():
        if count > 1:
            yield _ledger("index", f"visit {index}", f"is there {count} times", REVERT)
    yield from _check_leases(state)


def check_plan(state: RunState) -> Iterable[Finding]:
    """Sub-work-items are numbered in dependency order and build only on earlier ones; pull requests have one slug each."""
    earlier: set[SubItemKey] = set()
    for place, item in enumerate(state.sub_items or (), start=1):
        if item.ordinal != place:
            problem = f"has ordinal {item.ordinal} but is number {place} of the plan"
            yield _ledger("plan", f"sub-work-item {item.key}", problem, REVERT)
        if unknown := sorted(set(item.depends_on) - earlier):
            problem = f"depends on {', '.join(unknown)}, which is not before it in the plan"
            yield _ledger("plan", f"sub-work-item {item.key}", problem, REVERT)
        earlier.add(item.key)
    for slug, count in Counter(pull.slug for pull in state.pull_requests).items():
        if count > 1:
            yield _ledger("pull_requests", slug, f"has {count} pull requests in the state", REVERT)


def check_graph(state: RunState, pipeline: Pipeline) -> Iterable[Finding]:
    """Everything that names a part of the graph names one that is there."""
    if state.graph_hash != pipeline.graph_hash:
        yield Finding(
            kind="graph",
            rule="graph_hash",
            object=f"pipeline {state.pipeline}",
            problem=f"changed since the run began (graph {state.graph_hash[:12]}, now {pipeline.graph_hash[:12]})",
            remedy=f"restore `.cogworks/pipeline.toml`, or {RESTART}",
        )
        return
    nodes = {node.id for node in pipeline.nodes}
    for each in _every(state):
        # A run that was classified anew may have visited nodes of the pipeline it was on before.
        is_gone = isinstance(each, VisitRecord) and each.is_discarded
        if place_of(each.instance).node not in nodes and not is_gone:
            yield _ledger(
                "graph", _name(each), f"belongs to node {each.node!r}, which the graph does not have", REVERT
            )
    keys: list[SubItemKey | None] = [None, *_keys(state)]
    known = {edge_key(edge.id, key) for edge in pipeline.edges for key in keys}
    for mark in sorted(set(state.marks) - known):
        yield _ledger("marks", f"mark {mark!r}", "belongs to no edge of the graph", REVERT)
    limits = {
        edge_key(edge.id, key): edge.rework.max_traversals
        for edge in pipeline.edges
        if edge.rework is not None
        for key in keys
    }
    for counted, times in sorted(state.traversals.items()):
        if counted not in limits:
            yield _ledger(
                "traversals", f"count {counted!r}", "belongs to no rework edge of the graph", REVERT
            )
        elif not 0 <= times <= limits[counted]:
            problem = f"is {times}; the edge may be taken {limits[counted]} times"
            yield _ledger("traversals", f"count {counted!r}", problem, REVERT)


def check_history(
    chain: Sequence[Link], *, root: CommitOid | None, state: RunState | None
) -> Iterable[Finding]:
    """The history is one line from the root, only cogworks wrote it, and it has an entry for every visit in the state.

    Args:
        chain: all of it, newest first.
        root: the tip of the branch that every ledger starts from; None where that branch is gone.
    """
    yield from _check_line(chain, root)
    if state is None:
        return
    yield from _check_runs(chain, state)
    logged = {(m.visit_key, m.verb) for link in chain if (m := link.entry.message) is not None}
    for visit in state.visits:
        if not any((visit.visit_key, verb) in logged for verb in ENDINGS):
            yield _ledger("history", _name(visit), "has no commit that ends it", REVERT)
    for index, at in ((index, each.instance) for each in state.folded for index in each.indices):
        if not any((visit_key(state, at, index), verb) in logged for verb in ENDINGS):
            yield _ledger(
                "history", f"folded visit {index} ({_at(at)})", "has no commit that ends it", REVERT
            )
    for lease in state.leases:
        if (lease.visit_key, "claim") not in logged:
            yield _ledger("history", _name(lease), "has no commit that claims it", REVERT)


def _check_line(chain: Sequence[Link], root: CommitOid | None) -> Iterable[Finding]:
    for newer, older in pairwise(chain):
        if newer.parents != (older.entry.oid,):
            problem = f"has {len(newer.parents)} parents instead of {older.entry.oid[:10]} alone"
            yield _ledger("line", _commit(newer), problem, RESTART)
        if newer.entry.committed_date < older.entry.committed_date:
            yield _ledger("line", _commit(newer), "is older than the commit before it", RESTART)
    if chain and (chain[-1].parents or (root is not None and chain[-1].entry.oid != root)):
        problem = "is where the history begins, but it is not the root of ledgers"
        yield _ledger("root", _commit(chain[-1]), problem, RESTART)
    for link in chain[:-1]:
        if link.entry.message is None:
            yield _ledger(
                "foreign", _commit(link), f"was not written by cogworks: {link.entry.subject!r}", REVERT
            )
    messages = Counter(link.entry.message for link in chain if link.entry.message is not None)
    for message, count in messages.items():
        if count > 1:
            what = f"{message.node} {message.verb} {message.sequence} by {message.holder}"
            yield _ledger("line", what, f"is there {count} times", RESTART)


def _check_runs(chain: Sequence[Link], state: RunState) -> Iterable[Finding]:
    if chain and (newest := chain[0].entry.message) is not None and newest.run_id != state.run_id:
        problem = f"is of run {newest.run_id}, the state of run {state.run_id}"
        yield _ledger("run", _commit(chain[0]), problem, REVERT)
    if state.run_number > 1:
        return
    for link in chain[1:]:
        message = link.entry.message
        if message is not None and message.run_id != state.run_id:
            yield _ledger("run", _commit(link), f"is of another run, {message.run_id}", REVERT)


def _check_leases(state: RunState) -> Iterable[Finding]:
    for instance, count in Counter(lease.instance for lease in state.leases).items():
        if count > 1:
            yield _ledger("lease", _at(instance), f"has {count} leases; one at a time may be held", REVERT)
    for lease in state.leases:
        wrong = [
            word
            for word, is_wrong in (
                ("no holder", not lease.holder),
                (f"ttl {lease.ttl_s}", lease.ttl_s <= 0),
                (f"attempt {lease.attempt} of {MAX_ATTEMPTS}", lease.attempt > MAX_ATTEMPTS),
                ("a negative reservation", lease.reserved_usd < 0 or lease.reserved_tokens < 0),
            )
            if is_wrong
        ]
        if wrong:
            remedy = "let it be taken over: `cogworks run --take-over`"
            yield _ledger("lease", f"lease of {_at(lease.instance)}", f"has {', '.join(wrong)}", remedy)


def _ledger(rule: str, what: str, problem: str, remedy: str) -> Finding:
    return Finding(kind="ledger", rule=rule, object=what, problem=problem, remedy=remedy)


def _every(state: RunState) -> list[VisitRecord | Lease]:
    leases = (*state.leases, *state.given_back)
    # People are answered under a lease of no node, which numbers no visit.
    return [*state.visits, *(lease for lease in leases if lease.node != INPUTS_NODE)]


def _keys(state: RunState) -> list[SubItemKey]:
    return [item.key for item in state.sub_items or ()]


def _name(each: VisitRecord | Lease) -> str:
    return f"visit {each.index} ({_at(each.instance)})"


def _at(instance: Instance) -> str:
    return f"{instance.node}@{instance.sub_item}" if instance.sub_item else str(instance.node)


def _commit(link: Link) -> str:
    return f"commit {link.entry.oid[:10]}"
