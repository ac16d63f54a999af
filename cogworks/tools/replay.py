"""Would a recorded plan be made and carried out in the same way again? Read from its audit; no handler is called."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from cogworks.canonical import canonical, sha256
from cogworks.errors import CogworksError
from cogworks.tools.approvals import Answer
from cogworks.tools.calling import Retries
from cogworks.tools.controller import Controller, ControllerPorts
from cogworks.tools.plans import Goal, Preferences
from cogworks.tools.policy import Enforcer
from cogworks.tools.records import Identity, Record, Redactor, Trail, comparable, is_closed, kept_nowhere
from cogworks.tools.registry import Call, Tool, ToolFailed, ToolRegistry
from cogworks.vocabulary import Value


class Replayed(Value):
    """What a replay came to."""

    outcome: Literal["identical", "diverged", "not_kept"]
    records: int
    is_complete: bool
    """The audit has its end."""
    line: int = 0
    """Of the first difference, or of the first document that is not kept."""
    problem: str = ""


class _RecordingEnds(CogworksError):
    """Nothing is on record of what this call came to."""


def replay(records: Sequence[Record], tools: Sequence[Tool], enforcer: Enforcer) -> Replayed:
    """Plan again and carry out with what is on record, under the tools and policies of today."""
    common: dict[str, Any] = {"records": len(records), "is_complete": is_closed(tuple(records))}
    for number, record in enumerate(records, 1):
        if problem := _not_kept(record, number):
            return Replayed(outcome="not_kept", line=number, problem=problem, **common)
    again = _run_again(records, tools, enforcer)
    for number, record in enumerate(records, 1):
        mine = comparable(again[number - 1]) if number <= len(again) else {}
        for field, recorded in comparable(record).items():
            if mine.get(field) != recorded:
                problem = f"`{field}` is {recorded!r} in the audit, {mine.get(field)!r} when replayed"
                return Replayed(outcome="diverged", line=number, problem=problem, **common)
    return Replayed(outcome="identical", **common)


def _not_kept(record: Record, number: int) -> str:
    if number == 1 and not _is_plan(record):
        return "the audit does not begin with a plan's goal"
    pairs = ((record.input_redacted, record.input_digest), (record.output_redacted, record.output_digest))
    if all(not digest or sha256(canonical(kept)) == digest for kept, digest in pairs):
        return ""
    return "a document is too long to be kept, or holds a secret that is not"


def _is_plan(record: Record) -> bool:
    request = record.input_redacted
    return isinstance(request, dict) and {"goal", "metadata", "preferences", "retries"} <= request.keys()


def _run_again(records: Sequence[Record], tools: Sequence[Tool], enforcer: Enforcer) -> tuple[Record, ...]:
    first = records[0]
    request: Mapping[str, Any] = first.input_redacted
    ends = iter([record for record in records if record.event == "step_ended"])
    played = [tool.model_copy(update={"handler": _Recorded(tool.name, ends)}) for tool in tools]
    ports = ControllerPorts(
        registry=ToolRegistry(played),
        enforcer=enforcer,
        approvals=_RecordedAnswers(records),
        retries=Retries.model_validate(request["retries"]),
        sleep=_no_pause,
    )
    identity = Identity.model_validate(first.model_dump(include=set(Identity.model_fields)))
    trail = Trail(identity, now=_no_time, redactor=Redactor(), keep=kept_nowhere)
    controller = Controller(ports, trail)
    try:
        controller.run(
            Goal.model_validate(request["goal"]),
            first.profile,
            metadata=request["metadata"],
            preferences=Preferences.model_validate(request["preferences"]),
        )
    except CogworksError:
        # The recorded run was broken off here as well; what came before is compared.
        return trail.records
    return trail.records


class _Recorded:
    """Stands in for every handler: gives what is on record next."""

    def __init__(self, tool: str, ends: Iterator[Record]) -> None:
        self._tool = tool
        self._ends = ends

    def __call__(self, parameters: dict[str, Any], call: Call) -> Mapping[str, Any]:
        del parameters
        end = next(self._ends, None)
        if end is None or (end.tool, end.step) != (self._tool, call.step):
            raise _RecordingEnds(f"nothing is on record of tool {self._tool!r} in step {call.step!r}")
        if end.status == "success":
            output: Mapping[str, Any] = end.output_redacted
            return output
        if end.error == ToolFailed.__name__:
            raise ToolFailed(end.code, end.message)
        # Only the name of a failure is on record; it is all that another run can be compared by.
        kind = CogworksError if end.code == "interrupted" else Exception
        raise type(end.error, (kind,), {})(end.message)


class _RecordedAnswers:
    """What people had said by the time of the recorded run; its tree is gone, the hashes are on record."""

    def __init__(self, records: Sequence[Record]) -> None:
        requests = [record for record in records if record.approval]
        self._hashes = {
            (record.tool, record.profile, record.input_digest): record.approval for record in requests
        }
        self._answers = {record.approval: record.policy_decision for record in requests}

    def hash_of(self, tool: str, profile: str, parameters: Mapping[str, Any]) -> str:
        return self._hashes.get((tool, profile, sha256(canonical(dict(parameters)))), "")

    def answer(self, name: str) -> Answer:
        match self._answers.get(name):
            case "approved":
                return "approved"
            case "rejected":
                return "rejected"
            case _:
                return "approval_required"


def _no_pause(seconds: float) -> None:
    del seconds


def _no_time() -> float:
    return 0.0
