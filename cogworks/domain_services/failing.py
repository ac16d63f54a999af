"""What failing tests say, as a model needs it: ids, assertions, frames of the repository's own code; alike ones once.

Every text has a limit, and what was cut is said where it was cut.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from cogworks.domain_services.messages import TestCase, TestReport, hides_any

MAX_TEXT_CHARS = 3_000
"""Of one failure, about 750 tokens; what was printed meanwhile comes on top of it."""
MAX_PRINTED_CHARS = 1_000
MAX_TOTAL_CHARS = 16_000
"""Of all failures that are shown at once, about 4 000 tokens; of those beyond, only ids and cause are said."""
_WHOLE = 4
"""Causes of one run that are shown as they are; of the further ones only how their message begins."""
_MAX_BRIEF_LINES = 4
MAX_SHOWN = 12
"""Causes of one run that are shown to the one who had it run."""
MAX_IDS = 20
"""Tests that are named where many fail alike."""
MOST_CASES = 3
"""Of the cases of one test that fail in the same place with other values, so many are shown."""
_MOST_FILES = 8
"""Of a run of more, only the sum is said."""
_MAX_CASE_CHARS = 60
_MAX_CAUSE_CHARS, _MAX_ID_CHARS = 300, 300
_BAD = frozenset({"failed", "error"})
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_SECONDS = re.compile(r"\b\d+\.\d+ ?s(econds)?\b")
_MARKERS = re.compile(r"^ *+[\^~][ ^~]*+(?:\n|\Z)", re.MULTILINE)
"""Lines of `^^^` under an expression differ between versions of the interpreter and say nothing new."""
_FRAME = re.compile(r"(?P<file>[^\s:][^:\n]{0,400}):\d+: in ")
_OUTSIDE = re.compile(r"[</]|\.\.[/\\]|[A-Za-z]:\\")
_INSTALLED = re.compile(r"(?:^|[/\\])(?:site-packages|dist-packages|node_modules|\.venv|\.tox)[/\\]")
_STACK = re.compile(
    r"\s+at [^\n]{0,300}(?:node_modules/|node:internal|\b(?:java|jdk|sun|junit|org\.junit)\.|<anonymous>\)?$|\(native\)$)"
)
"""A frame of a runner, or of the language itself, in the languages that write one on a line."""
_LATER = re.compile(
    r"(?:at|from) \S"
    r"|(?:# )?\[?[\w./\\-]{1,300}:\d+(?::\d+)?(?::in [^\n]{0,200})?\]?:?$"
    r"|thread '[^'\n]{0,200}' panicked at \S{1,300}:\d+:\d+:$"
    r"|note: run with `RUST_BACKTRACE"
)
"""Beside the message of most runners: a frame, a place, a hint."""
_TRACEBACK = "Traceback (most recent call last)"
_MESSAGE_LINES = 4
"""Of a message that is not marked, so many are the cause: what was expected stands behind what was asserted."""
_PRINTED = re.compile(r"-{2,} ?Captured [^\n]{1,60}-{2,}$")
_DIFFERS = re.compile(r" *+[+-] ")
_MARK = re.compile(r"E(?:\s+|$)")
_CASE = re.compile(r"(?P<test>[^\[\n]+)\[(?P<values>[^\n]*)\]|(?P<table>[^\n]+::\w+)/(?P<row>[^\n]+)")
"""A case of a test with parameters (`t.py::test_add[1-2]`) or of a table (`add_test.go::TestAdd/small`)."""
_VALUE = re.compile(r"""'[^'\n]*'|"[^"\n]*"|\b0x[0-9a-fA-F]+|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?""")
_UNTELLING = re.compile(
    r"^E {1,12}Use -v to get more diff *+(?:\n|\Z)|^(?P<said>E {1,12}(?:assert |\w*(?:Error|Exception)\b)[^\n]*\n)E *+\n",
    re.MULTILINE,
)
"""What pytest prints that says nothing of a failure: a hint, and the line between what was asserted and how it differs. Any other
empty line may be one of a text that is compared."""
_ASSERTS = re.compile(r"assert\b|Assertion\w*|AssertionError\b")


class Cause(NamedTuple):
    """Failures that ended in the same words."""

    words: str
    ids: tuple[str, ...]
    """Of the tests, or files and folders that could not be loaded, each once."""
    text: str
    """What the first of them said, cut."""


class Alike(NamedTuple):
    """Causes that differ only in values, of the cases of one test; or one cause alone."""

    shown: tuple[Cause, ...]
    others: tuple[str, ...] = ()
    """Ids of the cases that are not shown."""
    summary: str = ""
    """What is not shown, in a sentence; empty where all of it is."""


def cause_of(text: str) -> str:
    """Why a test failed, in the runner's words, on one line; empty where it does not say."""
    lines, _ = _parted(_steady(text))
    blocks = [list(group) for marked, group in groupby(lines, lambda line: bool(_MARK.match(line))) if marked]
    if blocks:
        said = next((each for line in blocks[-1] if (each := _MARK.sub("", line, count=1).strip())), "")
    elif any(_FRAME.match(line) or line.startswith(_TRACEBACK) for line in lines):
        said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    else:
        said = _message_above(lines)
    return _cut(said, _MAX_CAUSE_CHARS)


def _message_above(lines: Sequence[str]) -> str:
    """What a runner says that writes the message first and frames below it; the last line where there is nothing else."""
    texts = [" ".join(line.split()) for line in lines if line.strip()]
    message = [line for line in texts if not _LATER.match(line)]
    return " ".join((message or texts[-1:])[:_MESSAGE_LINES])


def _difference(text: str) -> str:
    """What a message shows line by line of a value and of what it should be: the words above it are the same for all values."""
    lines, _ = _parted(_steady(text))
    return "" if any(_MARK.match(line) for line in lines) else "\n".join(filter(_DIFFERS.match, lines))


def innermost(text: str) -> str:
    """The file of the innermost frame that a failure names, the runner's and installed packages' included; may be empty."""
    lines, _ = _parted(text)
    files = [match["file"] for line in lines if (match := _FRAME.match(line))]
    return files[-1] if files else ""


def is_own(file: str) -> bool:
    """Whether a frame is of the repository, as far as its file shows."""
    return not (_OUTSIDE.match(file) or _INSTALLED.search(file))


def excerpt(text: str) -> str:
    """One failure without frames that are not the repository's, its end where it is long, and the end of what was printed.

    What differs from run to run, addresses and seconds, is left out.
    """
    lines, printed = _parted(
        _UNTELLING.sub(lambda match: match["said"] or "", _MARKERS.sub("", _steady(text)))
    )
    parts = [_end("\n".join(_own(lines)), MAX_TEXT_CHARS)]
    if printed:
        parts.append(f"{printed[0]}\n{_end(chr(10).join(printed[1:]), MAX_PRINTED_CHARS)}")
    return "\n".join(parts)


def causes(failures: Iterable[tuple[str, str]]) -> tuple[Cause, ...]:
    """Failures, id and text, by their cause, in the order in which each cause is met first."""
    failures_by_cause: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for name, text in failures:
        failures_by_cause.setdefault((cause_of(text) or name, _difference(text)), []).append((name, text))
    return tuple(
        Cause(words, tuple(dict.fromkeys(name for name, _ in alike)), excerpt(alike[0][1]))
        for (words, _), alike in failures_by_cause.items()
    )


def alike(all_causes: Iterable[Cause]) -> tuple[Alike, ...]:
    """Causes with those put together that are cases of one test and end in the same place, in the same words but for values."""
    groups: dict[tuple[str, ...], list[Cause]] = {}
    for cause in all_causes:
        groups.setdefault(_kind_of(cause), []).append(cause)
    return tuple(_grouped(kind[0], group) for kind, group in groups.items())


def _grouped(test: str, group: Sequence[Cause]) -> Alike:
    shown, left = tuple(group[:MOST_CASES]), group[MOST_CASES:]
    others = tuple(name for cause in left for name in cause.ids)
    if not others:
        return Alike(shown)
    count = sum(len(cause.ids) for cause in group)
    named = listed([_cut(name.removeprefix(test), _MAX_CASE_CHARS) for name in others])
    summary = f"{count} cases of {test} fail in the same place and differ only in values; {MOST_CASES} are shown. The others: {named}."
    return Alike(shown, others, summary)


def _kind_of(cause: Cause) -> tuple[str, ...]:
    """Equal for the causes that differ only in values: the test, the place, the words without values."""
    cases = [_CASE.fullmatch(name) for name in cause.ids]
    tests = {(case["test"] or case["table"]) if case else "" for case in cases}
    if tests in ({""}, set()) or len(tests) > 1:
        return ("", cause.words, *cause.ids)
    (test,) = tests
    frames = [line for line in cause.text.splitlines() if (at := _FRAME.match(line)) and is_own(at["file"])]
    words = cause.words
    if _ASSERTS.match(words) and frames:
        # The same assertion: what it says is all about values.
        words = "assert"
    for value in sorted(
        {value for case in cases if case for value in _values_in(case)}, key=len, reverse=True
    ):
        words = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "…", words)
    return (test, frames[-1] if frames else "", _VALUE.sub("…", words))


def _values_in(case: re.Match[str]) -> Sequence[str]:
    return [value for value in re.split(r"[-/]", case["values"] or case["row"] or "") if value]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}[…]"


def failing(cases: Sequence[TestCase], blocked: Sequence[str] = ()) -> tuple[str, ...]:
    """Failing tests in words, one text for each cause; of cases of one test that differ only in values some are shown.

    Args:
        blocked: what isolation refused; it is said with the tests that met it, and nowhere else.
    """
    how = {case.id: "failed" if case.outcome == "failed" else "ended with an error" for case in cases}
    entries = []
    for group in alike(causes((case.id, case.message) for case in cases)):
        summary, unshown = group.summary, group.others
        for cause in group.shown:
            first, *others = cause.ids
            head = f"{first} {how[first]}"
            if others:
                head = f"{_together(cause.ids)}. The first"
            head = f"{summary}\n{head}" if summary else head
            entries.append(_Entry(head, cause, _met((*cause.ids, *unshown), blocked)))
            summary, unshown = "", ()
    return tuple(_within(entries))


def _together(ids: Sequence[str]) -> str:
    """Tests that fail alike by their ids; the file of all of them is named once."""
    file, mark, _ = ids[0].partition("::")
    beginning = f"{file}{mark}"
    if not mark or not all(each.startswith(beginning) for each in ids):
        return f"{len(ids)} tests fail alike: {listed(ids)}"
    return f"{len(ids)} tests of {file} fail alike: {listed([each.removeprefix(beginning) for each in ids])}"


def unloaded(errors: Sequence[str], blocked: Sequence[str] = ()) -> tuple[str, ...]:
    """What could not be loaded, in words, one text for each cause; `blocked` is that of `failing`."""
    entries = []
    for cause in causes(_by_place(errors).items()):
        head = "The tests could not be loaded"
        if len(cause.ids) > 1:
            head = f"{len(cause.ids)} files or folders of tests could not be loaded alike: {listed(cause.ids)}. The first"
        entries.append(_Entry(head, cause, _met(("while collecting", *cause.ids), blocked)))
    return tuple(_within(entries))


def _by_place(errors: Sequence[str]) -> dict[str, str]:
    """What was said of each file or folder that could not be loaded; of several things each once, one below the other."""
    texts_by_place: dict[str, str] = {}
    for error in dict.fromkeys(errors):
        place = error.split(":", 1)[0]
        texts_by_place[place] = f"{texts_by_place[place]}\n{error}" if place in texts_by_place else error
    return texts_by_place


def failed_ids(report: TestReport) -> tuple[str, ...]:
    """The tests that failed, then the files and folders that could not be loaded."""
    cases = [case.id for case in report.cases if case.outcome in _BAD]
    return tuple(dict.fromkeys((*cases, *_by_place(report.collection_errors))))


def failures_of(report: TestReport, paths: Collection[str]) -> tuple[str, ...]:
    """What failed of the tests in these files, or kept them from being loaded, in words."""
    cases = [case for case in report.cases if case.outcome in _BAD and case.id.split(":", 1)[0] in paths]
    errors = [error for error in report.collection_errors if hides_any(error, paths)]
    return (*unloaded(errors, report.blocked), *failing(cases, report.blocked))


def in_words(report: TestReport) -> str:
    """A whole run: how many passed, of each file where there are several, and what failed or could not be loaded."""
    bad = [case for case in report.cases if case.outcome in _BAD]
    hidden = len(_by_place(report.collection_errors))
    more = f", {hidden} file(s) or folder(s) not loaded" if hidden else ""
    parts = [_counted(report.cases) + more + _by_file(report.cases)]
    shown = (*unloaded(report.collection_errors, report.blocked), *failing(bad, report.blocked))
    parts += shown[:MAX_SHOWN]
    if len(shown) > MAX_SHOWN:
        parts.append(f"and {len(shown) - MAX_SHOWN} more causes")
    if report.timed_out:
        parts.append("The run did not end in time.")
    if not report.cases and not report.collection_errors:
        parts.append("No test was found under these ids.")
    return "\n\n".join(parts)


def _counted(cases: Sequence[TestCase]) -> str:
    outcomes = Counter("failed" if case.outcome in _BAD else case.outcome for case in cases)
    skipped = f", {outcomes['skipped']} skipped" if outcomes["skipped"] else ""
    return f"{outcomes['passed']} passed, {outcomes['failed']} failed{skipped}"


def _by_file(cases: Sequence[TestCase]) -> str:
    files: dict[str, list[TestCase]] = {}
    for case in cases:
        file, mark, _ = case.id.partition("::")
        files.setdefault(file if mark else "", []).append(case)
    if "" in files or not 1 < len(files) <= _MOST_FILES:
        return ""
    return "".join(f"\n- {file}: {_counted(files[file])}" for file in sorted(files))


def in_figures(failures: Iterable[tuple[str, str]]) -> str:
    """The causes with how often each was met, e.g. `57 × ImportError: …, 1 × ValueError: …`; the most frequent first."""
    by_frequency = sorted(causes(failures), key=lambda cause: -len(cause.ids))
    more = f", and {len(by_frequency) - MAX_IDS} more causes" if len(by_frequency) > MAX_IDS else ""
    return ", ".join(f"{len(cause.ids)} × {cause.words}" for cause in by_frequency[:MAX_IDS]) + more


def listed(ids: Sequence[str]) -> str:
    """Names on one line, very long ones cut, and how many there are beyond the limit."""
    more = f" and {len(ids) - MAX_IDS} more" if len(ids) > MAX_IDS else ""
    return f"{', '.join(_cut(each, _MAX_ID_CHARS) for each in ids[:MAX_IDS])}{more}"


class _Entry(NamedTuple):
    head: str
    cause: Cause
    met: str


def _within(entries: Sequence[_Entry]) -> Iterator[str]:
    """Each failure as a text, within the limit for all of them."""
    left = MAX_TOTAL_CHARS
    for number, each in enumerate(entries):
        text = each.cause.text if number < _WHOLE else _brief(each.cause.text)
        whole = f"{each.head}:\n{text}{each.met}"
        left -= len(whole)
        short = f"{each.head}:\n{each.cause.words}\n[its frames are left out: {MAX_TOTAL_CHARS} characters are shown of others]"
        yield whole if left >= 0 else f"{short}{each.met}"


def _brief(text: str) -> str:
    """A failure of which the last marked lines, else all lines behind the first few, are left out."""
    lines = text.splitlines()
    marked = [number for number, line in enumerate(lines) if _MARK.match(line)]
    first = next((at for at in reversed(marked) if at - 1 not in marked), 0)
    kept = first + _MAX_BRIEF_LINES if marked else 2 * _MAX_BRIEF_LINES
    left = len(lines) - kept
    return text if left <= 1 else "\n".join([*lines[:kept], f"[{left} more lines]"])


def _met(ids: Collection[str], blocked: Sequence[str]) -> str:
    refused = [text for text in blocked if any(text.startswith(f"{each}: ") for each in ids)]
    shown = dict.fromkeys(text.split(": ", 1)[1] for text in refused[:MAX_IDS])
    return f"\nThe isolation around the tests refused this: {'; '.join(shown)}" if refused else ""


def _steady(text: str) -> str:
    return _SECONDS.sub("0s", _ADDRESS.sub("0x", text))


def _parted(text: str) -> tuple[list[str], list[str]]:
    """The lines that say what failed, and those that were printed meanwhile."""
    lines = text.splitlines()
    at = next((number for number, line in enumerate(lines) if _PRINTED.match(line)), len(lines))
    return lines[:at], lines[at:]


def _own(lines: Iterable[str]) -> Iterator[str]:
    """The lines without the frames of the runner and of installed packages; what an assertion says always stays."""
    is_own_frame, left_out = True, 0
    for line in lines:
        frame = _FRAME.match(line)
        is_own_frame = is_own(frame["file"]) if frame else is_own_frame
        is_foreign = not is_own_frame or bool(_STACK.match(line))
        if is_foreign and not _MARK.match(line):
            left_out += bool(frame) or bool(_STACK.match(line))
            continue
        if left_out:
            yield f"[{left_out} frame(s) of the runner or of installed packages]"
            left_out = 0
        yield line
    if left_out:
        yield f"[{left_out} frame(s) of the runner or of installed packages]"


def _end(text: str, limit: int) -> str:
    """The end of a text: a test's output says there what failed."""
    cut = len(text) - limit
    return text if cut <= 0 else f"[… {cut} characters]{text[cut:]}"
