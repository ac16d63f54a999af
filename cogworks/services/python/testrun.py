"""Runs pytest on a copy of the repository, behind walls, and reports every test."""

import json
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cogworks.domain_services.messages import TestReport
from cogworks.services.python.report import read_run
from cogworks.services.sandbox.inside.order import Limits
from cogworks.services.sandbox.reach import readable
from cogworks.services.sandbox.running import Confined, run
from cogworks.services.sandbox.walls import Walls

_INSIDE = Path(__file__).with_name("inside")
_MAX_REPORT_BYTES = 64 * 1024**2
_CPU_FACTOR = 4
"""Seconds of processor per second of time limit: a suite may use several processors."""


class Places(NamedTuple):
    """The directories of one run; all of them end with it."""

    copy: Path
    home: Path
    temporary: Path
    scratch: Path
    """Out of the tests' reach."""


class Wanted(NamedTuple):
    """Which tests are run, and what they may use."""

    tests: Sequence[str] = ()
    """Test files or ids, relative to the repository; checked to stay inside by the caller. None: all."""
    timeout_s: float = 600.0
    test_timeout_s: float = 300.0
    """Of one test."""
    limits: Limits = Limits()  # frozen


def run_tests(repository: Path, wanted: Wanted, *, walls: Walls, search_path: str) -> TestReport:
    """The report of these tests; a missing test file is a collection error and the others run.

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
        return TestReport(cases=(), collection_errors=missing)
    with tempfile.TemporaryDirectory(prefix="cogworks-tests-", ignore_cleanup_errors=True) as folder:
        places = _prepared(Path(folder).resolve(), repository)
        report = _run(places, wanted._replace(tests=kept), walls, search_path)
    return report.model_copy(update={"collection_errors": (*missing, *report.collection_errors)})


def _prepared(folder: Path, repository: Path) -> Places:
    places = Places(folder / "copy", folder / "home", folder / "tmp", folder / "scratch")
    # Without .git: history is no business of the tests, and a worktree's link leads out of the copy.
    shutil.copytree(repository, places.copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    for place in places[1:]:
        place.mkdir()
    return places


def _run(places: Places, wanted: Wanted, walls: Walls, search_path: str) -> TestReport:
    with (places.copy.parent / "report.ndjson").open("w+b") as report:
        confined = Confined(
            command=_command(places, wanted, report.fileno()),
            directory=places.copy,
            environment=_environment(places, search_path),
            readable=_own_readable(),
            writable=_writable(places),
            timeout_s=wanted.timeout_s,
            limits=replace(wanted.limits, cpu_s=int(wanted.timeout_s * _CPU_FACTOR) + 1),
        )
        ended = run(confined, walls, scratch=places.scratch, kept=(report,))
        report.seek(0)
        lines = report.read(_MAX_REPORT_BYTES).decode(errors="replace").splitlines()
    return read_run(lines, ended, _roots(places)).model_copy(update={"unprotected": walls.unprotected})


def _own_readable() -> tuple[Path, ...]:
    """This interpreter, its library and packages, and the plugins; not where it was installed from."""
    prefixes = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.base_prefix).resolve()}
    return (*sorted(prefixes), Path(sys.executable).resolve(), _INSIDE)


def _writable(places: Places) -> tuple[Path, ...]:
    return (places.copy, places.home, places.temporary)


def _command(places: Places, wanted: Wanted, report_fd: int) -> list[str]:
    reach = {"readable": readable(map(str, _own_readable())), "writable": list(map(str, _writable(places)))}
    pytest = [sys.executable, "-m", "pytest", f"--rootdir={places.copy}", f"--cogworks-report-fd={report_fd}"]
    pytest += ["-p", "cogworks_report", "-p", "cogworks_time", "-p", "cogworks_reach"]
    pytest += [f"--cogworks-test-timeout={wanted.test_timeout_s:g}", f"--cogworks-reach={json.dumps(reach)}"]
    pytest += ["-p", "no:cacheprovider", f"--basetemp={places.temporary / 'pytest'}"]
    # One failure more or less must not hide the others, whatever the project's own options are.
    pytest += ["--maxfail=0", "--continue-on-collection-errors"]
    return [*pytest, "--tb=short", "--color=no", "-q", *wanted.tests]


def _environment(places: Places, search_path: str) -> dict[str, str]:
    sources = places.copy / "src"
    return {
        "PATH": search_path,
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
