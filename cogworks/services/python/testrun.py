"""Runs pytest on a copy of the repository, behind walls, and reports every test."""

import json
import os
import shlex
import shutil
import sysconfig
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

from cogworks.domain_services.messages import TestReport
from cogworks.services.python.interpreters import Interpreter, bare
from cogworks.services.python.report import NEXT, may_go_on, read_records, read_run
from cogworks.services.sandbox.inside.order import Limits
from cogworks.services.sandbox.reach import readable
from cogworks.services.sandbox.running import Confined, Ended, run
from cogworks.services.sandbox.walls import Walls

_INSIDE = Path(__file__).with_name("inside")
_MAX_REPORT_BYTES = 64 * 1024**2
_SHORTEST_S = 0.01
# One failure more or less must not hide the others, whatever the project's own options are.
_OPTIONS = ("--maxfail=0", "--continue-on-collection-errors", "-q")
_MOST_TOLD = 20
"""So many tests are named in a command; the cases name all of them."""
_CPU_FACTOR = 4
"""Seconds of processor per second of time limit: a suite may use several processors."""


class Places(NamedTuple):
    """The directories of one run; all of them end with it."""

    copy: Path
    home: Path
    temporary: Path
    scratch: Path
    """Out of the tests' reach."""


class Plugin(NamedTuple):
    """A pytest plugin of the directory `inside` that measures, which wants a process to itself."""

    name: str
    options: Sequence[str] = ()
    readable: Sequence[Path] = ()


class Wanted(NamedTuple):
    """Which tests are run, and what they may use."""

    tests: Sequence[str] = ()
    """Test files or ids, relative to the repository; checked to stay inside by the caller. None: all."""
    timeout_s: float = 600.0
    test_timeout_s: float = 300.0
    """Of one test."""
    limits: Limits = Limits()  # frozen
    interpreter: Interpreter = bare()
    seed: int | None = None
    """Of their order; None: as collected."""
    environment: Mapping[str, str] = MappingProxyType({})
    """Variables on top of our own."""
    plugins: Sequence[Plugin] = ()
    max_processes: int = 20
    """So many may end in the middle of a test until the tests after it are not run any more."""


class Observed(NamedTuple):
    """What came of a run."""

    report: TestReport
    records: Sequence[Mapping[str, Any]] = ()
    """What the plugins wrote, in order."""


def run_tests(repository: Path, wanted: Wanted, *, walls: Walls, search_path: str) -> TestReport:
    """The report of `observe_tests`."""
    return observe_tests(repository, wanted, walls=walls, search_path=search_path).report


def observe_tests(repository: Path, wanted: Wanted, *, walls: Walls, search_path: str) -> Observed:
    """What came of these tests; a missing test file is a collection error and the others run.

    A test that takes its process with it costs the others nothing: they run in another one.

    The repository's own directory is only read: the tests see and may spoil a copy.

    Args:
        search_path: PATH of the tests.

    Raises:
        NotStarted: the walls could not be built.
    """
    tests = wanted.tests
    lost = [test for test in tests if not (repository / test.split("::")[0]).exists()]
    missing = tuple(f"{test}: there is no such test file in the working copy" for test in lost)
    kept = [test for test in tests if test not in lost]
    if tests and not kept:
        return Observed(TestReport(cases=(), collection_errors=missing))
    with tempfile.TemporaryDirectory(prefix="cogworks-tests-", ignore_cleanup_errors=True) as folder:
        places = prepared(Path(folder).resolve(), repository)
        ended, records = _run(places, wanted._replace(tests=kept), walls, search_path)
    report = read_run(records, ended, _roots(places))
    changes = {
        "collection_errors": (*missing, *report.collection_errors),
        "unprotected": (*walls.unprotected, *wanted.interpreter.unprotected),
        "commands": (_told(kept),),
    }
    return Observed(report.model_copy(update=changes), records)


def prepared(folder: Path, repository: Path) -> Places:
    places = Places(folder / "copy", folder / "home", folder / "tmp", folder / "scratch")
    # Without .git: history is no business of the tests, and a worktree's link leads out of the copy.
    shutil.copytree(repository, places.copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    for place in places[1:]:
        place.mkdir()
    return places


def _run(
    places: Places, wanted: Wanted, walls: Walls, search_path: str
) -> tuple[list[Ended], list[dict[str, Any]]]:
    ended: list[Ended] = []
    deadline = time.monotonic() + wanted.timeout_s
    with (places.copy.parent / "report.ndjson").open("w+b") as report:
        while True:
            scratch = places.scratch / str(len(ended))
            scratch.mkdir()
            confined = _confined(places, wanted, report.fileno(), search_path)
            left_s = max(deadline - time.monotonic(), _SHORTEST_S)
            ended.append(run(confined._replace(timeout_s=left_s), walls, scratch=scratch, kept=(report,)))
            records = _read(report)
            if len(ended) == wanted.max_processes or not may_go_on(records, ended[-1]):
                return ended, records
            _begin_next(report)


def _confined(places: Places, wanted: Wanted, report_fd: int, search_path: str) -> Confined:
    return Confined(
        command=_command(places, wanted, report_fd),
        directory=places.copy,
        environment={**_environment(places, wanted.interpreter, search_path), **wanted.environment},
        readable=_readable(wanted),
        writable=_writable(places),
        timeout_s=wanted.timeout_s,
        limits=replace(wanted.limits, cpu_s=int(wanted.timeout_s * _CPU_FACTOR) + 1),
    )


def _read(report: BinaryIO) -> list[dict[str, Any]]:
    report.seek(0)
    return read_records(report.read(_MAX_REPORT_BYTES).split(b"\n"))


def _begin_next(report: BinaryIO) -> None:
    """Make the report ready for another process: nothing half-written, and told apart from what comes."""
    report.seek(0)
    report.truncate(report.read().rfind(b"\n") + 1)
    report.seek(0, os.SEEK_END)
    report.write(json.dumps(NEXT).encode() + b"\n")
    report.flush()


def _readable(wanted: Wanted) -> tuple[Path, ...]:
    measuring = (path for plugin in wanted.plugins for path in plugin.readable)
    return (*wanted.interpreter.readable, _INSIDE, *measuring)


def _writable(places: Places) -> tuple[Path, ...]:
    return (places.copy, places.home, places.temporary)


def _command(places: Places, wanted: Wanted, report_fd: int) -> list[str]:
    reach = {"readable": readable(map(str, _readable(wanted))), "writable": list(map(str, _writable(places)))}
    pytest = [
        str(wanted.interpreter.python),
        "-m",
        "pytest",
        f"--rootdir={places.copy}",
        f"--cogworks-report-fd={report_fd}",
    ]
    pytest += ["-p", "cogworks_report", "-p", "cogworks_time", "-p", "cogworks_reach"]
    if wanted.seed is not None:
        pytest += ["-p", "cogworks_order", f"--cogworks-seed={wanted.seed}"]
    for plugin in wanted.plugins:
        pytest += ["-p", "cogworks_alone", "-p", plugin.name, *plugin.options]
    pytest += [f"--cogworks-test-timeout={wanted.test_timeout_s:g}", f"--cogworks-reach={json.dumps(reach)}"]
    pytest += ["-p", "no:cacheprovider", f"--basetemp={places.temporary / 'pytest'}"]
    return [*pytest, "--tb=short", "--color=no", *_OPTIONS, *wanted.tests]


def _told(tests: Sequence[str]) -> str:
    """The command for people: what decides about outcomes, without what only serves the report or the walls."""
    more = [f"… and {len(tests) - _MOST_TOLD} more"] if len(tests) > _MOST_TOLD else []
    return " ".join([*map(shlex.quote, ("python", "-m", "pytest", *_OPTIONS, *tests[:_MOST_TOLD])), *more])


def _environment(places: Places, interpreter: Interpreter, search_path: str) -> dict[str, str]:
    sources = places.copy / "src"
    plugins = {} if interpreter.loads_plugins else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return {
        **plugins,
        "PATH": os.pathsep.join([*map(str, interpreter.programs), search_path]),
        "HOME": str(places.home),
        "TMPDIR": str(places.temporary),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "120",
        "PYTHONDONTWRITEBYTECODE": "1",
        # pytest then shows comparisons whole, and hypothesis tries the same examples in every run.
        "CI": "true",
        # The machine's own settings are out of reach, and git gives up on what it may not read.
        "GIT_CONFIG_NOSYSTEM": "1",
        # Sets print in the same order in every run.
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join([str(_INSIDE), str(sources if sources.is_dir() else places.copy)]),
    }


def _roots(places: Places) -> dict[str, str]:
    return {
        str(places.copy): "",
        str(places.temporary): "<tmp>/",
        str(places.home): "<home>/",
        str(places.copy.parent): "<tmp>/",
        str(_INSIDE): "<pytest>/",
        sysconfig.get_path("stdlib"): "<python>/",
    }
