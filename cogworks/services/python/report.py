"""What a pytest run means: from the plugin's lines to results per test, in words that do not vary between runs."""

import hashlib
import hmac
import json
import re
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hmac import compare_digest
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from cogworks.domain_services.messages import EVERYTHING, TestCase, TestReport
from cogworks.services.sandbox.running import Ended

MAX_LINES = 60
_HEAD_LINES = 20
_MAX_LINE_CHARS = 400
_MAX_VERSION_CHARS = 60
# Only what is said of time: a test may well compare the strings '1.5s' and '2.5s'.
_DURATION = re.compile(
    r"(?i)\b((?:in|took|after|elapsed|duration|runtime)\W{1,3})\d+(?:\.\d+)?\s?(?:s|ms|us|secs?|seconds|milliseconds)\b"
)
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}")
_TEMPORARY = re.compile(r"/tmp/[^\s'\",:;()\[\]]+")  # noqa: S108  # text to recognise, not a place to write
_LIBRARY = re.compile(r"(?:/[^\s'\":]{1,400})?/(?:site|dist)-packages/")
_FRAME = re.compile(r"(?P<place>\S+):\d+: in ")
_FOREIGN = ("<python>/", "<library>/")
_NO_CONFTEST = re.compile(r"(?m)^ImportError while loading conftest '(?P<path>[^'\n]+)'")
"""What pytest says of any exception, when it is about a file that it reads before it looks for tests."""
_CRASH = re.compile(r"^Current thread .*:\n(?P<frames>(?:  File .*\n?)+)", re.MULTILINE)
"""How Python says where it was when a signal ended it, the innermost frame first."""
_CRASH_FRAME = re.compile(
    r'^  File "(?P<place>[^"<>\n]+)", line (?P<line>\d+) in (?P<name>.+)$', re.MULTILINE
)
_WORKER = re.compile(r"\[gw\d+\] \S+ -- Python .*")
"""Which process of pytest-xdist ran a test: another one each time."""
_HUNG = re.compile(
    r"(?m)(?:^|: |\()over the time limit of one test, (?:[\d.e+]+ seconds|and it could not be stopped otherwise\))$|\Astill running at the time limit"
)
"""How a message says that a test did not end by itself."""
_LEFT_RUNNING = "still running after the last test, and ended: a thread that a test began does not end"
_CARETS = re.compile(r"\s*[~^]+\s*")

_SEAL_CHARS = 64
NEXT = {"kind": "next"}
"""Stands between the records of two processes of one run."""
_NEXT_LINE = json.dumps(NEXT).encode()
CUT = {"kind": "cut"}
"""Stands after the records of a run that wrote more of them than are read; no plugin may write it."""
_OVER_ITS_TIME = -(signal.SIGRTMIN + 12) if sys.platform == "linux" else None
"""How a process ends whose test cannot be stopped; see `inside/cogworks_time.py`."""

_FIELDS: Mapping[str, Mapping[str, type]] = {
    "start": {"id": str},
    "phase": {"id": str, "when": str, "outcome": str, "text": str},
    "finish": {"id": str},
    "load": {"id": str},
    "loaded": {"id": str},
    "collection": {"id": str, "text": str},
    "passed-over": {"id": str, "text": str},
    "internal": {"text": str},
    "attempt": {"id": str, "text": str},
    "end": {"code": int},
    "next": {},
    "planned": {"tests": list},
    "over": {},
    "tools": {"versions": dict},
    "unmeasured": {"text": str},
    "lines": {"id": str, "lines": dict},
    "step": {"event": str, "artifact": str, "symbol": str},
    "beside": {"artifact": str, "symbol": str, "own": str, "given": str, "outcome": str, "is_value": bool},
    "mutant": {"artifact": str, "line": int, "change": str, "is_noticed": bool},
    "again": {},
    "untried": {"text": str},
    "steps-begin": {"id": str},
    "steps-end": {"is_whole": bool},
    "steps-told": {"id": str, "is_same": bool},
}

Outcome = Literal["passed", "failed", "error", "skipped"]


def read_run(
    records: Sequence[Mapping[str, Any]],
    ended: Sequence[Ended],
    roots: Mapping[str, str],
    *,
    hidden: Mapping[int, str] = MappingProxyType({}),
) -> TestReport:
    """The report of a run from what the plugin wrote, complete or not.

    Args:
        records: as `read_records` gives them.
        ended: how each process of the run ended, at least one; `NEXT` stands between their records.
        roots: absolute directory -> what to print instead.
        hidden: number of a process that was shut out, from 0 -> what it could not load anything of.
    """
    corrected = [
        _with_reported_end(process, own_records)
        for process, own_records in zip(ended, _by_process(records), strict=False)
    ]
    ended = [*corrected, *ended[len(corrected) :]]
    errors = [
        f"{place}: no test could be loaded:\n{stable(ended[number].output, roots)}"
        for number, place in hidden.items()
    ]
    errors += [
        f"{record['id']}: {stable(record['text'], roots)}"
        for record in records
        if record["kind"] == "collection"
    ]
    errors += [
        f"{place}: {_death('while this was loaded', process, roots)}"
        for process, own_records in zip(ended, _by_process(records), strict=False)
        if (place := _loading(own_records)) and not process.timed_out
    ]
    is_known = len(ended) - 1 in hidden
    complaint = None if is_known else _complaint(records, ended[-1], collected=bool(errors))
    if complaint is not None:
        errors.append(stable(complaint, roots))
    cases = (*_cases(records, ended, roots), *_passed_over(records, roots))
    return TestReport(
        cases=cases,
        # Each process of a run meets them again.
        collection_errors=tuple(dict.fromkeys(errors)),
        timed_out=ended[-1].timed_out,
        blocked=(*_attempts(records, roots), *(text for each in ended for text in each.blocked)),
        versions=_versions(records),
        hung=tuple(
            case.id for case in cases if case.outcome in ("failed", "error") and _HUNG.search(case.message)
        ),
    )


def _versions(records: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the plugin said before the first test; what a test may have written later does not count."""
    first = next((record for record in records if record != NEXT), {})
    versions = first["versions"] if first.get("kind") == "tools" else {}
    return {str(tool): str(version)[:_MAX_VERSION_CHARS] for tool, version in versions.items()}


def read_records(lines: Iterable[bytes], keys: Sequence[bytes] = ()) -> list[dict[str, Any]]:
    """What the plugins wrote: one JSON object per line.

    The tests can write there too. Of a record one may rely on what `_FIELDS` says; anything else is left out, and so is a
    half-written last line, and what is not sealed by the key of its process.

    Args:
        keys: of each process, in order, between whose lines `NEXT` stands; none: nothing is sealed.
    """
    records: list[dict[str, Any]] = []
    process = strange = 0
    for line in lines:
        is_next = line == _NEXT_LINE
        process += is_next
        text = line
        if keys and not is_next:
            seal, text = line[:_SEAL_CHARS], line[_SEAL_CHARS + 1 :]
            if not compare_digest(seal, _seal(keys[min(process, len(keys) - 1)], text)):
                strange += line.startswith(b"{")
                continue
        with suppress(ValueError, RecursionError):
            record = json.loads(text)
            if _is_sound(record):
                records.append(record)
    if strange:
        note = f"write {strange} line(s) into the report of the tests, which count for nothing"
        records.insert(0, {"kind": "attempt", "id": "", "text": note})
    return records


def _seal(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).hexdigest().encode()


def _is_sound(record: Any) -> bool:
    fields = _FIELDS.get(str(record.get("kind"))) if isinstance(record, dict) else None
    return fields is not None and all(isinstance(record.get(name), kind) for name, kind in fields.items())


def until_the_last_end(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """These up to the end of the last test that ended."""
    at = next((at for at in reversed(range(len(records))) if records[at]["kind"] == "finish"), -1)
    return records[: at + 1]


def may_go_on(records: Sequence[Mapping[str, Any]], ended: Ended) -> bool:
    """Whether the process died of a test or its runner broke on one, or it died of a file while it loaded that, so that another one may run the others."""
    last = records[-1]["kind"] if records else ""
    finished = {record["id"] for record in records if record["kind"] == "finish"}
    latest = _by_process(records)[-1]
    unfinished = any(record["kind"] == "start" and record["id"] not in finished for record in latest)
    broke = any(test for test, _ in _breaks(latest))
    died = ended.code is not None and not ended.timed_out and (last != "end" or broke)
    return died and (unfinished or bool(_loading(latest)))


def shut_out(records: Sequence[Mapping[str, Any]], ended: Ended, copy: Path) -> str:
    """The folder whose `conftest.py` could not be loaded, so that pytest gave up before it looked for tests; empty: none.

    Args:
        copy: what the folder is relative to.
    """
    match = None if _by_process(records)[-1] else _NO_CONFTEST.search(ended.output)
    folder = Path(match["path"]).parent if match else None
    if folder is None:
        return ""
    return folder.relative_to(copy).as_posix() if folder.is_relative_to(copy) else EVERYTHING


def _with_reported_end(ended: Ended, records: Sequence[Mapping[str, Any]]) -> Ended:
    """A process that was ended after its last test, with the end that it had reported."""
    last = records[-1] if records else {}
    if ended.code != _OVER_ITS_TIME or last.get("kind") != "end":
        return ended
    return ended._replace(code=last["code"], blocked=(*ended.blocked, _LEFT_RUNNING))


def _breaks(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Each error of the runner itself: the test that was running, empty where none was, and what the runner said."""
    running: dict[str, None] = {}
    for record in records:
        if record == NEXT:
            running.clear()
        elif record["kind"] == "start":
            running[record["id"]] = None
        elif record["kind"] == "finish":
            running.pop(record["id"], None)
        elif record["kind"] == "internal":
            yield next(reversed(running), ""), record["text"]


def _by_process(records: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """The records of each process, of the first one first."""
    groups: list[list[Mapping[str, Any]]] = [[]]
    for record in records:
        if record == NEXT:
            groups.append([])
        else:
            groups[-1].append(record)
    return groups


def _loading(records: Sequence[Mapping[str, Any]]) -> str:
    """The file or folder that a process had begun to load last and not ended with; empty: none with a name."""
    begun: dict[str, None] = {}
    for record in records:
        if record["kind"] == "load":
            begun[record["id"]] = None
        elif record["kind"] == "loaded":
            begun.pop(record["id"], None)
    return next(reversed(begun), "")


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
        if not foreign and not _CARETS.fullmatch(line) and not _WORKER.fullmatch(line):
            kept.append(line)
    return kept


def _capped(lines: list[str]) -> list[str]:
    lines = [line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}…" for line in lines]
    if len(lines) > MAX_LINES:
        # The end of a traceback says what failed, its beginning where.
        left_out = len(lines) - MAX_LINES + 1
        return [*lines[:_HEAD_LINES], f"… {left_out} lines left out …", *lines[_HEAD_LINES + left_out :]]
    return lines


def _attempts(records: Sequence[Mapping[str, Any]], roots: Mapping[str, str]) -> list[str]:
    """What the tests tried beyond their isolation."""
    return [
        f"{record['id'] or 'while collecting'}: tried to {_placed(record['text'], roots)}"
        for record in records
        if record["kind"] == "attempt"
    ]


def _cases(
    records: Sequence[Mapping[str, Any]], ended: Sequence[Ended], roots: Mapping[str, str]
) -> tuple[TestCase, ...]:
    process = 0
    died_with: dict[str, Ended] = {}
    phases: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        if record == NEXT:
            process = min(process + 1, len(ended) - 1)
        elif record["kind"] == "start":
            died_with[record["id"]] = ended[process]
            phases.setdefault(record["id"], [])
        elif record["kind"] == "phase":
            phases.setdefault(record["id"], []).append(record)
        elif record["kind"] == "finish":
            died_with.pop(record["id"], None)
    broken = {
        test: f"{_runner(records)} failed itself during this test:\n{text}" for test, text in _breaks(records)
    }
    return tuple(
        _case(test, own_phases, roots)
        if test not in died_with
        else TestCase(id=test, outcome="error", message=stable(broken[test], roots))
        if test in broken
        else _unfinished(test, died_with[test], roots)
        for test, own_phases in phases.items()
    )


def _passed_over(records: Sequence[Mapping[str, Any]], roots: Mapping[str, str]) -> list[TestCase]:
    """The files and classes that were skipped as a whole, each as one test that was."""
    reasons = {record["id"]: record["text"] for record in records if record["kind"] == "passed-over"}
    return [
        TestCase(id=place, outcome="skipped", message=stable(text, roots)) for place, text in reasons.items()
    ]


def _case(test: str, phases: Sequence[Mapping[str, Any]], roots: Mapping[str, str]) -> TestCase:
    for phase in phases:
        if phase["outcome"] == "failed":
            outcome: Outcome = "failed" if phase["when"] == "call" else "error"
            return TestCase(id=test, outcome=outcome, message=stable(phase["text"], roots))
    for phase in phases:
        if phase["outcome"] == "skipped":
            return TestCase(id=test, outcome="skipped", message=stable(phase["text"], roots))
    if not any(phase["outcome"] == "passed" and phase["when"] == "call" for phase in phases):
        return TestCase(id=test, outcome="error", message="nothing says what became of this test")
    return TestCase(id=test, outcome="passed")


def _unfinished(test: str, ended: Ended, roots: Mapping[str, str]) -> TestCase:
    if ended.timed_out:
        return TestCase(id=test, outcome="error", message="still running at the time limit of the whole run")
    return TestCase(id=test, outcome="error", message=_death("during this test", ended, roots))


def _death(moment: str, ended: Ended, roots: Mapping[str, str]) -> str:
    """How a process ended, and where in the code if it said so, as pytest would: the innermost frame last."""
    crash = _CRASH.search(ended.output)
    frames = [
        f"{frame['place']}:{frame['line']}: in {frame['name']}"
        for frame in _CRASH_FRAME.finditer(crash["frames"] if crash else "")
    ]
    sentence = f"the test process ended {moment} ({_end(ended)})"
    return "\n".join([sentence, *stable("\n".join(reversed(frames)), roots).splitlines()])


def _complaint(records: Sequence[Mapping[str, Any]], ended: Ended, *, collected: bool) -> str | None:
    """What went wrong with the run as a whole, None when the tests speak for themselves."""
    if records and records[-1] == CUT:
        return "the tests have more to report than is read of one run: name fewer of them as `command` under `[tests]`"
    internal = [text for test, text in _breaks(records) if not test]
    if internal:
        return f"{_runner(records)} failed itself:\n{internal[0]}"
    finished = any(record["kind"] == "end" for record in records)
    if ended.timed_out or (finished and (ended.code in (0, 1, 5) or (ended.code == 2 and collected))):
        return None
    return f"{_runner(records)} ended early ({_end(ended)}):\n{ended.output}"


def _runner(records: Sequence[Mapping[str, Any]]) -> str:
    """Who ran the tests, as far as it said so."""
    versions = _versions(records)
    if "django" in versions:
        return "Django's runner"
    return "unittest" if versions and "pytest" not in versions else "pytest"


def _end(ended: Ended) -> str:
    if ended.code is None:
        return "; ".join(ended.blocked)
    if ended.code == _OVER_ITS_TIME:
        return "over the time limit of one test, and it could not be stopped otherwise"
    return f"signal {-ended.code}" if ended.code < 0 else f"exit code {ended.code}"
