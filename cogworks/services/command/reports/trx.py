"""TRX, the report of `dotnet test`."""

from collections.abc import Mapping

from cogworks.services.command.reports.cases import Case, Outcome, Parsed, Problem, bounded
from cogworks.services.command.reports.xml_events import read_xml

_OUTCOMES: Mapping[str, Outcome] = {
    "Passed": "passed",
    "PassedButRunAborted": "passed",
    "Warning": "passed",
    "Failed": "failed",
    "Error": "error",
    "Timeout": "error",
    "Aborted": "error",
    "NotExecuted": "skipped",
    "Inconclusive": "skipped",
    "NotRunnable": "skipped",
    "Disconnected": "error",
}


def parse(data: bytes) -> Parsed:
    """The results of one document; their classes come from its list of definitions."""
    reader = _Reader()
    is_whole = read_xml(data, reader)
    cases = [case._replace(group=reader.classes.get(case.group, "")) for case in reader.cases]
    return bounded(cases, reader.problems, is_cut=not is_whole)


class _Reader:
    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.problems: list[Problem] = []
        self.classes: dict[str, str] = {}
        """Test id -> full name of its class."""
        self._result: Case | None = None
        self._test = ""
        self._words: list[str] = []
        self._is_run_error = False

    def opened(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "UnitTestResult":
            outcome = _OUTCOMES.get(attributes.get("outcome", ""), "error")
            self._result = Case(attributes.get("testName", ""), outcome, group=attributes.get("testId", ""))
            self._words = []
        elif tag == "UnitTest":
            self._test = attributes.get("id", "")
        elif tag == "TestMethod":
            # Before a comma: the name of the class; after it the assembly.
            self.classes[self._test] = attributes.get("className", "").split(",")[0]
        elif tag == "RunInfo":
            self._is_run_error = attributes.get("outcome") == "Error"

    def closed(self, tag: str, text: str) -> None:
        if tag in ("Message", "StackTrace") and self._result is not None:
            self._words.append(text.strip())
        elif tag == "UnitTestResult" and self._result is not None:
            self.cases.append(self._result._replace(message="\n".join(self._words)))
            self._result = None
        elif tag == "Text" and self._is_run_error and text.strip():
            self.problems.append(Problem(text.strip()))
