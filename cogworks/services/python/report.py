"""What a pytest run means: from the plugin's lines to results per test, in words that do not vary between runs."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.services.sandbox.running import Ended

MAX_LINES = 60
_HEAD_LINES = 20
_MAX_LINE_CHARS = 400
# Only what is said of time: a test may well compare the strings '1.5s' and '2.5s'.
_DURATION = re.compile(
    r"(?i)\b((?:in|took|after|elapsed|duration|runtime)\W{1,3})\d+(?:\.\d+)?\s?(?:s|ms|us|secs?|seconds|milliseconds)\b"
)
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}")
_TEMPORARY = re.compile(r"/tmp/[^\s'\",:;()\[\]]+")  # noqa: S108  # text to recognise, not a place to write
_LIBRARY = re.compile(r"(?:/[^\s'\":]+)?/(?:site|dist)-packages/")
_FRAME = re.compile(r"(?P<place>\S+):\d+: in ")
_FOREIGN = ("<python>/", "<library>/")
_CARETS = re.compile(r"\s*[~^]+\s*")

Outcome = Literal["passed", "failed", "error", "skipped"]


def read_run(lines: Iterable[str], ended: Ended, roots: Mapping[str, str]) -> TestReport:
    """The report of a run from what the plugin wrote, complete or not.

    Args:
        lines: one JSON object each; a half-written last one is left out.
        roots: absolute directory -> what to print instead.
    """
    records = _records(lines)
    cases = _cases(records, ended, roots)
    errors = [
        f"{record['id']}: {stable(record['text'], roots)}"
        for record in records
        if record["kind"] == "collection"
    ]
    if (complaint := _complaint(records, ended, collected=bool(errors))) is not None:
        errors.append(stable(complaint, roots))
    return TestReport(
        cases=cases,
        collection_errors=tuple(errors),
        timed_out=ended.timed_out,
        blocked=(*_attempts(records, roots), *ended.blocked),
    )


def stable(text: str, roots: Mapping[str, str]) -> str:
    """A failure's text without what differs between two runs of the same test: places, addresses, durations; capped."""
    text = _LIBRARY.sub("<library>/", _placed(text, roots))
    text = _TEMPORARY.sub("<tmp>", text)
    text = _ADDRESS.sub("at 0x…", text)
    text = _DURATION.sub(r"\1…", text)
    return "\n".join(_capped(_own_frames(text.strip().splitlines())))


def _placed(text: str, roots: Mapping[str, str]) -> str:
    for root in sorted(roots, key=len, reverse=True):
        text = text.replace(f"{root}/", roots[root]).replace(root, roots[root].rstrip("/") or ".")
    return text


def _own_frames(lines: list[str]) -> list[str]:
    """Without the frames of Python and its libraries, and without markers that only some versions print."""
    kept: list[str] = []
    foreign = False
    for line in lines:
        if (frame := _FRAME.match(line)) is not None:
            foreign = frame["place"].startswith(_FOREIGN)
        elif not line.startswith(" "):
            foreign = False
        if not foreign and not _CARETS.fullmatch(line):
            kept.append(line)
    return kept


def _capped(lines: list[str]) -> list[str]:
    lines = [line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}…" for line in lines]
    if len(lines) > MAX_LINES:
        # The end of a traceback says what failed, its beginning where.
        left_out = len(lines) - MAX_LINES + 1
        return [*lines[:_HEAD_LINES], f"… {left_out} lines left out …", *lines[_HEAD_LINES + left_out :]]
    return lines


def _records(lines: Iterable[str]) -> list[dict[str, Any]]:
    records = []
    for line in lines:
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            # Only the line being written when the process was killed can be broken.
            break
    return records


def _attempts(records: list[dict[str, Any]], roots: Mapping[str, str]) -> list[str]:
    """What the tests tried beyond their walls."""
    return [
        f"{record['id'] or 'while collecting'}: tried to {_placed(record['text'], roots)}"
        for record in records
        if record["kind"] == "attempt"
    ]


def _cases(records: list[dict[str, Any]], ended: Ended, roots: Mapping[str, str]) -> tuple[TestCase, ...]:
    started = [record["id"] for record in records if record["kind"] == "start"]
    finished = {record["id"] for record in records if record["kind"] == "finish"}
    phases: dict[str, list[dict[str, Any]]] = {test: [] for test in started}
    for record in records:
        if record["kind"] == "phase":
            phases.setdefault(record["id"], []).append(record)
    return tuple(
        _case(test, found, roots) if test in finished else _unfinished(test, ended)
        for test, found in phases.items()
    )


def _case(test: str, phases: list[dict[str, Any]], roots: Mapping[str, str]) -> TestCase:
    for phase in phases:
        if phase["outcome"] == "failed":
            outcome: Outcome = "failed" if phase["when"] == "call" else "error"
            return TestCase(id=test, outcome=outcome, message=stable(phase["text"], roots))
    for phase in phases:
        if phase["outcome"] == "skipped":
            return TestCase(id=test, outcome="skipped", message=stable(phase["text"], roots))
    return TestCase(id=test, outcome="passed")


def _unfinished(test: str, ended: Ended) -> TestCase:
    if ended.timed_out:
        return TestCase(id=test, outcome="error", message="still running at the time limit of the whole run")
    return TestCase(
        id=test, outcome="error", message=f"the test process ended during this test ({_end(ended)})"
    )


def _complaint(records: list[dict[str, Any]], ended: Ended, *, collected: bool) -> str | None:
    """What went wrong with the run as a whole, None when the tests speak for themselves."""
    internal = [record["text"] for record in records if record["kind"] == "internal"]
    if internal:
        return f"pytest failed itself:\n{internal[0]}"
    finished = any(record["kind"] == "end" for record in records)
    if ended.timed_out or (finished and (ended.code in (0, 1, 5) or (ended.code == 2 and collected))):
        return None
    return f"pytest ended early ({_end(ended)}):\n{ended.output}"


def _end(ended: Ended) -> str:
    if ended.code is None:
        return "; ".join(ended.blocked)
    return f"signal {-ended.code}" if ended.code < 0 else f"exit code {ended.code}"
