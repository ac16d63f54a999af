"""A lease that is held: one visit from its claim to its record, renewed, checkpointed and given up in one place.

Its age goes by GitHub's clocks and nobody else's. It is renewed from a thread of its own while the node blocks. How long a lease
lasts, and when it may be taken over, `pipeline.visits` says.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from threading import Event, RLock, Thread
from types import TracebackType
from typing import Protocol, Self, TypeVar

from cogworks.errors import CogworksError, LostRace, VisitStopped
from cogworks.ledger.record import Change, LedgerCommit, StaleTip, Tip, change_for, ledger_branch, read_state
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import Lease
from cogworks.vocabulary import CommitOid, VisitKey


def lease_ages_s(
    leases: Iterable[Lease], history: Iterable[tuple[str, datetime]], *, server_date: datetime
) -> Mapping[VisitKey, float]:
    """Seconds since each lease was last heard of.

    Args:
        history: message and committed date of the ledger's commits, newest first.
        server_date: the `Date` header of the answer that carried them; no client clock takes part.

    A lease whose visit key is in none of the messages is absent: nobody has heard of it for longer than the
    history reaches, so it is stale.
    """
    newest: dict[VisitKey, datetime] = {}
    keys = {lease.visit_key for lease in leases}
    for message, committed in history:
        for key in keys - newest.keys():
            # The whole key of 64 digits: nothing else in a message is taken for it.
            if key in message:
                newest[key] = committed
    return {key: max(0.0, (server_date - committed).total_seconds()) for key, committed in newest.items()}


MAX_RECORD_TRIES = 5
RELEASED = "released"
"""The verb under which a visit is given back."""


class Store(Protocol):
    """A ledger branch that moves by compare-and-swap."""

    def tip(self) -> Tip | None: ...
    def append(self, tip: CommitOid, change: Change, *, echoes: Sequence[str] = ()) -> LedgerCommit: ...


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What one move of the ledger records of a visit."""

    state: RunState
    verb: str
    """What became of the visit, for the message."""
    files: Mapping[str, str] = field(default_factory=dict)
    waits_for: str = ""
    """What the run rests on from then on."""
    edges: str = ""
    """Which edges were looked at."""


EntryT = TypeVar("EntryT", bound=Entry)


class VisitLease:
    """Holds the lease of one visit; safe to use from the node's thread and the heartbeat's at once.

    Args:
        state: as committed by the claim, the lease included.
        tip: the claim's commit.
        stopped_by: why the visit has to stop, given what other runners recorded meanwhile; empty = it may go on.
    """

    def __init__(
        self,
        store: Store,
        *,
        state: RunState,
        tip: CommitOid,
        lease: Lease,
        stopped_by: Callable[[RunState], str] = lambda _: "",
    ) -> None:
        self._store = store
        self._stopped_by = stopped_by
        self._lock = RLock()
        self._sequence = 0
        self._pending: dict[str, str] = {}
        self._learned: tuple[Callable[[RunState], RunState], ...] = ()
        self._lost = ""
        self._stop_reason = ""
        self.state = state
        self.tip = tip
        self.lease = lease
        self.spent = lease.spent

    @property
    def is_lost(self) -> bool:
        """True when the lease is known to be somebody else's."""
        return bool(self._lost)

    @property
    def stop_reason(self) -> str:
        """Why the visit has to end although it is ours; empty while it may go on."""
        return self._stop_reason

    @property
    def has_pending(self) -> bool:
        """True when paid replies, other files of the visit or what it learned are not in the ledger yet."""
        return bool(self._pending or self._learned)

    def check(self) -> None:
        """Raise LostRace when the visit is no longer ours, its VisitStopped when a person wants it to stop."""
        if self._lost:
            raise LostRace(self._lost)
        if self._stop_reason:
            raise VisitStopped(self._stop_reason)

    def spend(self, more: Spend, files: Mapping[str, str]) -> Spend:
        """Note a paid call and the files that keep its reply; returns what is not in the ledger yet."""
        with self._lock:
            self.spent = self.spent + more
            self._pending.update(files)
            return self.unrecorded

    @property
    def unrecorded(self) -> Spend:
        """What the visit has cost beyond what the ledger says of it."""
        return self.spent - self.held.spent

    def keep(self, files: Mapping[str, str]) -> None:
        """Have files committed with the next move of the ledger, in place of earlier ones of the same path."""
        with self._lock:
            self._pending.update(files)

    def learn(self, change: Callable[[RunState], RunState]) -> None:
        """Have a change of the state committed with the next move of the ledger; made again on whatever is read anew."""
        with self._lock:
            self._learned = (*self._learned, change)

    def checkpoint(
        self,
        *,
        stop_labels: frozenset[str] = frozenset(),
        reserving: Callable[[RunState], RunState] = lambda state: state,
    ) -> None:
        """Renew the lease; what was paid for since the last time goes into the same commit.

        Args:
            reserving: what the visit sets aside from now on, on whatever state is the newest; what it raises, nothing is
                committed of.
            stop_labels: labels on the issue with which a person stops the node; `check` raises from then on.

        Raises:
            LostRace: the lease is somebody else's, a person stopped the node before, or five races were lost in a row.
        """
        with self._lock:
            self.check()
            _, commit = self._commit(
                lambda state: Entry(
                    state=reserving(state.checkpointed(self.lease, self.spent)), verb="checkpoint"
                )
            )
            self._pending = {}
            # The commit's answer brings the issue along, so that listening to people costs no request.
            if not commit.issue_is_open:
                self._stop_reason = "the issue was closed while its node ran; nothing was published"
            elif stopping := sorted(stop_labels & commit.labels):
                self._stop_reason = (
                    f"the label {stopping[0]!r} was set while the node ran; nothing was published"
                )

    def reread(self) -> None:
        """Look at what the ledger says now.

        Raises:
            LostRace: as `checkpoint`.
        """
        with self._lock:
            self._reread()
            self.check()

    def finish(self, ending: Callable[[RunState], EntryT]) -> EntryT:
        """Commit the visit's end and return it as it was committed.

        Args:
            ending: the end as it is recorded on a state; asked again where a lost race has shown a newer one and the
                lease stands.

        Raises:
            LostRace: the lease is somebody else's by now, what the re-read showed stops the visit, or five races were
                lost in a row.
        """
        with self._lock:
            entry, _ = self._commit(ending)
            self._pending = {}
            return entry

    @property
    def held(self) -> Lease:
        """The lease as the newest state has it."""
        return next(
            (lease for lease in self.state.leases if lease.visit_key == self.lease.visit_key), self.lease
        )

    def _commit(self, recording: Callable[[RunState], EntryT]) -> tuple[EntryT, LedgerCommit]:
        for _ in range(MAX_RECORD_TRIES):
            # A new number for every try: after a lost answer the message says whether this very try moved the branch.
            self._sequence += 1
            entry = recording(reduce(lambda state, change: change(state), self._learned, self.state))
            change = change_for(
                entry.state,
                self.lease,
                entry.verb,
                {**self._pending, **entry.files},
                sequence=self._sequence,
                waits_for=entry.waits_for,
                edges=entry.edges,
            )
            try:
                commit = self._store.append(self.tip, change)
            except StaleTip:
                self._reread()
                if entry.verb != RELEASED:
                    # Giving the visit back is what a stop asks for.
                    self.check()
                continue
            self.state, self.tip, self._learned = entry.state, commit.oid, ()
            return entry, commit
        raise LostRace(
            f"the ledger moved {MAX_RECORD_TRIES} times while {self.lease.node} was being recorded; run it again."
        )

    def _reread(self) -> None:
        branch = ledger_branch(self.state.issue)
        tip = self._store.tip()
        if tip is None:
            self._lost = f"branch {branch!r} is gone, so the result of {self.lease.node} was thrown away."
            raise LostRace(self._lost)
        state = read_state(tip.state_text, branch=branch)
        # Not by its visit key alone: an heir goes on under the same one.
        if not state.lease_stands(self.lease):
            self._lost = (
                f"another runner took over {self.lease.node}, so the result of this one was thrown away."
            )
            raise LostRace(self._lost)
        self.state, self.tip = state, tip.oid
        # The first reason stays: the visit is given back with it.
        self._stop_reason = self._stop_reason or self._stopped_by(state)


class Heartbeat:
    """Calls `renew` every `interval_s` seconds until it is left; a renewal that fails is left to the next one.

    The failure that matters, a lease that is gone, is remembered by the keeper and raised in the node's own thread.
    """

    def __init__(self, renew: Callable[[], None], *, interval_s: float, warn: Callable[[str], None]) -> None:
        self._renew = renew
        self._interval_s = interval_s
        self._warn = warn
        # An event and no sleep: who leaves does not wait for the rest of an interval.
        self._over = Event()
        # A daemon: a process that ends does not wait for the next beat.
        self._thread = Thread(target=self._beat, name="lease-heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        # What comes next ends the lease: no renewal may still be under way then.
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(self._interval_s):
            try:
                self._renew()
            except CogworksError as error:
                self._warn(f"the lease could not be renewed: {error}")
