"""Runs pytest on a copy of the repository, in isolation, and reports every test."""

import json
import os
import secrets
import shlex
import sysconfig
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from cogworks.domain_services.messages import EVERYTHING, TestReport, hides
from cogworks.removal import temporary_folder
from cogworks.services.python.keeping import SOURCES
from cogworks.services.python.laying_out import FILE, VARIABLE, Places, laid_out, lay_out_order, set_aside
from cogworks.services.python.parting import parted, seconds_of, slowest_of
from cogworks.services.python.pythons import Interpreter
from cogworks.services.python.report import (
    CUT,
    NEXT,
    may_go_on,
    read_records,
    read_run,
    shut_out,
    until_the_last_end,
)
from cogworks.services.python.runners import (
    NotKept,
    in_words,
    is_foreign,
    lay_out_programs,
    refuse_silence,
    refuse_strangers,
    reports_by_order,
    runner_of,
    started,
    without_the_runners_end,
)
from cogworks.services.python.wanted import Wanted
from cogworks.services.python.whole_command import AS_A_WHOLE, asks_for_the_whole, takes_no_ids, whole_report
from cogworks.services.sandbox.isolation import Isolation
from cogworks.services.sandbox.reach import readable
from cogworks.services.sandbox.running import Confined, Ended, NotStarted, run

_ADDED = "PYTEST_ADDOPTS"
_REPORT = "report.ndjson"
_INSIDE = Path(__file__).with_name("inside")
_MAX_REPORT_BYTES = 128 * 1024**2
_SHORTEST_S = 0.01
_SHORTEST_RUN_S = 1.0
_SPARED, _MOST_SPARED_S = 0.05, 5.0
# One failure more or less must not hide the others, whatever the project's own options are.
_OPTIONS = ("--maxfail=0", "--continue-on-collection-errors", "-q")
_MOST_SHOWN = 20
"""So many tests are named in a command; the cases name all of them."""
_CPU_FACTOR = 4
"""Seconds of processor per second of time limit: a suite may use several processors."""


class Observed(NamedTuple):
    """The result of a run."""

    report: TestReport
    records: Sequence[Mapping[str, Any]] = ()
    """What the plugins wrote, in order."""


class _Ran(NamedTuple):
    """The processes of a run."""

    ended: Sequence[Ended]
    records: Sequence[Mapping[str, Any]]
    hidden: Mapping[int, str]
    """As `read_run` wants it."""


def run_tests(repository: Path, wanted: Wanted, *, isolation: Isolation, search_path: str) -> TestReport:
    """The report of `observe_tests`."""
    return observe_tests(repository, wanted, isolation=isolation, search_path=search_path).report


def observe_tests(repository: Path, wanted: Wanted, *, isolation: Isolation, search_path: str) -> Observed:
    """The results of these tests; a missing test file is a collection error and the others run.

    A test that takes its process with it costs the others nothing: they run in another one. So do those beyond the folder of a
    `conftest.py` without which pytest does not begin.

    The repository's own directory is only read: the tests see and may spoil a copy.

    Args:
        search_path: PATH of the tests.

    Raises:
        NotStarted: the isolation could not be built.
        NotKept: the user's command cannot be used.
    """
    tests = () if asks_for_the_whole(wanted.command, wanted.tests) else wanted.tests
    began_s = time.monotonic()
    lost = [test for test in tests if not (repository / test.split("::")[0]).exists()]
    missing = tuple(f"{test}: there is no such test file in the working copy" for test in lost)
    kept = [test for test in tests if test not in lost]
    if tests and not kept:
        return Observed(TestReport(cases=(), collection_errors=missing))
    with temporary_folder("cogworks-") as folder:
        places = laid_out(folder, repository, wanted, lays_over=isolation.lays_over)
        # What copying a large repository took is no longer there for the tests.
        left_s = max(wanted.timeout_s - (time.monotonic() - began_s), min(wanted.timeout_s, _SHORTEST_RUN_S))
        asked = wanted._replace(tests=kept, timeout_s=left_s)
        ended, records, hidden = _run(places, asked, isolation, search_path)
    if kept and takes_no_ids(wanted.command, records, ended[-1]):
        left_s = wanted.timeout_s - (time.monotonic() - began_s)
        observed = _as_a_whole(
            repository, wanted._replace(tests=(), timeout_s=left_s), isolation, search_path
        )
        if observed is not None:
            return observed
    whole = whole_report(wanted.command, records, ended[-1], repository, _roots(places))
    if whole is not None:
        shown = f"{_shown(wanted, ())} ({AS_A_WHOLE})"
        unprotected = (*isolation.unprotected, *wanted.interpreter.unprotected)
        return Observed(whole.model_copy(update={"unprotected": unprotected, "commands": (shown,)}))
    if not hidden:
        refuse_silence(wanted.command, records, ended[-1])
    if is_foreign(wanted.command):
        ended = [*ended[:-1], without_the_runners_end(ended[-1], records)]
    report = read_run(records, ended, _roots(places), hidden=hidden)
    refuse_strangers(wanted.command, kept, report)
    if wanted.parts:
        report = parted(report, records, kept, runner=runner_of(wanted.command), limit_s=wanted.timeout_s)
    changes = {
        "seconds": seconds_of(records, report) if wanted.timings else {},
        "slowest_s": slowest_of(records, report) if wanted.timings else 0.0,
        "collection_errors": (*missing, *report.collection_errors),
        "unprotected": (*isolation.unprotected, *wanted.interpreter.unprotected),
        "commands": (_shown(wanted, kept),),
    }
    return Observed(report.model_copy(update=changes), records)


def _as_a_whole(repository: Path, wanted: Wanted, isolation: Isolation, search_path: str) -> Observed | None:
    """The one result of a command without ids; None where it has none, or reports single tests."""
    if wanted.timeout_s <= 0:
        return None
    try:
        observed = observe_tests(repository, wanted, isolation=isolation, search_path=search_path)
    except NotKept:
        return None
    return None if observed.records else observed


def _run(places: Places, wanted: Wanted, isolation: Isolation, search_path: str) -> _Ran:
    ended: list[Ended] = []
    hidden: dict[int, str] = {}
    deadline = time.monotonic() + wanted.timeout_s
    if wanted.parts:
        # Reporting and clearing away take their time as well.
        wanted = wanted._replace(ends_s=deadline - min(_MOST_SPARED_S, wanted.timeout_s * _SPARED))
    if _needs_programs(wanted):
        lay_out_programs(places.programs, wanted.interpreter.python)
    keys: list[bytes] = []
    with (places.reports / _REPORT).open("w+b") as report:
        while True:
            # A command of the repository's own may start pytest more than once, and there is one key to take.
            keys += () if is_foreign(wanted.command) else (_with_key(report),)
            scratch = places.scratch / str(len(ended))
            scratch.mkdir()
            confined = _confined(places, wanted, report.fileno(), search_path)
            left_s = max(deadline - time.monotonic(), _SHORTEST_S)
            ended.append(
                _ended(
                    confined._replace(timeout_s=left_s),
                    isolation,
                    scratch=scratch,
                    report=report,
                    asked=wanted,
                )
            )
            records = _read(report, keys)
            goes_on = may_go_on(records, ended[-1])
            if folder := shut_out(records, ended[-1], places.copy):
                left = [test for test in wanted.tests if not hides(folder, test)]
                is_apart = set_aside(places.copy, folder)
                hidden[len(ended) - 1] = folder if is_apart else EVERYTHING
                goes_on = is_apart and bool(left or not wanted.tests)
                wanted = wanted._replace(tests=left)
            if len(ended) == wanted.max_processes or not goes_on:
                return _Ran(ended, records, hidden)
            _begin_next(report)


def _ended(
    confined: Confined, isolation: Isolation, *, scratch: Path, report: BinaryIO, asked: Wanted
) -> Ended:
    try:
        return run(confined, isolation, scratch=scratch, kept=(report,))
    except NotStarted as error:
        if not is_foreign(asked.command):
            raise
        raise NotKept(
            f"`{asked.command[0]}` cannot be started in isolation: {error}. Name a file of the repository that may be "
            "executed, a program that its test requirements bring, or one of the system's."
        ) from error


def _confined(places: Places, wanted: Wanted, report_fd: int, search_path: str) -> Confined:
    if reports_by_order(wanted.command):
        lay_out_order(places.programs, wanted, report_fd, _reach(places, wanted))
    return Confined(
        command=started(
            wanted.interpreter.python,
            wanted.command,
            _options(places, wanted, f"--cogworks-report-fd={report_fd}"),
            wanted.tests,
        ),
        directory=places.copy,
        environment={
            **_environment(places, wanted, search_path),
            **wanted.environment,
            **_handed_on(places, wanted),
        },
        readable=_readable(places, wanted),
        writable=_writable(places, wanted),
        timeout_s=wanted.timeout_s,
        limits=wanted.limits._replace(cpu_s=int(wanted.timeout_s * _CPU_FACTOR) + 1),
        overlays=places.overlays,
    )


def _needs_programs(wanted: Wanted) -> bool:
    """Whether `python` on PATH would be another one: a version manager's, or none."""
    return is_foreign(wanted.command) or not wanted.interpreter.programs


def _with_key(report: BinaryIO) -> bytes:
    """The key with which the next process seals its lines, put where it takes it."""
    key = secrets.token_hex(32).encode()
    report.write(b"key " + key + b"\n")
    report.flush()
    return key


def _read(report: BinaryIO, keys: Sequence[bytes]) -> list[dict[str, Any]]:
    report.seek(0)
    records = read_records(report.read(_MAX_REPORT_BYTES).split(b"\n"), keys)
    return [*until_the_last_end(records), CUT] if report.read(1) else records


def _begin_next(report: BinaryIO) -> None:
    """Make the report ready for another process: nothing half-written, and separate from what follows."""
    report.seek(0)
    report.truncate(report.read().rfind(b"\n") + 1)
    report.seek(0, os.SEEK_END)
    report.write(json.dumps(NEXT).encode() + b"\n")
    report.flush()


def _readable(places: Places, wanted: Wanted) -> tuple[Path, ...]:
    measuring = (path for plugin in wanted.plugins for path in plugin.readable)
    is_used = _needs_programs(wanted) or reports_by_order(wanted.command)
    programs = (places.programs,) if is_used else ()
    return (*wanted.interpreter.readable, _INSIDE, *programs, *measuring)


def _writable(places: Places, wanted: Wanted) -> tuple[Path, ...]:
    reports = (places.reports,) if is_foreign(wanted.command) else ()
    return (places.whole, places.home, places.temporary, *reports)


def _reach(places: Places, wanted: Wanted) -> dict[str, Sequence[str]]:
    return {
        "readable": readable(map(str, _readable(places, wanted))),
        "writable": list(map(str, _writable(places, wanted))),
    }


def _options(places: Places, wanted: Wanted, report: str) -> list[str]:
    """What is asked of pytest, however it is started."""
    reach = _reach(places, wanted)
    pytest = [f"--rootdir={places.copy}", report]
    pytest += [f"-pcogworks_{each}" for each in ("early", "report", "time", "reach", "repeatable", "names")]
    pytest += [f"--cogworks-folders={json.dumps(_own_folders(places))}"]
    if wanted.seed is not None:
        pytest += ["-p", "cogworks_order", f"--cogworks-seed={wanted.seed}"]
    if wanted.ends_s is not None:
        pytest += ["-p", "cogworks_parts", f"--cogworks-until={wanted.ends_s:.3f}"]
    if sizes := [
        size for group in wanted.groups if (size := len([test for test in group if test in wanted.tests]))
    ]:
        pytest += ["-p", "cogworks_groups", f"--cogworks-groups={','.join(map(str, sizes))}"]
    for plugin in wanted.plugins:
        pytest += ["-p", "cogworks_alone", "-p", plugin.name, *plugin.options]
    pytest += [f"--cogworks-test-timeout={wanted.test_timeout_s:g}", f"--cogworks-reach={json.dumps(reach)}"]
    # Switched off, the cache would take `--lf` and `--ff` with it, which a project's own options may have.
    pytest += ["-o", f"cache_dir={places.temporary / 'cache'}", f"--basetemp={places.temporary / 'p'}"]
    return [*pytest, "--tb=short", "--color=no", *_OPTIONS]


def _shown(wanted: Wanted, tests: Sequence[str]) -> str:
    """The command for people: what decides about outcomes, without what only serves the report or the isolation."""
    words, shown, more = wanted.command, tests[:_MOST_SHOWN], len(tests) - _MOST_SHOWN
    command = in_words(words, shown) if words else ["python", "-m", "pytest", *_OPTIONS, *shown]
    text = f"{shlex.join(command)} … and {more} more" if more > 0 else shlex.join(command)
    return f"{text} (what {wanted.instead_of} runs)" if wanted.instead_of else text


def _environment(places: Places, wanted: Wanted, search_path: str) -> dict[str, str]:
    interpreter, programs = wanted.interpreter, wanted.interpreter.programs
    plugins = {} if interpreter.loads_plugins else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    if _needs_programs(wanted):
        programs = programs or (places.programs,)
    if interpreter.home is not None:
        programs = (*programs, places.home / ".local/bin")
    sources = [*map(str, _on_path(places.copy, interpreter))]
    return {
        **plugins,
        "PATH": os.pathsep.join([*map(str, programs), search_path]),
        "HOME": str(places.home),
        "TMPDIR": str(places.temporary),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
        # The machine's own settings are out of reach, and git gives up on what it may not read.
        "GIT_CONFIG_NOSYSTEM": "1",
        # Sets print in the same order in every run.
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join([str(_INSIDE), *sources]),
        SOURCES: os.pathsep.join(sources),
        **interpreter.variables,
    }


def _on_path(copy: Path, interpreter: Interpreter) -> tuple[Path, ...]:
    """The folders of the project's modules and of what was built of them."""
    own = interpreter.sources
    if own is None:
        own = ("src",) if (copy / "src").is_dir() else ("",)
    return (*(copy / each for each in own), *interpreter.paths)


def _handed_on(places: Places, wanted: Wanted) -> dict[str, str]:
    """The variables that pass our options to pytest where another program starts it."""
    if reports_by_order(wanted.command):
        return {VARIABLE: str(places.programs / FILE)}
    if not is_foreign(wanted.command):
        return {}
    # A program that starts pytest may hand on no open file; most hand on a variable.
    own = shlex.join(_options(places, wanted, f"--cogworks-report-file={places.reports / _REPORT}"))
    return {_ADDED: f"{wanted.environment.get(_ADDED, '')} {own}".strip()}


def _roots(places: Places) -> dict[str, str]:
    return {
        **_own_folders(places),
        str(places.whole.parent): "<tmp>/",
        str(_INSIDE): "<pytest>/",
        sysconfig.get_path("stdlib"): "<python>/",
    }


def _own_folders(places: Places) -> dict[str, str]:
    """The folders of this run that a test may know of, and what stands for each."""
    return {
        str(places.copy): "",
        **_around(places),
        str(places.temporary): "<tmp>/",
        str(places.home): "<home>/",
    }


def _around(places: Places) -> dict[str, str]:
    """The folders of the repository around the one that is looked at, as that one sees them."""
    return {
        str(folder): "../" * number
        for number, folder in enumerate(places.copy.parents, start=1)
        if folder.is_relative_to(places.whole)
    }
