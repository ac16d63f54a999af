"""`go test -json`: events of packages and tests, with what the compiler says between them."""

import re
from typing import Any

from cogworks.services.command.reports.cases import Case, Outcome, Parsed, Problem, bounded, json_lines, word

_ENDS: dict[str, Outcome] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
_PLACE = re.compile(r"^(?:vet: )?([^\s:]{1,300}\.go):(\d{1,7})(?::\d{1,7})?: (.{1,2000})$")
_NOT_BUILT = re.compile(r"^FAIL\s{1,8}(\S{1,300}) \[(?:build|setup) failed\]$")
"""Of versions before 1.24, which report it in no event."""
_NOISE = (
    "=== RUN",
    "=== PAUSE",
    "=== CONT",
    "=== NAME",
    "--- PASS",
    "--- FAIL",
    "--- SKIP",
    "PASS",
    "FAIL",
    "ok  ",
)
_MOST_LINES = 200


def parse(data: bytes) -> Parsed:
    """One case for each test and subtest; a package that does not build or whose process ends early is a problem."""
    reader = _Reader()
    for line in json_lines(data):
        if isinstance(line, dict):
            reader.event(line)
        else:
            reader.text(line, "")
    return reader.parsed()


class _Reader:
    def __init__(self) -> None:
        self._open: dict[tuple[str, str], None] = {}
        self._lines: dict[tuple[str, str], list[str]] = {}
        self._cases: list[Case] = []
        self._problems: list[Problem] = []
        self._failed: set[str] = set()
        self._with_failures: set[str] = set()
        self._heading = ""

    def event(self, event: dict[str, Any]) -> None:
        action, package, test = (word(event.get(key)) for key in ("Action", "Package", "Test"))
        if action == "build-output":
            self.text(word(event.get("Output")).rstrip("\n"), word(event.get("ImportPath")).split(" ")[0])
        elif action == "run" and test:
            self._open[package, test] = None
        elif action == "output":
            self._output(package, test, word(event.get("Output")))
        elif action in _ENDS and test:
            self._ended(package, test, _ENDS[action])
        elif action == "fail":
            self._failed.add(package)

    def text(self, line: str, package: str) -> None:
        """A line of the compiler, below a heading `# package`."""
        if line.startswith("# "):
            self._heading = line[2:].split(" ", maxsplit=1)[0]
        elif match := _NOT_BUILT.match(line):
            self._failed.add(match[1])
        elif match := _PLACE.match(line.strip()):
            file, number, message = match.groups()
            group = package or self._heading
            self._problems.append(Problem(message, file=file, line=int(number), group=group))

    def _output(self, package: str, test: str, text: str) -> None:
        lines = self._lines.setdefault((package, test), [])
        if not text.lstrip().startswith(_NOISE) and len(lines) < _MOST_LINES:
            lines.append(text)
        if not test:
            self.text(text.rstrip("\n"), package)

    def _ended(self, package: str, test: str, outcome: Outcome) -> None:
        self._open.pop((package, test), None)
        if outcome == "failed":
            self._with_failures.add(package)
        message = "" if outcome == "passed" else "".join(self._lines.get((package, test), ()))
        self._cases.append(Case(test, outcome, message, group=package))

    def parsed(self) -> Parsed:
        """Tests that began and never ended went down with their process."""
        for package, test in self._open:
            words = [*self._lines.get((package, test), ()), *self._lines.get((package, ""), ())]
            self._cases.append(
                Case(test, "error", "".join(words) or "it did not come to its end", group=package)
            )
            self._with_failures.add(package)
        reported = {each.group for each in self._problems}
        for package in sorted(self._failed - self._with_failures - reported):
            text = "".join(self._lines.get((package, ""), ())).strip()
            self._problems.append(Problem(text or "it failed without a failing test", group=package))
        broken = {each.group for each in self._problems if each.group} & self._failed
        kept = [each for each in self._problems if not self._failed or each.group in broken or not each.group]
        return bounded(self._cases, kept, is_cut=bool(self._open))
