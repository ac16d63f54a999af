"""A ledger that is read and never moved, for a rehearsal of a step."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from cogworks.ledger.record import Change, LedgerCommit, Tip
from cogworks.vocabulary import CommitOid

_NOWHERE = CommitOid("0" * 40)


class ReadsLedger(Protocol):
    """The reading half of a ledger branch."""

    def tip(self) -> Tip | None: ...
    def files(self, paths: Sequence[str]) -> Mapping[str, str]: ...


class StagedLedger:
    """Commits go nowhere, and the files they ask back are read from the branch."""

    def __init__(self, ledger: ReadsLedger) -> None:
        self._ledger = ledger

    def tip(self) -> Tip | None:
        return self._ledger.tip()

    def files(self, paths: Sequence[str]) -> Mapping[str, str]:
        return self._ledger.files(paths)

    def create(self, root: CommitOid, change: Change) -> LedgerCommit:
        del root, change
        return _commit({})

    def append(self, tip: CommitOid, change: Change, *, echoes: Sequence[str] = ()) -> LedgerCommit:
        del tip, change
        return _commit(self._ledger.files(echoes) if echoes else {})


def _commit(echoed: Mapping[str, str]) -> LedgerCommit:
    # As if nobody had touched the issue since the step read it: a rehearsal is stopped by its operator alone.
    return LedgerCommit(oid=_NOWHERE, echoed=echoed, issue_is_open=True, labels=frozenset())
