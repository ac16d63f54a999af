"""How bad a tree is, as sets of what fails, cannot be collected or is refused: fewer is not better, a subset is."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport, hides, hides_any, is_hidden
from cogworks.repair.transact.renamed import under_other_ids
from cogworks.vocabulary import Severity, Value

BAD = frozenset({"failed", "error"})
RERUNS = 2
"""How often a new failure is tried again before it counts."""
_NUMBER = re.compile(r"\d+")


class StaticError(NamedTuple):
    """A finding of a static check, identified without its line: lines move."""

    path: str
    category: str
    message: str
    """Without its numbers."""
    nth: int = 1
    """Counts findings of a file that are alike otherwise."""

    def __str__(self) -> str:
        return ": ".join(self[:3])


class Measurement(Value):
    """The state of one tree under one selection of tests."""

    failing: frozenset[str] = frozenset()
    """Tests that failed or ended with an error, in every run of them."""
    uncollected: frozenset[str] = frozenset()
    """Files and folders whose tests could not be loaded; `.` when that is so for all of them."""
    static: frozenset[StaticError] = frozenset()
    passing: frozenset[str] = frozenset()
    flaky: frozenset[str] = frozenset()
    """Tests that failed in some runs and passed in others; they decide nothing and are reported."""
    hung: frozenset[str] = frozenset()
    """Those of the failing ones that had not come to their end at the time limit; another run would take as long again."""
    churn: float = 0.0
    """From the commit the run started from."""

    @property
    def scalar(self) -> float:
        """One number for reports and for a choice between equals; it never decides a commit."""
        return 100 * len(self.failing) + 100 * len(self.uncollected) + 50 * len(self.static) + self.churn


class Worse(NamedTuple):
    """What a change made worse; nothing when all of it is empty."""

    failing: tuple[str, ...]
    vanished: tuple[str, ...]
    """Tests that ran and do not run any more: deleting a test is not a repair, be it one that failed."""
    uncollected: tuple[str, ...]
    static: tuple[StaticError, ...]

    def __bool__(self) -> bool:
        return any(self)


def measured(
    report: TestReport, diagnostics: Iterable[Diagnostic] = (), *, churn: float = 0.0
) -> Measurement:
    """What one run of the tests and one of the static checks say of a tree."""
    return Measurement(
        failing=ids(report, BAD),
        passing=ids(report, {"passed"}),
        uncollected=frozenset(file_of(error) for error in report.collection_errors),
        static=static_errors(diagnostics),
        hung=frozenset(report.hung),
        churn=churn,
    )


def static_errors(diagnostics: Iterable[Diagnostic]) -> frozenset[StaticError]:
    """The blocking findings; the others stop nothing and are not measured."""
    return frozenset(error for error, _ in _numbered_errors(diagnostics))


def new_faults(before: Iterable[Diagnostic], after: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The blocking findings after a change that were not there before it, in their order."""
    return faults_beyond(static_errors(before), after)


def faults_beyond(
    known: Collection[StaticError], diagnostics: Iterable[Diagnostic]
) -> tuple[Diagnostic, ...]:
    """The blocking findings that are none of the known ones, in their order."""
    return tuple(diagnostic for error, diagnostic in _numbered_errors(diagnostics) if error not in known)


def _numbered_errors(diagnostics: Iterable[Diagnostic]) -> Iterator[tuple[StaticError, Diagnostic]]:
    seen = Counter[StaticError]()
    for diagnostic in diagnostics:
        if diagnostic.severity is Severity.BLOCKING:
            alike = StaticError(
                diagnostic.artifact, diagnostic.category, _NUMBER.sub("#", diagnostic.message)
            )
            seen[alike] += 1
            yield alike._replace(nth=seen[alike]), diagnostic


def worse(before: Measurement, after: Measurement) -> Worse:
    """What is bad now and was not: sets, so that two repaired tests do not pay for a broken one."""
    spared = before.flaky | after.flaky
    ran = before.passing | before.failing
    unloaded = newly_unloaded(before, after)
    # What could not be loaded says nothing about the tests in it; it counts as itself.
    lost = frozenset() if unloaded else ran - after.passing - after.failing - spared
    failing = newly_failing(before, after) - spared
    return Worse(
        failing=tuple(sorted(failing - under_other_ids(failing, before.failing - after.failing))),
        vanished=tuple(sorted(lost - under_other_ids(lost, (after.passing | after.failing) - ran))),
        uncollected=tuple(sorted(unloaded)),
        static=tuple(sorted(after.static - before.static)),
    )


def newly_failing(before: Measurement, after: Measurement) -> frozenset[str]:
    """The tests that fail and did not.

    In a file that could not be loaded a test did not pass either, unless another run on the same files saw it pass.
    """
    return frozenset(
        test
        for test in after.failing - before.failing
        if not is_hidden(test, before.uncollected) or test in before.passing
    )


def newly_unloaded(before: Measurement, after: Measurement) -> frozenset[str]:
    """The files and folders that cannot be loaded and are not below what could not be loaded before.

    As with `newly_failing`, nothing is excused in which another run saw a test pass.
    """
    return frozenset(
        place
        for place in after.uncollected - before.uncollected
        if not is_hidden(place, before.uncollected) or hides_any(place, before.passing)
    )


def with_hidden_tests(before: TestReport, now: TestReport) -> TestReport:
    """An earlier report with the tests of files that it could not load, as far as a later one knows them.

    They were there all the same and did not pass: each is an error. So is what cannot be loaded yet, below a folder that
    could not be loaded then.
    """
    there = {*(case.id for case in before.cases), *before.collection_errors}
    cases = [
        TestCase(id=case.id, outcome="error", message=hidden)
        for case in now.cases
        if case.id not in there and (hidden := _hiding(case.id, before.collection_errors))
    ]
    errors = [
        error
        for error in now.collection_errors
        if error not in there and is_hidden(file_of(error), before.collection_errors)
    ]
    return before.model_copy(
        update={
            "cases": (*before.cases, *cases),
            "collection_errors": (*before.collection_errors, *errors),
        }
    )


def limited_to(report: TestReport, tests: Sequence[str]) -> TestReport:
    """What a report says of these tests and the files and folders they are in; none: all of it."""
    if not tests:
        return report
    return report.model_copy(
        update={
            "cases": tuple(case for case in report.cases if any(is_of(case.id, test) for test in tests)),
            "collection_errors": tuple(
                error for error in report.collection_errors if hides_any(error, tests)
            ),
        }
    )


def improved(before: Measurement, after: Measurement) -> bool:
    """Whether something bad is gone and nothing bad has come."""
    # What fails in a file that can be loaded now was bad before, as a part of that file.
    known = (after.failing - newly_failing(before, after) - before.failing) | (
        after.uncollected - newly_unloaded(before, after) - before.uncollected
    )
    spared = before.flaky | after.flaky | known
    return not worse(before, after) and _bad(after) - spared < _bad(before) - spared


def refusal(
    before: Measurement,
    after: Measurement,
    *,
    landmark: Collection[str] = (),
    must_pass: Collection[str] = (),
    may_fail: Collection[str] = (),
    proving: Collection[str] = (),
    is_part: bool = False,
) -> str | None:
    """Why a change may not be kept, None when it may.

    Args:
        landmark: tests this change shall make pass; none: it has to improve something.
        must_pass: tests that have to pass besides; the targeted ones when this is the last landmark.
        may_fail: tests of wanted files that need not pass, as they did not before.
        proving: files that have to hold a test that passes; what failed in them before may go on failing.
        is_part: it is enough that nothing is worse.
    """
    if regression := worse(before, after):
        return worse_in_words(regression)
    wanted = {*landmark, *must_pass}
    if unsteady := sorted(test for test in wanted if any(is_of(each, test) for each in before.flaky)):
        return f"cannot be judged by tests that were flaky before: {_listed(unsteady)}"
    if unmet := sorted(test for test in wanted if not _passes(test, after, may_fail)):
        return f"does not make these tests pass: {_listed(unmet)}"
    if silent := unproven(proving, after):
        return f"proves nothing by {_listed(silent)}: no test there passed"
    if not (landmark or proving or is_part) and not improved(before, after):
        return "improves nothing: the same tests fail, and the same static checks"
    return None


def unproven(files: Iterable[str], after: Measurement) -> tuple[str, ...]:
    """Those of the files in which no test passes."""
    return tuple(file for file in files if not any(is_of(test, file) for test in after.passing))


def confirmed(first: Measurement, reruns: Sequence[TestReport], tests: Collection[str]) -> Measurement:
    """The measurement after `tests` ran again: those that passed in some run are flaky and fail no more.

    A test that a rerun does not even mention stays as it was at first.
    """
    unsteady = {test for test in tests if any(test in ids(report, {"passed"}) for report in reruns)}
    return first.model_copy(
        update={"failing": first.failing - unsteady, "flaky": first.flaky | frozenset(unsteady)}
    )


def joined(parts: Sequence[Measurement]) -> Measurement:
    """What several runs say together of one tree; the churn is the largest they name."""
    flaky = frozenset[str]().union(*(part.flaky for part in parts))
    return Measurement(
        failing=frozenset[str]().union(*(part.failing for part in parts)) - flaky,
        passing=frozenset[str]().union(*(part.passing for part in parts)) - flaky,
        uncollected=frozenset[str]().union(*(part.uncollected for part in parts)),
        static=frozenset[StaticError]().union(*(part.static for part in parts)),
        flaky=flaky,
        hung=frozenset[str]().union(*(part.hung for part in parts)),
        churn=max((part.churn for part in parts), default=0.0),
    )


def ids(report: TestReport, outcomes: Collection[str]) -> frozenset[str]:
    """The tests of a report with one of these outcomes."""
    return frozenset(case.id for case in report.cases if case.outcome in outcomes)


def worse_in_words(regression: Worse) -> str:
    """Every kind of regression with its names, for the log and for the next proposal."""
    parts = {
        "breaks": regression.failing,
        "makes disappear": regression.vanished,
        "makes uncollectable": regression.uncollected,
        "adds to the static checks": tuple(map(str, regression.static)),
    }
    return "; ".join(f"{verb} {_listed(names)}" for verb, names in parts.items() if names)


def _passes(wanted: str, after: Measurement, may_fail: Collection[str]) -> bool:
    """Whether a test passes; a file passes when one of its tests does and none that has to is failing or unsteady."""
    own = {test for test in after.passing if is_of(test, wanted)}
    bad = {test for test in after.failing | after.flaky if is_of(test, wanted) and test not in may_fail}
    return bool(own) and not bad and wanted not in after.uncollected


def is_of(test: str, wanted: str) -> bool:
    """Whether a test is the wanted one, belongs to the wanted file or class, or is one of its parameters."""
    return test == wanted or test.startswith((f"{wanted}::", f"{wanted}["))


def _hiding(test: str, errors: Iterable[str]) -> str:
    """The first of the errors by which a test could not be loaded; empty when there is none."""
    return next((error for error in errors if hides(error, test)), "")


def _bad(measurement: Measurement) -> frozenset[object]:
    return frozenset((*measurement.failing, *measurement.uncollected, *measurement.static))


def file_of(test: str) -> str:
    """The file of a test such as `tests/test_a.py::test_b[c]`, or the place of a collection error, which starts with it."""
    return test.split(":", 1)[0]


def restated(before: Collection[str], after: Collection[str], paths: Collection[str]) -> frozenset[str]:
    """The tests of these files that are gone although their function has as many cases as before: a case has another id now.

    Runners name the cases of a parametrized test after its inputs and expectations, so a change of an expectation changes
    the id.
    """
    cases: dict[str, tuple[set[str], set[str]]] = {}
    for side, tests in enumerate((before, after)):
        for test in tests:
            if file_of(test) in paths:
                cases.setdefault(test.partition("[")[0], (set(), set()))[side].add(test)
    return frozenset(test for old, new in cases.values() if len(new) >= len(old) for test in old - new)


def _listed(names: Sequence[str], most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
