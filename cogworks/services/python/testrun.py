"""Runs pytest on a copy of the repository, in other processes, and reports every test."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cogworks.domain_services.messages import TestReport
from cogworks.services.python.isolation import Isolation
from cogworks.services.python.report import Ended, read_run

_INSIDE = Path(__file__).with_name("inside")
_TAIL_BYTES = 16_000
_CPU_FACTOR = 4
"""Seconds of processor per second of time limit: a suite may use several processors."""


class Places(NamedTuple):
    """The directories of one run; all of them end with it."""

    copy: Path
    home: Path
    temporary: Path
    report: Path
    output: Path


def run_tests(
    repository: Path, tests: Sequence[str], *, timeout_s: float, isolation: Isolation, search_path: str
) -> TestReport:
    """The report of these tests (none: all); a missing test file is a collection error and the others run.

    The repository's own directory is only read: the tests see and may spoil a copy.

    Args:
        tests: test files or ids, relative to the repository; checked to stay inside by the caller.
        search_path: PATH of the tests.
    """
    lost = [test for test in tests if not (repository / test.split("::")[0]).exists()]
    missing = tuple(f"{test}: there is no such test file in the working copy" for test in lost)
    kept = [test for test in tests if test not in lost]
    if tests and not kept:
        return TestReport(cases=(), collection_errors=missing)
    with tempfile.TemporaryDirectory(prefix="cogworks-tests-", ignore_cleanup_errors=True) as folder:
        places = _prepared(Path(folder).resolve(), repository)
        command = _command(places, kept, timeout_s, isolation)
        ended = _run(command, places, _environment(places, search_path), timeout_s)
        lines = places.report.read_text(errors="replace").splitlines() if places.report.exists() else []
        report = read_run(lines, ended, _roots(places))
    return report.model_copy(update={"collection_errors": (*missing, *report.collection_errors)})


def _prepared(folder: Path, repository: Path) -> Places:
    places = Places(
        folder / "copy", folder / "home", folder / "tmp", folder / "report.ndjson", folder / "output"
    )
    # Without .git: history is no business of the tests, and a worktree's link leads out of the copy.
    shutil.copytree(repository, places.copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    places.home.mkdir()
    places.temporary.mkdir()
    return places


def _command(places: Places, tests: Sequence[str], timeout_s: float, isolation: Isolation) -> list[str]:
    python, launcher = sys.executable, str(_INSIDE / "launch.py")
    pytest = [python, "-m", "pytest", f"--rootdir={places.copy}", f"--cogworks-report={places.report}"]
    pytest += ["-p", "cogworks_report", "-p", "no:cacheprovider", f"--basetemp={places.temporary / 'pytest'}"]
    # One failure more or less must not hide the others, whatever the project's own options are.
    pytest += ["--maxfail=0", "--continue-on-collection-errors"]
    pytest += ["--tb=short", "--color=no", "-q", *tests]
    limits = ["outer", str(os.getpid()), str(int(timeout_s * _CPU_FACTOR) + 1), "--"]
    walls = [*isolation.prefix, python, "-I", launcher, "inner", "--"] if isolation.prefix else []
    return [python, "-I", launcher, *limits, *walls, *pytest]


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
        # Sets print in the same order in every run.
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join([str(_INSIDE), str(sources if sources.is_dir() else places.copy)]),
    }


def _run(command: Sequence[str], places: Places, environment: Mapping[str, str], timeout_s: float) -> Ended:
    with (
        places.output.open("wb") as output,
        subprocess.Popen(
            command,
            cwd=places.copy,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        code: int | None = None
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            pass
        finally:
            # Also after a regular end: what a test left running is in the same group.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return Ended(_own_code(code), _tail(places.output))


def _own_code(code: int | None) -> int | None:
    # The launcher cannot die of its child's signal, so it reports it as shells do.
    return 128 - code if code is not None and code > 128 else code


def _tail(output: Path) -> str:
    with output.open("rb") as file:
        file.seek(max(0, output.stat().st_size - _TAIL_BYTES))
        return file.read().decode(errors="replace")


def _roots(places: Places) -> dict[str, str]:
    return {
        str(places.copy): "",
        str(places.temporary): "<tmp>/",
        str(places.home): "<home>/",
        str(places.copy.parent): "<tmp>/",
        str(_INSIDE): "<pytest>/",
        sysconfig.get_path("stdlib"): "<python>/",
    }
