"""What in a change may decide by itself what its tests of Python say: a run cannot show it, so people are told to read it."""

import re
from collections.abc import Iterator, Sequence

from cogworks.codebase.changes import matching
from cogworks.codebase.diffmodel import Diff, FileDiff
from cogworks.repair.transact.runnerrule import looks_at
from cogworks.repair.violations import TestRules

_DECIDES = (
    (
        "a hook of pytest that may decide about outcomes",
        re.compile(
            r"^\s*(?:async\s+)?def\s+pytest_(?:runtest|pyfunc_call|collection|collect_|itemcollected|make_|pycollect|fixture_setup"
            r"|exception_interact|report_teststatus|session|configure|unconfigure|cmdline|plugin_registered|ignore_collect)\w*"
        ),
    ),
    ("a plugin of pytest", re.compile(r"^\s*pytest_plugins\s*[:=]")),
    ("the end of the test process", re.compile(r"\bos\._exit\(|\bpytest\.exit\(")),
    ("what reports the tests", re.compile(r"\b_pytest\b|\bcogworks_\w+|/proc/self/fd|\b(?:TestResult|TextTestRunner)\b")),
)  # fmt: skip
"""What in tests and their configuration has a say in what becomes of them."""
_MOST = 5
_SHOWN_CHARS = 80


def steering(diff: Diff, rules: TestRules) -> tuple[str, ...]:
    """A sentence for each place of a change that may decide what its tests say, few of them."""
    files = [file for file in diff.files if file.path.endswith(".py")]
    found = list(dict.fromkeys(each for file in files for each in _of_file(file, rules)))
    more = [f"There are {len(found) - _MOST} more such places."] if len(found) > _MOST else []
    return (*found[:_MOST], *more)


def _of_file(file: FileDiff, rules: TestRules) -> Iterator[str]:
    added = [line.text for hunk in file.hunks for line in hunk.lines if line.sign == "+"]
    there = "\n".join(line.text for hunk in file.hunks for line in hunk.lines if line.sign != "+")
    if matching(file.path, rules.files) is not None or file.path.rpartition("/")[2] == "conftest.py":
        for what, line in _deciding(added):
            yield f"`{file.path}` brings {what} (`{_shown(line)}`): read it before you believe the tests."
    else:
        for what, line in looks_at(added, there):
            yield f"`{file.path}` looks at {what} (`{_shown(line)}`): read it before you believe the tests."


def _deciding(added: Sequence[str]) -> Iterator[tuple[str, str]]:
    for what, form in _DECIDES:
        if (line := next((each for each in added if form.search(each)), None)) is not None:
            yield what, line


def _shown(line: str) -> str:
    return line.strip()[:_SHOWN_CHARS].replace("`", "'")
