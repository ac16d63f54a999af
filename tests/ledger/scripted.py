"""A GraphQL client that answers what it was told, and a ledger branch in memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cogworks.errors import CogworksError
from cogworks.ledger.record import Change, LedgerCommit, StaleTip, Tip, state_text
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import CommitOid

FIRST = CommitOid("1" * 40)
NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@dataclass(frozen=True)
class Problem:
    """One entry of `errors`."""

    type: str
    message: str
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True)
class Answer:
    """One answered document."""

    data: Mapping[str, Any]
    errors: Sequence[Problem] = ()
    server_date: datetime = NOW


@dataclass
class ScriptedClient:
    """Gives its answers in their order and keeps what it was asked; an error is raised."""

    answers: list[Answer | CogworksError]
    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer:
        return self._say(document, variables)

    def mutate(self, document: str, variables: Mapping[str, Any]) -> Answer:
        return self._say(document, variables)

    def _say(self, document: str, variables: Mapping[str, Any]) -> Answer:
        self.asked.append((document, variables))
        answer = self.answers.pop(0)
        if isinstance(answer, CogworksError):
            raise answer
        return answer

    @property
    def operations(self) -> list[str]:
        """The name of every document that was sent."""
        return [document.split("(")[0].split()[1] for document, _ in self.asked]


@dataclass
class MemoryStore:
    """A ledger branch: the state at its tip, and every change that moved it."""

    state: RunState
    oid: CommitOid = FIRST
    changes: list[Change] = field(default_factory=list)
    is_open: bool = True
    labels: frozenset[str] = frozenset()
    before_append: Callable[[], None] = lambda: None
    """What happens elsewhere just before a write arrives."""
    failure: CogworksError | None = None
    """Raised by the next write, which does nothing."""
    is_gone: bool = False

    def elsewhere(self, state: RunState) -> None:
        """Another runner moves the branch."""
        self.state = state
        self.oid = CommitOid(f"{int(self.oid, 16) + 1:040x}")

    def tip(self) -> Tip | None:
        if self.is_gone:
            return None
        return Tip(oid=self.oid, state_text=state_text(self.state), history=(), server_date=NOW)

    def append(self, tip: CommitOid, change: Change, *, echoes: Sequence[str] = ()) -> LedgerCommit:
        self.before_append()
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        if self.is_gone or tip != self.oid:
            raise StaleTip("moved")
        self.changes.append(change)
        self.elsewhere(RunState.model_validate_json(change.files["state.json"]))
        return LedgerCommit(oid=self.oid, echoed={}, issue_is_open=self.is_open, labels=self.labels)
