"""Runs chosen commands in a room and reads what they report; where that says too little, the suite runs once more, file by file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cogworks.services.command.compilers import errors_in
from cogworks.services.command.ground import Machine, files_below
from cogworks.services.command.placing import Placer, ava_tests, placer_of
from cogworks.services.command.recipe import Recipe
from cogworks.services.command.reports.cases import Case, Parsed, Problem
from cogworks.services.command.reports.reading import read_all
from cogworks.services.command.rooms import (
    LineResult,
    Room,
    is_listened_to,
    ran_unreported,
    reporter,
    seconds_left,
)
from cogworks.services.command.selecting import Asked, Selected, files_of_suite, select, units_of
from cogworks.services.command.starting import said_last, why_not_begun

MOST_FILES = 200
"""More are not run one by one only to learn whose tests are whose."""
_IN_ORDER = ("cargo", "libtest-json")
_ENDED = "ended: "
"""With which the isolation begins what it says of a limit."""
_UNNAMED = "its TAP names no file, so that the suite ran once more, file by file"
_STOPPED = (
    "one file that could not be loaded kept all others from running, so that the suite ran file by file"
)
_NOBODYS = (
    "The report names no file for {count} tests, so that they cannot be told apart by file, and tests in a new file are not "
    'found: name a command for one file as `test_one`, e.g. `test_one = "… {{file}}"`, in `.cogworks/services.toml`.'
)


class Ran(NamedTuple):
    """What lines came to."""

    results: tuple[LineResult, ...]
    parsed: Parsed
    timed_out: bool
    is_one: bool
    """Whether all of it is one result, by how it ended."""
    commands: tuple[str, ...]
    """What ran, and what is to be said of it."""
    remedies: tuple[str, ...] = ()
    cut_off: str = ""
    """The limit at which a line was ended in the middle of its tests; empty: none was, or only that of its time."""


class Order(NamedTuple):
    """Where lines run, and until when."""

    room: Room
    machine: Machine
    environment: Mapping[str, str]
    deadline_s: float
    """Of the monotonic clock."""


def run_lines(order: Order, selected: Selected) -> Ran:
    """Each of the selected lines, one after the other."""
    room, recipe = order.room, order.room.ground.recipe
    environment = {**order.environment, **reporter(recipe, room, order.environment)}
    results: list[LineResult] = []
    parsed: list[Parsed] = []
    for line, file in zip(selected.lines, selected.alone or [""] * len(selected.lines), strict=True):
        left_s = seconds_left(order.deadline_s)
        if left_s <= 0:
            break
        # Cargo names a program on one stream and its tests on the other.
        joined = f"{{ {line}\n}} 2>&1" if recipe.report in _IN_ORDER else line
        result = room.run(joined, order.machine, timeout_s=left_s, environment=environment)
        results.append(result)
        parsed.append(_of_file(order, _parsed(recipe, room, result), file))
        if result.ended.timed_out:
            break
    timed_out = len(results) < len(selected.lines) or any(result.ended.timed_out for result in results)
    commands = (*selected.lines, *([selected.note] if selected.note else []))
    if recipe.report == "exit-code" or ran_unreported(recipe, results):
        return Ran(tuple(results), Parsed(), timed_out, is_one=True, commands=commands)
    own, cut_off = _together(parsed), _cut_off(results)
    return Ran(tuple(results), own, timed_out, is_one=False, commands=commands, cut_off=cut_off)


def _cut_off(results: Sequence[LineResult]) -> str:
    ended = [each.ended for each in results if each.ended.code is None and not each.ended.timed_out]
    limits = [text.removeprefix(_ENDED) for each in ended for text in each.blocked if text.startswith(_ENDED)]
    return "; ".join(dict.fromkeys(limits))


def ran_by_file(order: Order) -> Ran:
    """The whole suite; once more by its files where nothing else says whose its tests are."""
    room, recipe = order.room, order.room.ground.recipe
    whole = run_lines(order, select(recipe, ()))
    if whole.timed_out or whole.cut_off:
        return whole
    files = tuple(files_below(room.ground.place))
    if recipe.runner == "uvu":
        return _past_broken_files(order, whole, files)
    if recipe.report != "tap":
        return whole
    placer = placer_of(room, order.machine)
    if recipe.runner == "ava" and len(only := ava_tests(files)) == 1:
        # It names files only where it runs several.
        return whole._replace(parsed=_placed(whole.parsed, placer, only[0]))
    nobodys = [case for case in whole.parsed.cases if not placer.file_of(case)]
    if not nobodys:
        return whole
    units = units_of(recipe, [Asked(file) for file in files_of_suite(recipe, files)])
    if not 0 < len(units) <= MOST_FILES:
        return whole._replace(remedies=(_NOBODYS.format(count=len(nobodys)),))
    apart = [run_lines(order, select(recipe, unit)) for unit in units]
    timed_out = any(each.timed_out for each in apart)
    cases = _with_places(whole.parsed.cases, nobodys, [case for each in apart for case in each.parsed.cases])
    commands = (*whole.commands, *(line for each in apart for line in each.commands), _UNNAMED)
    return whole._replace(parsed=whole.parsed._replace(cases=cases), timed_out=timed_out, commands=commands)


def _past_broken_files(order: Order, whole: Ran, files: Sequence[str]) -> Ran:
    """The same suite file by file where one ES module that cannot be loaded keeps uvu from running any."""
    recipe = order.room.ground.recipe
    is_stopped = not (whole.parsed.cases or whole.parsed.problems) and _has_failed(whole)
    is_begun = not any(why_not_begun(recipe.test, each.ended.code, each.text) for each in whole.results)
    units = (
        units_of(recipe, [Asked(file) for file in files_of_suite(recipe, files)])
        if is_stopped and is_begun
        else ()
    )
    if not 0 < len(units) <= MOST_FILES:
        return whole
    apart = [run_lines(order, select(recipe, unit)) for unit in units]
    placer = placer_of(order.room, order.machine)
    parsed = [_with_problem(ran, unit[0].file, placer) for ran, unit in zip(apart, units, strict=True)]
    if not any(each.cases for each in parsed):
        return whole
    return Ran(
        tuple(result for each in apart for result in each.results),
        _together(parsed),
        any(each.timed_out for each in apart),
        is_one=False,
        commands=(*whole.commands, *(line for each in apart for line in each.commands), _STOPPED),
    )


def _has_failed(ran: Ran) -> bool:
    return any(result.ended.code not in (0, None) for result in ran.results)


def _with_problem(ran: Ran, file: str, placer: Placer) -> Parsed:
    """What the run of one file reported; where that is nothing, why."""
    if ran.parsed.cases or ran.parsed.problems or not _has_failed(ran):
        return ran.parsed
    texts = [(each.ended.code, each.text) for each in ran.results]
    own = [each for _, text in texts for each in errors_in(text) if placer.path(each.file) == file]
    said = [Problem(said_last(code, text), file=file) for code, text in texts]
    return ran.parsed._replace(problems=tuple(own or said))


def _with_places(whole: Sequence[Case], nobodys: Sequence[Case], apart: Sequence[Case]) -> tuple[Case, ...]:
    """The cases of a suite. Those without a file are taken from the runs of single files; one that is in none of these stays as it is."""
    count_by_name = Counter(case.name for case in nobodys)
    with_files = []
    for case in apart:
        if count_by_name[case.name]:
            count_by_name[case.name] -= 1
            with_files.append(case)
    kept = []
    for case in whole:
        if case not in nobodys:
            kept.append(case)
        elif count_by_name[case.name]:
            count_by_name[case.name] -= 1
            kept.append(case)
    return (*kept, *with_files)


def _of_file(order: Order, parsed: Parsed, file: str) -> Parsed:
    """What one line reported, in the one file that it ran where its report names none."""
    is_bare = file and order.room.ground.recipe.report == "tap" and (order.room.place / file).is_file()
    return _placed(parsed, placer_of(order.room, order.machine), file) if is_bare else parsed


def _placed(parsed: Parsed, placer: Placer, file: str) -> Parsed:
    return parsed._replace(
        cases=tuple(case if placer.file_of(case) else case._replace(file=file) for case in parsed.cases)
    )


def _together(parsed: Sequence[Parsed]) -> Parsed:
    return Parsed(
        tuple(case for each in parsed for case in each.cases),
        tuple(problem for each in parsed for problem in each.problems),
        not parsed or any(each.is_cut for each in parsed),
    )


def _parsed(recipe: Recipe, room: Room, result: LineResult) -> Parsed:
    if recipe.report == "exit-code":
        return Parsed()
    is_heard = is_listened_to(recipe) and result.report is not None
    return read_all("tape" if is_heard else recipe.report, _reports(recipe, room, result))


def _reports(recipe: Recipe, room: Room, result: LineResult) -> list[bytes]:
    if recipe.report_file:
        return list(room.reports(recipe.report_file))
    if result.report is not None:
        return [result.report]
    if recipe.report == "junit":
        # Older reporters print it all the same, after what the tests printed.
        start = result.output.find("<testsuite")
        return [result.output[start:].encode()] if start >= 0 else []
    if recipe.report in ("go-json", "cargo", "libtest-json"):
        return [result.text.encode()]
    return [result.output.encode()] if recipe.report in ("tap", "node-test") else []
