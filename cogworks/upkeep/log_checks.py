"""Are the event logs of coding visits whole, and was every decision in them made alone?

Are the audits of governed calls whole, and do those of finished visits have their end?
"""

import json
import re
from collections.abc import Iterable, Mapping

from cogworks.cycle.eventlog import LogDamaged, read_events, segment_names, text_of
from cogworks.cycle.monitor import verify_seriality
from cogworks.ledger.invariants import REVERT, Finding
from cogworks.tools.records import AuditDamaged, is_closed, read_records


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
        if (found := _AUDIT.fullmatch(path)) is None:
            continue
        if problem := _problem(files[path], has_output=f"{found[1]}/output.json" in files):
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
