"""Tests whose ids a clock or chance writes: the same case has another id in every run.

Runners name the cases of a parametrized test after its inputs. Where an input is `datetime.now()` or a new UUID, no run knows the ids
of the run before. `steady.py` learns any such names from two runs; these are known after one.
"""

import re
from collections import Counter
from collections.abc import Collection

from cogworks.domain_services.messages import TestReport

_WRITTEN = re.compile(
    # Days and times of ISO 8601, times of day, UUIDs, addresses of objects, seconds since 1970, and fractions as `random()` has them.
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)?(?:Z|[+-]\d{2}:?\d{2})?"
    r"|(?<!\d)\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?!\d)"
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|0x[0-9a-fA-F]{6,}"
    r"|(?<!\d)\d{10,}(?:\.\d+)?"
    r"|(?<!\d)\d+\.\d{9,}"
)
_SOMETHING = "\0"


def under_other_ids(gone: Collection[str], new: Collection[str]) -> frozenset[str]:
    """Those of the gone tests that are among the new ones under another id.

    A test is one of the new ones where their ids differ in nothing but what a clock or chance writes. Each new test stands for one.
    """
    left = Counter(settled for test in new if (settled := _settled(test)) != test)
    there: set[str] = set()
    for test in sorted(gone):
        settled = _settled(test)
        if settled != test and left[settled] > 0:
            left[settled] -= 1
            there.add(test)
    return frozenset(there)


def as_called_in(before: TestReport, report: TestReport, *, but: Collection[str] = ()) -> TestReport:
    """A later report with the ids that its cases had in an earlier one, in the same order.

    Both have run whole files: of a part of the cases nobody can tell which are gone. Of several cases that are alike but for such values, the first that is new stands for the first that is gone.

    Args:
        but: files that somebody changed between the two: there a case with another day may be another test.
    """
    known = {case.id for case in before.cases}
    now = {case.id for case in report.cases}
    gone: dict[str, list[str]] = {}
    for case in before.cases:
        if (
            case.id not in now
            and case.id.partition("::")[0] not in but
            and (settled := _settled(case.id)) != case.id
        ):
            gone.setdefault(settled, []).append(case.id)
    cases = [
        case.model_copy(update={"id": names.pop(0)})
        if case.id not in known and (names := gone.get(_settled(case.id)))
        else case
        for case in report.cases
    ]
    return report.model_copy(update={"cases": tuple(cases)}) if gone else report


def _settled(test: str) -> str:
    """The id without what a clock or chance may have written into the name of a case; the file stays as it is."""
    file, colons, name = test.partition("::")
    return file + colons + _WRITTEN.sub(_SOMETHING, name)
