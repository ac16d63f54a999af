"""What is on record about governed calls: redacted, chained by hashes, one line each; a changed line is found.

Takes secrets out of what is kept and shown: texts by masking, documents also by the names of their keys.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from pydantic import ValidationError

from cogworks.canonical import canonical, sha256
from cogworks.errors import CogworksError
from cogworks.leaving import HIDDEN, MIN_SECRET_CHARS, masked, secrets_of
from cogworks.tools.policy import Decision
from cogworks.vocabulary import Value

_KEYS = re.compile(
    r"secret|token|passw(or)?d|api[_-]?key|private[_-]?key|authorization|cookie|credential", re.IGNORECASE
)


class Redactor:
    """Hides secrets; hiding twice changes nothing."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Args:
        secrets: values that are known to be secret.
        """
        self._known = tuple({secret for secret in secrets if len(secret) >= MIN_SECRET_CHARS})

    def text(self, text: str) -> str:
        """The text with `***` in the place of each secret."""
        return masked(text, self._known)

    def data(self, value: Any) -> Any:
        """The same for every text in a JSON document, and for everything under a key that hints at a secret."""
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {
                    self.text(str(key)): HIDDEN if _is_telling(str(key), each) else self.data(each)
                    for key, each in value.items()
                }
            case list() | tuple():
                return [self.data(each) for each in value]
            case _:
                return value


def redactor_of(environment: Mapping[str, str]) -> Redactor:
    """Hides the values of variables whose names hint at a secret, and what looks like one."""
    return Redactor(secrets_of(environment))


def _is_telling(key: str, value: Any) -> bool:
    if _KEYS.search(key) is None or isinstance(value, bool | None):
        return False
    # `max_tokens: 500` counts; `token: 500` may open something.
    return not (isinstance(value, int | float) and "tokens" in key.lower())


GENESIS = "0" * 64
MAX_KEPT_CHARS = 32_000
"""A longer document is recorded by its digest alone."""
Kind = Literal[
    "controller_run",
    "plan_considered",
    "plan_step",
    "plan_refused",
    "step_denied",
    "step_waiting",
    "step_started",
    "step_ended",
    "controller_end",
]
Status = Literal["success", "error", "denied", "waiting", ""]


class Identity(Value):
    """Whose calls these are."""

    run_id: str = ""
    node: str = ""
    sub_item: str = ""
    trace_id: str = ""


class Record(Value):
    """One line of the audit; `at_s` and `duration_ms` are the only fields in which equal runs differ, with the hashes."""

    seq: int
    at_s: float
    """Seconds of the clock that the trail was given."""
    run_id: str = ""
    node: str = ""
    sub_item: str = ""
    trace_id: str = ""
    event: Kind
    profile: str = ""
    step: str = ""
    tool: str = ""
    message: str = ""
    input_redacted: Any = None
    input_digest: str = ""
    output_redacted: Any = None
    output_digest: str = ""
    policy_decision: Decision | None = None
    approval: str = ""
    """The hash that a person is asked about, or has answered."""
    code: str = ""
    status: Status = ""
    attempt: int = 0
    delay_s: float = 0.0
    """Waited before this attempt."""
    duration_ms: float = 0.0
    cost: float = 0.0
    error: str = ""
    """The kind of failure."""
    prev_hash: str
    hash: str
    """Over every other field."""


class AuditDamaged(CogworksError):
    """An audit is not what was written; the text names the line and what is wrong with it."""

    def __init__(self, line: int, problem: str) -> None:
        self.line = line
        self.problem = problem
        super().__init__(f"line {line} of the audit {problem}")


def kept_nowhere(record: Record) -> None:
    """For a `Trail` whose records nobody reads after this process."""
    del record


class Trail:
    """Writes one audit, record by record; a record is handed on before anything that it is about may go on."""

    def __init__(
        self,
        identity: Identity,
        *,
        now: Callable[[], float],
        redactor: Redactor,
        keep: Callable[[Record], None],
        max_kept_chars: int = MAX_KEPT_CHARS,
    ) -> None:
        """Args:
        keep: takes each record to where it outlives this process, at once.
        max_kept_chars: of an input or output.
        """
        self._identity = identity.model_dump()
        self._now = now
        self._keep = keep
        self._max_kept_chars = max_kept_chars
        self.redactor = redactor
        self._records: list[Record] = []

    @property
    def records(self) -> tuple[Record, ...]:
        return tuple(self._records)

    def now(self) -> float:
        """Seconds of this trail's clock."""
        return self._now()

    def add(self, event: Kind, **details: Any) -> Record:
        """Write the next record.

        Args:
            details: fields of `Record`; `input` and `output` are redacted, and kept with a digest of what they really were.
        """
        for name in ("input", "output"):
            if name in details:
                details.update(self._document(name, details.pop(name)))
        for name in ("message", "error"):
            if name in details:
                details[name] = self.redactor.text(details[name])
        fields = {
            **self._identity,
            **details,
            "event": event,
            "seq": len(self._records),
            "at_s": round(self._now(), 3),
            "prev_hash": self._records[-1].hash if self._records else GENESIS,
        }
        record = Record(**fields, hash="")
        record = record.model_copy(update={"hash": _hash(record)})
        self._records.append(record)
        self._keep(record)
        return record

    def _document(self, name: str, document: Any) -> dict[str, Any]:
        redacted = self.redactor.data(document)
        kept = redacted if len(canonical(redacted)) <= self._max_kept_chars else HIDDEN
        return {f"{name}_redacted": kept, f"{name}_digest": sha256(canonical(document))}


def line_of(record: Record) -> str:
    """One line without its line feed."""
    return canonical(record.model_dump(mode="json"))


def comparable(record: Record) -> dict[str, Any]:
    """What is equal in two runs with the same input."""
    return record.model_dump(mode="json", exclude={"at_s", "duration_ms", "prev_hash", "hash"})


def read_records(text: str) -> tuple[Record, ...]:
    """The records of an audit.

    Raises:
        AuditDamaged: a line was edited, or one was taken away, added or put elsewhere; the first such line is named.
    """
    lines = text.split("\n")
    if lines.pop() != "":
        raise AuditDamaged(len(lines) + 1, "does not end with a line feed; the audit was cut off inside it")
    records: list[Record] = []
    prev_hash = GENESIS
    for number, line in enumerate(lines, 1):
        record = _record(line, number)
        if record.prev_hash != prev_hash or record.seq != number - 1:
            raise AuditDamaged(
                number,
                f"does not follow the line before it (it is record {record.seq}): one was taken away, added or moved",
            )
        records.append(record)
        prev_hash = record.hash
    return tuple(records)


def is_closed(records: tuple[Record, ...]) -> bool:
    """Whether an audit has its end; without one its last lines may be missing, or its process died."""
    return bool(records) and records[-1].event == "controller_end"


def _record(line: str, number: int) -> Record:
    try:
        data: Mapping[str, Any] = json.loads(line)
        record = Record.model_validate(data)
    except (ValueError, ValidationError, RecursionError):
        raise AuditDamaged(number, "is no record") from None
    if record.hash != _hash(record) or line != line_of(record):
        raise AuditDamaged(number, "was edited: its hash is another")
    return record


def _hash(record: Record) -> str:
    return sha256(canonical(record.model_dump(mode="json", exclude={"hash"})))
