"""Checks everything about one work item and puts right what can be: views and links, never the ledger's history.

Event logs of coding visits and audits of governed calls are read, too: whole, and every decision made alone.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cogworks.cycle.eventlog import LogDamaged, read_events, segment_names, text_of
from cogworks.cycle.monitor import verify_seriality
from cogworks.engine.consider import Considered, ReadItem, Reads, Wanted, configured, consider, read_item
from cogworks.errors import ConfigurationError, UsageError
from cogworks.forge.bodies import STATUS_TOPIC
from cogworks.forge.effects import (
    EditComment,
    EditPullRequest,
    Effect,
    LinkDependency,
    PostComment,
    SetBase,
    SetLabels,
)
from cogworks.forge.publication import PublicationContext, Published
from cogworks.forge.snapshot import Snapshot
from cogworks.github.ledger_log import LedgerCopy
from cogworks.ledger.history import entry
from cogworks.ledger.invariants import (
    REVERT,
    Finding,
    Link,
    check_graph,
    check_history,
    check_identity,
    check_plan,
    check_visits,
)
from cogworks.ledger.record import Change, LedgerCommit, LedgerUnreadable, change_for
from cogworks.ledger.visit_folders import check_folders
from cogworks.pipeline.noticing import rest_line
from cogworks.pipeline.people import CommentRef
from cogworks.pipeline.position import Standing, instance_name
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import Lease
from cogworks.tools.records import AuditDamaged, is_closed, read_records
from cogworks.upkeep.surface_checks import Existing, SurfaceFinding, check_surface, unseen
from cogworks.vocabulary import CommitOid, RunId, Value, VisitKey


class Ledger(Protocol):
    """The ledger branch of the item."""

    def append(self, tip: CommitOid, change: Change, *, echoes: Sequence[str] = ()) -> LedgerCommit: ...


class Item(Reads, Protocol):
    """GitHub as a check uses it."""

    def copy(self, snapshot: Snapshot, tip: CommitOid) -> LedgerCopy:
        """The whole ledger at a commit."""

    def existing(self, snapshot: Snapshot, node_ids: Sequence[str]) -> Collection[str]:
        """Those of the ids that still name something; no request for none."""

    def publish(
        self, effects: Sequence[Effect], snapshot: Snapshot, context: PublicationContext
    ) -> Published: ...
    def show(self, effects: Sequence[Effect], snapshot: Snapshot) -> str | None: ...
    def add_sub_issue(self, snapshot: Snapshot, node_id: str) -> None:
        """Put an issue below the item."""


@dataclass(frozen=True)
class CheckPorts:
    """The world as a check uses it."""

    item: Item
    ledger: Callable[[Snapshot], Ledger]
    holder: str
    new_run_id: Callable[[], RunId]


class Checked(Value):
    """What a check came to."""

    findings: tuple[Finding, ...]
    """What is wrong now, after repairs."""
    repaired: tuple[Finding, ...] = ()
    commits: int = 0
    visits: int = 0
    notes: tuple[str, ...] = ()

    def with_findings(self, more: Iterable[Finding]) -> "Checked":
        """The same with more that is wrong."""
        return self.model_copy(update={"findings": (*self.findings, *more)})


def check(ports: CheckPorts, *, repair: bool) -> Checked:
    """Check one work item; with `repair`, put views and links right and check those again.

    Raises:
        CogworksError: GitHub cannot be read, or refused a repair.
    """
    item = _read(ports)
    snapshot = item.snapshot
    if snapshot.ledger is None:
        return Checked(findings=(), notes=("the item has no ledger yet; there is nothing to check",))
    copy = ports.item.copy(snapshot, snapshot.ledger.oid)
    chain = [Link(entry=entry(c.oid, c.committed_date, c.message), parents=c.parents) for c in copy.chain]
    state, unreadable = _state(item)
    checked = Checked(
        findings=(
            *unreadable,
            *check_history(chain, root=snapshot.root_oid, state=state),
            *check_events(copy.files),
            *check_tool_audits(copy.files),
        ),
        commits=len(chain),
        visits=state.ended if state else 0,
    )
    if state is None:
        return checked
    rules, is_legible = _state_rules(snapshot, state)
    checked = checked.with_findings([*rules, *check_folders(state, copy.files)])
    if not is_legible:
        note = (
            "sub-issues, pull requests, labels and comment were not checked, because the state does not say "
            "what they should be"
        )
        return checked.model_copy(update={"notes": (note,)})
    keys = {link.entry.message.visit_key for link in chain if link.entry.message}
    return _with_surface(ports, item, checked, keys, repair=repair)


def _with_surface(
    ports: CheckPorts, item: ReadItem, checked: Checked, keys: Collection[VisitKey], *, repair: bool
) -> Checked:
    seen = consider(item, Wanted(), new_run_id=ports.new_run_id)
    surface = _surface(ports, seen, keys)
    if not repair or not any(finding.can_be_repaired for finding in surface):
        return checked.with_findings(map(_plain, surface))
    notes = _repair(ports, seen, surface, is_sound=not any(f.kind == "ledger" for f in checked.findings))
    after = _surface(ports, consider(read_item(ports.item), Wanted(), new_run_id=ports.new_run_id), keys)
    left = {(finding.rule, finding.object) for finding in after}
    repaired = [_plain(finding) for finding in surface if (finding.rule, finding.object) not in left]
    return checked.with_findings(map(_plain, after)).model_copy(
        update={"repaired": tuple(repaired), "notes": tuple(notes)}
    )


def _read(ports: CheckPorts) -> ReadItem:
    try:
        return read_item(ports.item)
    except LedgerUnreadable:
        # The pull requests that it records cannot be completed; everything else can be checked.
        return ReadItem(ports.item.read())


def _state(item: ReadItem) -> tuple[RunState | None, tuple[Finding, ...]]:
    try:
        return item.known, ()
    except LedgerUnreadable as error:
        finding = Finding(kind="ledger", rule="state", object="state.json", problem=str(error), remedy=REVERT)
        return None, (finding,)


def _state_rules(snapshot: Snapshot, state: RunState) -> tuple[list[Finding], bool]:
    """What is wrong with the state in itself, and whether views can be derived from it."""
    findings = [
        *check_identity(state, repository_id=snapshot.repository.node_id, issue=snapshot.issue.number),
        *check_visits(state),
        *check_plan(state),
        *(
            Finding(kind="ledger", rule="identity", object="state.json", problem=stranger, remedy=REVERT)
            for stranger in snapshot.strangers
        ),
    ]
    try:
        _, pipeline = configured(snapshot, state)
    except (ConfigurationError, UsageError) as error:
        remedy = "put it right on the default branch and check again"
        findings.append(
            Finding(
                kind="configuration",
                rule="configuration",
                object=".cogworks",
                problem=str(error),
                remedy=remedy,
            )
        )
        return findings, False
    if not state.has_begun:
        # It has no graph yet, and its comment is about a repository that was another one.
        return findings, False
    findings += check_graph(state, pipeline)
    return findings, not any(finding.kind == "ledger" for finding in findings)


def _surface(ports: CheckPorts, seen: Considered, keys: Collection[VisitKey]) -> tuple[SurfaceFinding, ...]:
    return check_surface(seen, Existing(ports.item.existing(seen.snapshot, unseen(seen))), keys)


def _repair(
    ports: CheckPorts, seen: Considered, surface: Sequence[SurfaceFinding], *, is_sound: bool
) -> list[str]:
    """Put right what can be; says what was left alone and why."""
    notes: list[str] = []
    effects = [effect for finding in surface if finding.can_be_repaired for effect in finding.effects]
    for finding in surface:
        if finding.adds_sub_issue:
            ports.item.add_sub_issue(seen.snapshot, finding.adds_sub_issue)
    if links := [effect for effect in effects if isinstance(effect, LinkDependency)]:
        snapshot = ports.item.read() if any(finding.adds_sub_issue for finding in surface) else seen.snapshot
        notes += ports.item.publish(links, snapshot, _context(seen.state)).warnings
    if views := [
        effect
        for effect in effects
        if isinstance(effect, SetLabels | EditComment | EditPullRequest | SetBase)
    ]:
        warning = ports.item.show(views, seen.snapshot)
        notes += [warning] if warning else []
    for effect in effects:
        if isinstance(effect, PostComment):
            notes += _post_status(ports, seen, effect, is_sound=is_sound)
    return notes


def _post_status(ports: CheckPorts, seen: Considered, post: PostComment, *, is_sound: bool) -> list[str]:
    """Post the status comment again and note its id in the ledger, as one more commit."""
    ledger = seen.snapshot.ledger
    state = seen.known
    if state is None or ledger is None:
        return []
    if not is_sound:
        return [
            "the status comment was not posted again, because the ledger that would record its id is damaged"
        ]
    if state.leases:
        # A comment has no natural key: only who holds the lease may post one.
        who = ", ".join(f"{lease.holder} on {instance_name(lease.instance)}" for lease in state.leases)
        return [f"the status comment was not posted again while a node runs ({who}); check again later"]
    published = ports.item.publish([post], seen.snapshot, _context(state))
    posted = next(comment for comment in published.comments if comment.topic == STATUS_TOPIC)
    reference = CommentRef(node_id=posted.node_id, database_id=posted.database_id)
    after = state.model_copy(update={"status_comment": reference})
    # A sweep reads the newest message alone: what the item rests on has to stay in it.
    rest = rest_line(Standing(after, seen.facts, seen.pipeline))
    change = change_for(after, _signature(ports, state), "repaired", {}, sequence=0, waits_for=rest)
    ports.ledger(seen.snapshot).append(ledger.oid, change)
    return []


def _context(state: RunState) -> PublicationContext:
    numbers = {item.key: item.number for item in state.sub_items or () if item.number is not None}
    return PublicationContext(identities=state.identities, sub_items=numbers)


def _signature(ports: CheckPorts, state: RunState) -> Lease:
    """Who writes the commit, in the words of a ledger message; no lease is taken."""
    first = state.visits[0]
    return Lease(
        visit_key=first.visit_key,
        index=first.index,
        node=first.node,
        sub_item=first.sub_item,
        ordinal=first.ordinal,
        holder=ports.holder,
        attempt=first.attempt,
        graph_hash=state.graph_hash,
        input_digest=state.issue_digest,
    )


def _plain(finding: SurfaceFinding) -> Finding:
    return Finding.model_validate(finding.model_dump(include=set(Finding.model_fields)))


def check_events(files: Mapping[str, str | None]) -> Iterable[Finding]:
    """What is wrong with the logs among a ledger's files.

    Args:
        files: path -> text; None where GitHub gives none.
    """
    for folder in sorted({name.rpartition("/")[0] for name in segment_names(files)}):
        texts = [files[name] for name in segment_names(n for n in files if n.rpartition("/")[0] == folder)]
        if any(text is None for text in texts):
            yield _finding(folder, "has a segment that GitHub does not give as text")
            continue
        yield from _check(folder, text_of(text or "" for text in texts), files.get(f"{folder}/output.json"))


def _check(folder: str, text: str, output: str | None) -> Iterable[Finding]:
    try:
        events = read_events(text)
    except LogDamaged as damage:
        yield _finding(folder, str(damage))
        return
    for violation in verify_seriality(events):
        yield _finding(folder, f"event {violation.seq} (cycle {violation.cycle}): {violation.problem}")
    promised = _head(output)
    if promised is not None and (not events or events[-1].hash != promised):
        # The chain alone does not show that its end is missing; the output was written when it was there.
        yield _finding(folder, f"the log does not end with event {promised[:12]}, as `output.json` says")


def _head(output: str | None) -> str | None:
    try:
        head = json.loads(output or "null")["cycle"]["events_head"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return head if isinstance(head, str) else None


def _finding(folder: str, problem: str) -> Finding:
    return Finding(
        kind="ledger", rule="events", object=f"{folder}/events-*.ndjson", problem=problem, remedy=REVERT
    )


_AUDIT = re.compile(r"(.*)/tools-[1-9][0-9]*\.ndjson")


def check_tool_audits(files: Mapping[str, str | None]) -> Iterable[Finding]:
    """What is wrong with the audits among a ledger's files.

    Args:
        files: path -> text; None where GitHub gives none.
    """
    for path in sorted(files):
        if (match := _AUDIT.fullmatch(path)) is None:
            continue
        if problem := _problem(files[path], has_output=f"{match[1]}/output.json" in files):
            yield Finding(kind="ledger", rule="tools", object=path, problem=problem, remedy=REVERT)


def _problem(text: str | None, *, has_output: bool) -> str:
    if text is None:
        return "is not given as text by GitHub"
    try:
        records = read_records(text)
    except AuditDamaged as damage:
        return str(damage)
    if has_output and not is_closed(records):
        # The chain alone does not show that its end is missing; the visit came to an end, so has its audit.
        return "has no end, though the visit has an output: its last lines were taken away"
    return ""
