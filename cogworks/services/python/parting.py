"""What a run came to that had no time for all of its tests: results of whole files, and the names of the others."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from cogworks.domain_services.messages import TestReport
from cogworks.services.python.report import NEXT
from cogworks.services.python.runners import Runner

_LONGEST_S = 1_000_000.0
"""A longer time in a record was never measured."""


def parted(
    report: TestReport,
    records: Sequence[Mapping[str, Any]],
    selection: Sequence[str],
    *,
    runner: Runner,
    limit_s: float,
) -> TestReport:
    """The report without what was cut off in the middle, which is `left` with all that was not begun.

    Where not even the first finished the report stays one that timed out, and says which that is.

    Args:
        records: as `read_records` gives them.
        selection: files, folders and ids; none: the whole suite.
    """
    if not (report.timed_out or any(record["kind"] == "over" for record in records)):
        return report
    planned, finished, begun = _progress(records)
    waiting = dict.fromkeys(_unit(test, runner) for test in planned if test not in finished)
    done = {_unit(test, runner) for test in planned} - waiting.keys()
    if not done or not waiting:
        slow = next((unit for unit in waiting if any(_unit(test, runner) == unit for test in begun)), "")
        remedy = _too_long(slow, limit_s) if waiting or not done else _ends_late(limit_s)
        return report.model_copy(update={"remedies": (*report.remedies, remedy)})
    cases = tuple(case for case in report.cases if _unit(case.id, runner) not in waiting)
    left = tuple(dict.fromkeys(_named(waiting, done, selection)))
    return report.model_copy(update={"cases": cases, "left": left, "timed_out": False})


def seconds_of(records: Sequence[Mapping[str, Any]], report: TestReport) -> dict[str, float]:
    """File -> how long loading it and its tests took, as far as they ended."""
    files = {case.id.split("::", 1)[0] for case in report.cases}
    seconds: dict[str, float] = {}
    for _, name, took_s in _durations(records):
        file = name.split("::", 1)[0]
        if file in files:
            seconds[file] = seconds.get(file, 0.0) + took_s
    return {file: round(took_s, 2) for file, took_s in seconds.items()}


def slowest_of(records: Sequence[Mapping[str, Any]], report: TestReport) -> float:
    """How long the slowest test that passed took, or the loading of a file, if that took longer; 0: none was timed."""
    passed = {case.id for case in report.cases if case.outcome == "passed"}
    took = [took_s for kind, name, took_s in _durations(records) if kind == "load" or name in passed]
    return round(max(took, default=0.0), 3)


def _durations(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, float]]:
    """Of each file that was loaded and each test that ended, as they ended: `load` or `start`, its name, its seconds."""
    since: dict[tuple[str, str], float] = {}
    for record in records:
        at_s, kind = record.get("at"), record["kind"]
        if not isinstance(at_s, int | float):
            continue
        if kind in ("start", "load"):
            since[(kind, record["id"])] = at_s
        elif "id" in record:
            began = "start" if kind == "finish" else "load"
            began_s = since.pop((began, record["id"]), at_s)
            yield began, record["id"], min(max(0.0, at_s - began_s), _LONGEST_S)


def undivided(command: str) -> str:
    """What to do about a command that takes too long and cannot be told which tests to run."""
    return (
        f"`{command}` cannot be told which tests to run, so that it is not run in parts: raise `timeout_s` under `[tests]` in "
        "`.cogworks/config.toml`, or name a command there that takes test files, as `pytest` does."
    )


def _progress(records: Sequence[Mapping[str, Any]]) -> tuple[list[str], set[str], set[str]]:
    """The tests that were to run, those that ended, and those that began."""
    planned: dict[str, None] = {}
    finished, begun = set[str](), set[str]()
    for record in records:
        if record["kind"] == "planned":
            planned.update(dict.fromkeys(test for test in record["tests"] if isinstance(test, str)))
        elif record["kind"] == "start":
            begun.add(record["id"])
        elif record["kind"] == "finish":
            finished.add(record["id"])
        elif record == NEXT:
            # A test that ended its process has ended with it.
            finished |= begun
    return [*planned], finished, begun


def _unit(test: str, runner: Runner) -> str:
    """What is run as a whole: a file; a class where the runner mixes those of several files."""
    parts = test.split("::")
    return "::".join(parts[:2]) if runner in ("unittest", "django") and len(parts) > 2 else parts[0]


def _named(waiting: Collection[str], done: Collection[str], selection: Sequence[str]) -> Iterator[str]:
    """What another request has to ask for, so that it runs what is waiting and nothing else."""
    whole = [test for test in selection if "::" not in test]
    for unit in waiting:
        file = unit.split("::", 1)[0]
        is_asked_for = not selection or any(
            file == each or file.startswith(f"{each.rstrip('/')}/") for each in whole
        )
        own = [test for test in selection if test.split("::", 1)[0] == file and _overlap(test, unit)]
        if not is_asked_for and own:
            yield from own
        else:
            yield unit if any(each.split("::", 1)[0] == file for each in done) else file


def _overlap(test: str, unit: str) -> bool:
    return test == unit or test.startswith(f"{unit}::") or unit.startswith(f"{test}::")


def _too_long(slow: str, limit_s: float) -> str:
    what = (
        f"`{slow}` did not come to its end within {round(limit_s, 1):g} s, although it was the first to run"
        if slow
        else f"Within {limit_s:.0f} s no test was even found and begun"
    )
    return (
        f"{what}: raise `timeout_s` under `[tests]` in `.cogworks/config.toml`, or divide the file. A suite is run in parts "
        "where it takes longer, a file is not."
    )


def _ends_late(limit_s: float) -> str:
    return (
        f"Every test ended, but the run itself did not within {limit_s:.3g} s: raise `timeout_s` under `[tests]` in "
        "`.cogworks/config.toml`, or look for a thread or a process that a test leaves behind."
    )
