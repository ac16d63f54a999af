"""The operation `simulate`: run tests by the commands of the root, one result for each."""

import shlex
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from cogworks.domain_services.checking import SimulateParams
from cogworks.domain_services.messages import EVERYTHING, ErrorCode, Request, Response, TestCase, TestReport
from cogworks.domain_services.parts import joined
from cogworks.services.answers import answered
from cogworks.services.command.compiled import kept_for
from cogworks.services.command.compilers import errors_in
from cogworks.services.command.fetching import not_fetched
from cogworks.services.command.ground import (
    Ground,
    Machine,
    NotReady,
    files_below,
    ground_of,
    module_of,
    refuse_missing,
    text_at,
    with_words,
)
from cogworks.services.command.placing import Placer, placer_of
from cogworks.services.command.provision import provided
from cogworks.services.command.reports.cases import Problem
from cogworks.services.command.rooms import LineResult, Room, hints_about, open_room
from cogworks.services.command.running import Order, Ran, ran_by_file, run_lines
from cogworks.services.command.selecting import (
    Asked,
    Pace,
    files_of_suite,
    parts_of,
    select,
    too_long,
    units_of,
)
from cogworks.services.command.starting import said_last, why_not_begun
from cogworks.services.command.toolchains import ASKING, cannot_read_pattern, too_old
from cogworks.services.python.simulating import outcome_counts, refused_run, test_diagnostics

_TAIL_CHARS = 2_000
_SHORTEST_S = 1.0
_TOGETHER = ("rust", "java", "csharp", "c")
"""Languages of which no test runs where one file does not compile."""


def simulate(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = SimulateParams.model_validate(request.params)
    named = [test for test in params.tests if parts_of(test).file != EVERYTHING]
    if (no := refused_run(request, named, params.environment, machine.isolation)) is not None:
        return no
    ground = with_words(ground_of(request, folder, machine), params.command)
    report = report_of(request, ground, params, machine)
    refuse_silence(report, params.command)
    return answered(
        request,
        test_diagnostics(report),
        report.model_dump(mode="json"),
        counts=outcome_counts(report),
        versions=report.versions,
    )


def refuse_silence(report: TestReport, words: Sequence[str]) -> None:
    """Nothing, unless a command of the user's reported no test at all.

    Raises:
        NotReady: it cannot be believed.
    """
    if words and not (report.cases or report.left or report.collection_errors or report.timed_out):
        raise NotReady(f"`{shlex.join(words)}` told of no test. {_CONFIGURE}", ErrorCode.INVALID_REQUEST)


def report_of(
    request: Request,
    ground: Ground,
    params: SimulateParams,
    machine: Machine,
    *,
    then: Callable[[Room, TestReport, float], None] = lambda *_: None,
) -> TestReport:
    """How the tests came out.

    Args:
        then: what else is done in the room of a run that finished; it gets its deadline, by the monotonic clock.
    """
    recipe = ground.recipe
    if not recipe.test:
        return TestReport(cases=(), remedies=(*recipe.notes, _CONFIGURE))
    # Before the long setup: what that cannot bring.
    refuse_missing(ground, brought=recipe.manager.program)
    asked, strangers = _asked(ground, params.tests)
    lost = [test for test in asked if not (ground.place / test.file).exists()]
    kept = [test for test in asked if test not in lost]
    errors = [f"{ground.outward(test.file)}: there is no such test file in the working copy" for test in lost]
    errors += [
        f"{test}: it lies outside of {ground.root!r}, the folder of this service" for test in strangers
    ]
    if params.tests and not kept:
        return TestReport(cases=(), collection_errors=tuple(errors))
    deadline_s = time.monotonic() + params.timeout_s
    with (
        provided(
            request, ground, machine, limit_s=params.timeout_s, hints=partial(hints_about, ground, machine)
        ) as provision,
        kept_for(request, ground, machine) as kept_files,
        open_room(ground, provision, machine, kept=kept_files) as room,
    ):
        refuse_missing(ground, brought=provision.setup.brings)
        # What a setup took is no longer there for the tests.
        left_s = max(deadline_s - time.monotonic(), min(params.timeout_s, _SHORTEST_S))
        limited = params.model_copy(update={"timeout_s": left_s})
        if params.parts == "rest" and (units := units_of(recipe, kept)):
            report = _in_turn(room, provision.notes, units, limited, machine)
        else:
            report = _at_once(room, provision.notes, kept, limited, machine)
        if not (report.timed_out or report.left):
            then(room, report, deadline_s)
    if report.timed_out and params.parts == "if_long":
        units = _units(ground, kept)
        slow = _named(ground, units)
        report = (
            _left(report, ground, units)
            if len(units) > 1
            else _with_remedy(report, too_long(ground.recipe, slow, params.timeout_s))
        )
    return report.model_copy(update={"collection_errors": (*errors, *report.collection_errors)})


def _at_once(
    room: Room, notes: tuple[str, ...], tests: Sequence[Asked], params: SimulateParams, machine: Machine
) -> TestReport:
    order = Order(room, machine, params.environment, time.monotonic() + params.timeout_s)
    ran = ran_by_file(order) if not tests else run_lines(order, select(room.ground.recipe, tests))
    report = _report(room, ran, tests, machine, notes=notes)
    if ran.cut_off and params.parts == "if_long" and len(units := _units(room.ground, tests)) > 1:
        # One file at a time may well stay within the limit.
        return _left(report, room.ground, units)
    errors = (*_cut_off(room.ground, ran, tests), *_errors(room, ran, machine))
    manifests = {name: text_at(room.place, name) for name in ASKING} if errors else {}
    lacking = _lacking(room, errors) if errors else ()
    begin = (_BEGIN, _CONFIGURE) if any(_not_begun(room, each) for each in ran.results) and errors else ()
    fewer = (_FEWER,) if ran.cut_off else ()
    old = (*too_old(manifests, report.versions), *cannot_read_pattern(errors, report.versions))
    # How the command was chosen is nothing to do about what cannot be loaded.
    others = [each for each in report.remedies if not errors or each not in room.ground.recipe.notes]
    remedies = (*old, *lacking, *fewer, *others, *begin)
    return report.model_copy(update={"collection_errors": errors, "remedies": remedies})


def _cut_off(ground: Ground, ran: Ran, tests: Sequence[Asked]) -> tuple[str, ...]:
    """That some tests did not run, under the only file that was asked for, else under the place of all."""
    files = {test.file for test in tests}
    place = ground.outward(files.pop() if len(files) == 1 else EVERYTHING)
    return (f"{place}: the run was ended before its end: {ran.cut_off}",) if ran.cut_off else ()


def _lacking(room: Room, errors: Sequence[str]) -> tuple[str, ...]:
    """How packages that are missing come onto this machine."""
    files = frozenset(files_below(room.ground.place))
    has_vendor = (room.place / "vendor").is_dir()
    return not_fetched(room.ground.recipe, errors, has_vendor=has_vendor, files=files)


def _in_turn(
    room: Room,
    notes: tuple[str, ...],
    units: Sequence[Sequence[Asked]],
    params: SimulateParams,
    machine: Machine,
) -> TestReport:
    """What one command for each unit came to, as far as there was time; the others are left."""
    pace, reports = Pace(params.timeout_s), list[TestReport]()
    seconds: dict[str, float] = {}
    for number, unit in enumerate(units):
        if not pace.may_begin():
            return joined(reports).model_copy(update={"left": _named(room.ground, units[number:])})
        limited = params.model_copy(update={"timeout_s": max(pace.left_s, _SHORTEST_S)})
        began_s = time.monotonic()
        report = _at_once(room, notes, unit, limited, machine)
        notes = ()
        if report.timed_out and reports:
            return joined(reports).model_copy(update={"left": _named(room.ground, units[number:])})
        if report.timed_out:
            slow = _named(room.ground, [unit])
            return _with_remedy(report, too_long(room.ground.recipe, slow, params.timeout_s))
        if params.timings:
            seconds[_named(room.ground, [unit])[0].split("::", 1)[0]] = round(time.monotonic() - began_s, 2)
        reports.append(report.model_copy(update={"seconds": seconds}))
    return joined(reports)


def _units(ground: Ground, kept: Sequence[Asked]) -> tuple[tuple[Asked, ...], ...]:
    """What one command each can run of these tests, or of the whole suite."""
    tests = kept or [Asked(file) for file in files_of_suite(ground.recipe, tuple(files_below(ground.place)))]
    return units_of(ground.recipe, tests)


def _left(report: TestReport, ground: Ground, units: Sequence[Sequence[Asked]]) -> TestReport:
    """Everything is left to runs of single files, for it is unknown which files of what was cut off were done."""
    return report.model_copy(
        update={"cases": (), "collection_errors": (), "timed_out": False, "left": _named(ground, units)}
    )


def _named(ground: Ground, units: Sequence[Sequence[Asked]]) -> tuple[str, ...]:
    return tuple(
        f"{ground.outward(test.file)}::{test.name}" if test.name else ground.outward(test.file)
        for unit in units
        for test in unit
    )


def _with_remedy(report: TestReport, remedy: str) -> TestReport:
    return report.model_copy(update={"remedies": (*report.remedies, remedy)})


_CONFIGURE = (
    'Name the command in `.cogworks/services.toml`: `[[services]]`, `name = "tests"`, `kind = "command"`, `test = "…"` and, '
    "where it writes one, `report`."
)


_FEWER = (
    "Let the test command run fewer tests at once (`--serial`, `--concurrency`, `--maxWorkers`, `-j`, `--test-concurrency`), so that it stays "
    "within the limits of its isolation."
)
_BEGIN = (
    "Install what the command starts where cogworks runs, or add it to the packages of the repository; "
    "`cogworks doctor PATH` shows whether the tests run then."
)


def _asked(ground: Ground, tests: Sequence[str]) -> tuple[list[Asked], list[str]]:
    asked, strangers = [], []
    for text in tests:
        outer = parts_of(text)
        inner = ground.inward(outer.file.rstrip("/") or EVERYTHING)
        if inner is None:
            strangers.append(text)
        else:
            asked.append(outer._replace(file=inner))
    return asked, strangers


def _report(
    room: Room,
    ran: Ran,
    tests: Sequence[Asked],
    machine: Machine,
    *,
    notes: tuple[str, ...] = (),
) -> TestReport:
    ground, recipe = room.ground, room.ground.recipe
    cases = _by_exit(room, ran) if ran.is_one else _cases(room, ran, machine)
    kept = [case for case in cases if not tests or any(_is_of(case.id, test, ground) for test in tests)]
    return TestReport(
        cases=tuple(cases if ran.is_one else kept),
        timed_out=ran.timed_out,
        blocked=tuple(dict.fromkeys(text for result in ran.results for text in result.ended.blocked)),
        unprotected=machine.isolation.unprotected,
        commands=tuple(room.without_places(command) for command in ran.commands),
        versions=room.versions(),
        remedies=(*recipe.notes, *notes, *ran.remedies),
    )


def _cases(room: Room, ran: Ran, machine: Machine) -> list[TestCase]:
    ground = room.ground
    return [
        TestCase(id=_id(ground, test), outcome=case.outcome, message=_message(room, case.message))
        for test, case in placer_of(room, machine).ids(ran.parsed.cases)
    ]


def _message(room: Room, text: str) -> str:
    return room.without_places(text)


def _id(ground: Ground, test: str) -> str:
    file, _, name = test.partition("::")
    return f"{ground.outward(file)}::{name}"


def _by_exit(room: Room, ran: Ran) -> list[TestCase]:
    """One case for each line that began: whether it ended with 0."""
    return [
        TestCase(
            id=f"{room.ground.outward(EVERYTHING)}::{room.ground.recipe.test}",
            outcome="passed" if result.ended.code == 0 else "failed",
            message="" if result.ended.code == 0 else _message(room, _why_failed(result)),
        )
        for result in ran.results[:1]
        if not (result.ended.timed_out or _not_begun(room, result))
    ]


def _why_failed(result: LineResult) -> str:
    """The line that names what went wrong, for the first one counts as the reason, then the last of the output in whole lines."""
    *_, reason = said_last(result.ended.code, result.text).splitlines()
    text = result.text.strip()
    last = text[-_TAIL_CHARS:]
    whole = last if len(last) == len(text) else last.partition("\n")[2] or last
    return whole if whole.startswith(reason) else f"{reason}\n{whole}".strip()


def _not_begun(room: Room, result: LineResult) -> str:
    """Why a line ran no test, in words; empty: it may have run some."""
    return why_not_begun(room.ground.recipe.test, result.ended.code, result.text)


def _is_of(case: str, test: Asked, ground: Ground) -> bool:
    file, _, name = case.partition("::")
    outer = ground.outward(test.file)
    if test.name:
        return file == outer and (name == test.name or name.startswith((f"{test.name}/", f"{test.name} > ")))
    return file == outer or file.startswith(f"{outer}/") or outer == EVERYTHING


def _errors(room: Room, ran: Ran, machine: Machine) -> list[str]:
    """What could not be loaded, each beginning with its place."""
    parsed = ran.parsed
    failed = [result for result in ran.results if result.ended.code not in (0, None)]
    placer = placer_of(room, machine)
    failures = list(parsed.problems)
    if not failures and not parsed.cases:
        failures = [Problem(words) for result in failed if (words := _not_begun(room, result))]
    if not failures and failed and not parsed.cases and not ran.is_one:
        failures = [each for result in failed for each in errors_in(result.text)] or [
            Problem(said_last(result.ended.code, result.text)) for result in failed
        ]
    errors = [_error(room, placer, each) for each in failures]
    is_unread = parsed.is_cut and not (ran.timed_out or ran.cut_off or ran.is_one)
    if is_unread and not errors and not parsed.cases:
        errors.append(f"{room.ground.outward(EVERYTHING)}: the report of the tests cannot be read")
    return list(dict.fromkeys(errors))[:200]


def _error(room: Room, placer: Placer, problem: Problem) -> str:
    """The place whose tests could not be loaded, then the place and the words of the problem."""
    package = _go_folder(room, problem.group)
    file = placer.path(problem.file) or placer.path(f"{package}{problem.file}")
    words = _message(room, problem.message).strip()
    language = room.ground.recipe.language
    hidden = file
    if language == "go":
        hidden = (file.rpartition("/")[0] if file else package.rstrip("/")) or EVERYTHING
    elif not file or language in _TOGETHER:
        hidden = EVERYTHING
    if not file:
        return f"{room.ground.outward(hidden)}: {words}"
    line = f":{problem.line}" if problem.line else ""
    return f"{room.ground.outward(hidden)}: {room.ground.outward(file)}{line}: {words}"


def _go_folder(room: Room, group: str) -> str:
    module = module_of(room.place)
    return f"{group[len(module) :].strip('/')}/".lstrip("/") if module and group.startswith(module) else ""
