"""JUnit XML, as Surefire, Gradle, jest-junit, Vitest, Mocha, node:test, PHPUnit, gotestsum, nextest, CTest and pytest write it."""

from collections.abc import Mapping

from cogworks.services.command.reports.cases import Case, Outcome, Parsed, Problem, bounded
from cogworks.services.command.reports.xml_events import read_xml

_BAD: Mapping[str, Outcome] = {
    "failure": "failed",
    "error": "error",
    "skipped": "skipped",
    "rerunFailure": "failed",
    "rerunError": "error",
}
_WORST: Mapping[Outcome, int] = {"passed": 0, "skipped": 1, "failed": 2, "error": 3}
_NOT_RUN = ("notrun", "disabled", "skipped")


def parse(data: bytes) -> Parsed:
    """The cases of one document; what a suite says of itself outside of any case is a problem."""
    reader = _Reader()
    is_whole = read_xml(data, reader)
    return bounded(reader.cases, reader.problems, is_cut=not is_whole)


class _Reader:
    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.problems: list[Problem] = []
        self._suites: list[Mapping[str, str]] = []
        self._case: Case | None = None
        self._outcome: Outcome = "error"
        self._printed = ""
        self._notice = ""
        """The `message` of the element that says how the case ended."""

    def opened(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "testsuite":
            self._suites.append(attributes)
        elif tag == "testcase":
            self._case, self._printed = self._begun(attributes), ""
        elif tag in _BAD:
            self._notice = attributes.get("message") or attributes.get("type") or ""
            # Surefire and PHPUnit call it an error when the code under test throws anything but a failed assertion, and
            # name what was thrown.
            self._outcome = "failed" if tag == "error" and attributes.get("type") else _BAD[tag]

    def closed(self, tag: str, text: str) -> None:
        if tag == "testsuite" and self._suites:
            self._suites.pop()
        elif tag == "testcase" and self._case is not None:
            if self._case.outcome in ("failed", "error") and not self._case.message:
                # CTest says nothing but what the program printed.
                self._case = self._case._replace(message=self._printed)
            self.cases.append(self._case)
            self._case = None
        elif tag == "system-out":
            self._printed = text.strip()
        elif tag in _BAD:
            self._ended(self._outcome, text)
            self._notice = ""

    def _begun(self, attributes: Mapping[str, str]) -> Case:
        files = [suite["file"] for suite in self._suites if suite.get("file")]
        file = attributes.get("file") or (files[-1] if files else "")
        is_left_out = attributes.get("status", "").lower() in _NOT_RUN
        suite = self._suites[-1].get("name", "") if self._suites else ""
        return Case(
            name=attributes.get("name", ""),
            outcome="skipped" if is_left_out else "passed",
            file=file,
            group=attributes.get("classname") or attributes.get("class") or suite,
        )

    def _ended(self, outcome: Outcome, text: str) -> None:
        message = text if self._notice and self._notice in text else f"{self._notice}\n{text}".strip()
        if self._case is None:
            suite = self._suites[-1] if self._suites else {}
            if outcome in ("failed", "error"):
                self.problems.append(
                    Problem(message, file=suite.get("file", ""), group=suite.get("name", ""))
                )
        elif _WORST[outcome] > _WORST[self._case.outcome]:
            self._case = self._case._replace(outcome=outcome, message=message)
