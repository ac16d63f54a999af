"""The text of `cargo test`, and the JSON lines of libtest."""

import re
from collections import Counter
from typing import Any

from cogworks.services.command.reports.cases import (
    Case,
    Outcome,
    Parsed,
    Problem,
    bounded,
    json_lines,
    text_of,
    word,
)

_RUNNING = re.compile(
    r"^\s*Running (?:unittests )?(\S{1,300}\.rs) \((?:\S{0,400}/)?([^\s/]{1,200})-\w{1,32}(?:\.exe)?\)"
)
_DOCTESTS = re.compile(r"^\s*Doc-tests (\S{1,200})")
_TEST = re.compile(r"^test (.{1,500}?)(?: - should panic)? \.\.\. (ok|FAILED|ignored|bench:)(.{0,300})$")
_BEGUN = re.compile(r"^test (.{1,500}?)(?: - should panic)? \.\.\. ")
_END = re.compile(r"^(ok|FAILED|ignored)$")
_OUTPUT = re.compile(r"^---- (.{1,500}?) (?:stdout|stderr) ----$")
_DOCTEST = re.compile(r"^(\S{1,300}\.rs) - (.{0,300}?) ?\(line (\d{1,7})\)(?: - compile(?: fail)?)?$")
_ERROR = re.compile(r"^error(?:\[E\d{1,5}\])?: (.{1,1000})$")
_ARROW = re.compile(r"^\s*--> ([^\s:]{1,300}):(\d{1,7}):\d{1,7}$")
_OUTCOMES: dict[str, Outcome] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped", "bench:": "passed"}
_EVENTS: dict[str, Outcome] = {"ok": "passed", "failed": "failed", "ignored": "skipped", "timeout": "error"}
_SUMMARIES = (
    "could not compile",
    "aborting due to",
    "test failed, to rerun",
    "doctest failed",
    "targets failed",
)


def parse(data: bytes) -> Parsed:
    """One case for each test of each program; what the compiler refuses is a problem."""
    reader = _Reader()
    for line in text_of(data).splitlines():
        reader.line(line)
    return reader.parsed()


def parse_json(data: bytes) -> Parsed:
    """The same from `--format json`; lines between are read as text, for they name the program."""
    reader = _Reader()
    for line in json_lines(data):
        if isinstance(line, dict):
            reader.event(line)
        else:
            reader.line(line)
    return reader.parsed()


class _Reader:
    def __init__(self) -> None:
        self._cases: list[Case] = []
        self._problems: list[Problem] = []
        self._program = ""
        self._programs: Counter[str] = Counter()
        self._pending = ""
        """A test whose end stands on a later line, because it printed something."""
        self._error = ""
        self._shown: str | None = None
        self._output: dict[tuple[str, str], list[str]] = {}

    def line(self, line: str) -> None:
        if match := _RUNNING.match(line):
            self._begin(self._named(f"{match[2]}:{match[1]}"))
        elif _DOCTESTS.match(line):
            self._begin("")
        elif match := _OUTPUT.match(line):
            self._shown = match[1]
        elif line in ("failures:", "successes:") or line.startswith("test result: "):
            self._shown = None
        elif self._shown is not None:
            self._output.setdefault((self._program, self._shown), []).append(line)
        else:
            self._test(line)

    def event(self, event: dict[str, Any]) -> None:
        name, kind = word(event.get("name")), word(event.get("event"))
        if event.get("type") == "test" and kind in _EVENTS:
            message = word(event.get("stdout")) or word(event.get("message"))
            self._add(name, _EVENTS[kind], message)

    def _named(self, program: str) -> str:
        """Two packages of a workspace may each have a `tests/all.rs`: the second one is `all:tests/all.rs#2`."""
        self._programs[program] += 1
        times = self._programs[program]
        return program if times == 1 else f"{program}#{times}"

    def _begin(self, program: str) -> None:
        self._program, self._shown, self._pending = program, None, ""

    def _test(self, line: str) -> None:
        if match := _TEST.match(line):
            self._add(match[1], _OUTCOMES[match[2]], match[3].strip(" ,") if match[2] == "ignored" else "")
        elif match := _BEGUN.match(line):
            self._pending = match[1]
        elif self._pending and (match := _END.match(line.strip())):
            self._add(self._pending, _OUTCOMES[match[1]], "")
        elif match := _ERROR.match(line):
            is_summary = any(each in line for each in _SUMMARIES)
            self._error = "" if is_summary else match[1]
        elif self._error and (match := _ARROW.match(line)):
            self._problems.append(Problem(self._error, file=match[1], line=int(match[2])))
            self._error = ""

    def _add(self, name: str, outcome: Outcome, message: str) -> None:
        self._cases.append(Case(name, outcome, message, group=self._program))
        self._pending = ""

    def parsed(self) -> Parsed:
        cases = [
            case._replace(message=case.message or "\n".join(self._output.get((case.group, case.name), ())))
            if case.outcome in ("failed", "error")
            else case
            for case in self._cases
        ]
        if self._pending:
            cases.append(Case(self._pending, "error", "it did not come to its end", group=self._program))
        return bounded(_with_documentation(cases), self._problems, is_cut=bool(self._pending))


def _with_documentation(cases: list[Case]) -> list[Case]:
    """Tests in documentation last, named by what they document.

    The lines that cargo puts into their names change with every edit above, and they end in any order.
    """
    others: list[Case] = []
    documented: list[tuple[str, int, Case]] = []
    for case in cases:
        if match := _DOCTEST.match(case.name):
            file, item, line = match.groups()
            name = f"doc {item}" if item else "doc"
            documented.append((file, int(line), case._replace(name=name, file=file)))
        else:
            others.append(case)
    return [*others, *(case for _, _, case in sorted(documented, key=lambda each: each[:2]))]
