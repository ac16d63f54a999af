"""The one result of a command that reports no single test: it passed or failed as a whole."""

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.domain_services.testwords import PLACE
from cogworks.services.python.report import stable
from cogworks.services.python.runners import is_foreign
from cogworks.services.sandbox.running import Ended

AS_A_WHOLE = "run as a whole: one result for all of its tests, for it reports none of them by itself"
_OF_TOOLS = {"make": "Makefile", "gmake": "Makefile", "tox": "tox.ini", "nox": "noxfile.py"}
_INSTALLERS = ("tox", "nox", "hatch")
"""What makes an environment of its own: without a network it fails before any test."""
_SAYS_PYTEST = re.compile(
    r"(?m)^(?:=+ )?(?:\d+ [a-z]+, )*\d+ (?:passed|failed|errors?|skipped)\b.* in \d[\d.:]*s|^\w+ while loading conftest '"
)
"""Its summary, or its complaint where it ended before it looked for tests."""
_NEVER_BEGAN = re.compile(r"(?i)No rule to make target|command not found|: not found$|^usage: ", re.MULTILINE)
_NOT_EXECUTED = (126, 127)
"""Exit codes of a shell that could not start its command."""


def whole_report(
    words: Sequence[str],
    records: Collection[Mapping[str, Any]],
    ended: Ended,
    repository: Path,
    roots: Mapping[str, str],
) -> TestReport | None:
    """None where single tests were reported, or where nothing says that the command got as far as its tests.

    A command that has to do with no file of the repository (`true`) tests nothing of it.
    """
    if (
        not is_foreign(words)
        or records
        or ended.timed_out
        or ended.code is None
        or _is_doubtful(words, ended)
        or not (place := _place(words, repository))
    ):
        return None
    name = f"{place}::{_shown(words)}"
    if ended.code == 0:
        case = TestCase(id=name, outcome="passed")
    else:
        reason = stable(f"the whole command ended with exit code {ended.code}:\n{ended.output}", roots)
        case = TestCase(id=name, outcome="failed", message=reason)
    return TestReport(cases=(case,), blocked=ended.blocked)


def asks_for_the_whole(words: Sequence[str], tests: Sequence[str]) -> bool:
    """Whether a command is asked for by the id of its own result, so that nothing is selected."""
    return is_foreign(words) and any(test.endswith(f"::{_shown(words)}") for test in tests)


def takes_no_ids(words: Sequence[str], records: Collection[Mapping[str, Any]], ended: Ended) -> bool:
    """Whether a command failed before any test, and may have failed of the ids that were put behind it."""
    has_place = any(PLACE in word for word in words)
    return is_foreign(words) and not has_place and not records and not ended.timed_out and ended.code != 0


def _shown(words: Sequence[str]) -> str:
    return shlex.join(word for word in words if word != PLACE)


def _is_doubtful(words: Sequence[str], ended: Ended) -> bool:
    """Whether pytest ran without our plugin, or no test can have run at all."""
    if ended.code in _NOT_EXECUTED or _SAYS_PYTEST.search(ended.output):
        return True
    is_installer = PurePosixPath(words[0]).name in _INSTALLERS
    return ended.code != 0 and (is_installer or _NEVER_BEGAN.search(ended.output) is not None)


def _place(words: Sequence[str], repository: Path) -> str:
    """The file that stands for the command: one that it names, or its tool's; empty: there is none."""
    named = [
        word.removeprefix("./") for word in words if not word.startswith(("-", "/")) and ".." not in word
    ]
    tool = _OF_TOOLS.get(PurePosixPath(words[0]).name, "")
    for path in (*named, *filter(None, [tool])):
        if (repository / path).is_file() and not (repository / path).is_symlink():
            return path
    return ""
