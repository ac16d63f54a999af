"""What a repair leaves behind for people and programs: the text of each artifact, and why it did not succeed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cogworks.canonical import canonical
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codegen.repair_job import Notes, Tried
from cogworks.cycle.eventlog import segments
from cogworks.cycle.events import Committed, Event, ExecutionComplete, ForcedInjection, Header, Proposed
from cogworks.cycle.results import TERMINAL, Action, TraceEntry
from cogworks.repair.branches import Course
from cogworks.repair.probe.investigating import Findings
from cogworks.repair.proof import markdown, summarised
from cogworks.vocabulary import Value


class Record(Value):
    """One thing that happened."""

    ts: float
    """Seconds since 1970."""
    ts_iso: str
    """The same for people, in UTC."""
    kind: str
    data: dict[str, Any]


class RunLog:
    """Listens to the decisions of one run and tells what happened in it; decisions themselves are another log."""

    def __init__(self) -> None:
        self._began_s = 0.0
        self._action: Action | None = None
        self._reasons: dict[str, str] = {}
        """Slot -> why it was proposed or forced."""
        self._reason = ""

    def records(self, event: Event) -> tuple[Record, ...]:
        """What an event adds; the events of a run are to be given one by one, in their order."""
        body = event.body
        if isinstance(body, Header):
            self._began_s = float(event.wall.get("began_at", 0.0))
            return (self._record(event.wall.get("at_ms", 0.0), "controller.start", _start(body)),)
        if isinstance(body, ForcedInjection):
            self._reasons[body.slot_id] = body.reason
        elif isinstance(body, Proposed) and body.payload is not None:
            self._reasons[body.slot_id] = body.payload.reason
        elif isinstance(body, Committed):
            self._action, self._reason = body.action, self._reasons.get(body.slot_id, "")
        if not isinstance(body, ExecutionComplete):
            return ()
        times = event.wall.get("trace_ms", ())
        added = [
            self._record(at_ms, entry.kind, entry.data)
            for at_ms, entry in zip(times, body.result.trace, strict=True)
        ]
        if self._action in TERMINAL:
            end = {
                "action": self._action,
                "success": self._action is Action.FINALIZE and body.success,
                "reason": body.result.summary or self._reason,
                "cycles": event.cycle,
            }
            added.append(self._record(event.wall.get("at_ms", 0.0), "controller.finish", end))
        return tuple(added)

    def _record(self, at_ms: float, kind: str, data: dict[str, Any]) -> Record:
        return _record_at(self._began_s + at_ms / 1000, kind, data)


def run_log(events: Iterable[Event], unreported: Iterable[TraceEntry] = ()) -> tuple[Record, ...]:
    """The records of a whole run, or of one that was broken off.

    Args:
        unreported: what happened in the action that broke it off; no event reports that.
    """
    log = RunLog()
    records = [record for event in events for record in log.records(event)]
    return (*records, *(_record_at(entry.at_s or 0.0, entry.kind, entry.data) for entry in unreported))


def _record_at(at_s: float, kind: str, data: dict[str, Any]) -> Record:
    ts = round(at_s, 3)
    return Record(ts=ts, ts_iso=datetime.fromtimestamp(ts, UTC).isoformat(), kind=kind, data=data)


def record_line(record: Record) -> str:
    """One line without its line feed."""
    return canonical(record.model_dump(mode="json"))


def _start(header: Header) -> dict[str, Any]:
    return {"item": header.item, "goal": header.task.goal, "limits": header.limits.model_dump(mode="json")}


def dossier(
    events: Sequence[Event], notes: Notes, *, patch: str, unreported: Sequence[TraceEntry] = ()
) -> Mapping[str, str]:
    """File name -> text; what a run did not come to is not there.

    Args:
        unreported: what happened in the action that broke the run off.
    """
    files = {
        **{f"events-{number}.ndjson": text for number, text in enumerate(segments(events), 1)},
        "events.ndjson": "".join(f"{record_line(record)}\n" for record in run_log(events, unreported)),
        "final_patch.txt": patch,
    }
    if notes.localised is not None:
        ranking = notes.localised.ranking
        files["candidates.json"] = _json(
            {
                "suspects": [each.model_dump(mode="json") for each in notes.localised.suspects],
                "weights": dict(ranking.weights),
                "missing": list(ranking.missing),
                "diffs": [each.model_dump(mode="json") for each in notes.proposals],
                "refused": notes.refused,
                "recalled": [each.model_dump(mode="json") for each in notes.recalled],
                "probed": probed(notes.findings),
            }
        )
    if notes.findings is not None:
        files["blackboard.json"] = _json(blackboard_of(notes.findings))
    if notes.planned is not None:
        pattern = notes.planned.pattern
        files["failure_pattern.json"] = _json(pattern.model_dump(mode="json"))
    if notes.understanding is not None:
        files["understanding.json"] = _json(notes.understanding.model_dump(mode="json"))
    if notes.landmarks:
        files["landmarks.json"] = _json([each.model_dump(mode="json") for each in notes.landmarks])
    if notes.courses:
        files["plan.json"] = _json([_course(each) for each in notes.courses])
    if notes.tried:
        files["transactions.json"] = _json([each.model_dump(mode="json") for each in notes.tried])
    if notes.proof is not None:
        files["proof.json"] = _json(notes.proof.model_dump(mode="json"))
        files["proof.md"] = markdown(summarised(notes.proof), whole="`proof.json`")
    return files


def _course(course: Course) -> dict[str, Any]:
    """One turn among the branches: what was followed, what else there was and what was believed of each."""
    branches = [
        {**each.model_dump(mode="json"), "expected_utility": round(each.expected_utility, 6)}
        for each in course.branches
    ]
    left = [[landmark.id for landmark in unit] for unit in course.units]
    fields = course.model_dump(mode="json", exclude={"branches", "units"})
    return {**fields, "units": left, "branches": branches}


def probed(findings: Findings | None) -> list[dict[str, Any]]:
    """Each suspect that was probed, with what is believed of it and the probes."""
    if findings is None:
        return []
    reports = findings.reports
    return [
        {
            "suspect": name,
            "before": findings.before[name],
            "belief": belief,
            "probes": [each.id for each in reports if each.suspect == name],
        }
        for name, belief in findings.beliefs.items()
    ]


def blackboard_of(findings: Findings) -> dict[str, Any]:
    """The content of `blackboard.json`."""
    return {
        "suspects": [{"id": name, "belief": belief} for name, belief in sorted(findings.beliefs.items())],
        "observables": [fact.model_dump(mode="json") for fact in findings.board.facts],
        "probe_patches": [patch.model_dump(mode="json") for patch in findings.patches],
        "invariants": list(findings.invariants),
        "evidence": [report.model_dump(mode="json") for report in findings.reports],
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True) + "\n"


MAX_CHARS = 600
_MAX_ENDED, _MAX_ID = 200, 120
_SEARCHED = ("given_up", "no_valid_patch", "no_suspects")
"""Ends whose reason is that nothing good was found; what was found tells more than the last attempt."""
_GATES = ("gate_static", "gate_landmark", "gate_targeted", "gate_regression", "gate_smoke", "gate_full")


def why_not(notes: Notes, error: str) -> str:
    """The reason in at most `MAX_CHARS` characters; where no diff was given, the error alone.

    Args:
        error: what ended the run, which begins with a code.
    """
    valid = {each.id for each in notes.proposals}
    # A diff that was tried on two trees is one that was not left out.
    untried = len(valid - {each.candidate for each in notes.tried}) + notes.unread
    tried = len(notes.tried)
    failed = sum(not each.result.is_kept for each in notes.tried)
    if not (tried or notes.refused_diffs or untried):
        return _cut(error, MAX_CHARS)
    ended = error.partition(":")[0] if error.startswith(_SEARCHED) else _cut(error, _MAX_ENDED)
    noun = "diff" if tried == 1 else "diffs"
    counts = f"{tried} {noun} tried, {failed} failed, {notes.refused_diffs} refused, {untried} untried"
    outcome = f"{counts} ({ended}). "
    # Of equals the first: it is the one the model believed in most.
    best = max((each for each in notes.tried if not each.result.is_kept), key=_reached, default=None)
    if best is None:
        last = f"Last refusal: {notes.refused[-1]}" if notes.refused else "No diff was refused."
        return outcome + _cut(last, MAX_CHARS - len(outcome))
    hint = _remedy(best)
    return outcome + _cut(_nearest(best, notes), MAX_CHARS - len(outcome) - len(hint)) + hint


def _nearest(best: Tried, notes: Notes) -> str:
    diffs = {each.id: each.diff for each in notes.proposals}
    places = [
        f"{file.path}:{file.hunks[0].old_start}" if file.hunks else file.path
        for file in parse_diff(diffs.get(best.candidate, "")).diff.files
    ]
    reasons = "; ".join(best.result.reasons) or best.result.code
    return f"Nearest miss: {', '.join(places) or best.landmark}: {best.result.code}: {reasons}"


def _remedy(best: Tried) -> str:
    """What to do where a change repairs some tests and makes nothing worse, and other tests were wanted too."""
    result = best.result
    if result.code != "gate_targeted" or result.worse or not (result.before and result.after):
        return ""
    repaired = sorted(result.before.failing & result.after.passing)
    if not repaired:
        return ""
    more = f" and {len(repaired) - 1} more" if len(repaired) > 1 else ""
    return f" It repairs {_cut(repaired[0], _MAX_ID)}{more}; where the others are out of reach, name those with `--test`."


def _reached(tried: Tried) -> tuple[int, int]:
    """How far a diff came: the gate that stopped it, and how few tests failed with it there."""
    code, after = tried.result.code, tried.result.after
    gate = _GATES.index(code) if code in _GATES else -1
    return gate, -len(after.failing) if after else 0


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
