"""What a work item would do in a checkout: a few sentences for people."""

from collections import Counter
from collections.abc import Iterator

from cogworks.checkup.findings import Checkup, counted
from cogworks.checkup.verdict import things_to_do
from cogworks.domain_services.messages import TestReport

_MOST_FOLDERS = 3


def outlook(found: Checkup) -> tuple[str, ...]:
    """Sentences that follow `a work item here would`."""
    return tuple(_sentences(found))


def _sentences(found: Checkup) -> Iterator[str]:
    if things := things_to_do(found):
        more = f", and {len(things) - 1} more" if len(things) > 1 else ""
        yield f"stop before its first model call, with nothing paid (see `to do`{more})"
    else:
        yield _start(found)
    written = (
        f"write its specification below {found.specs}/"
        if found.specs
        else "show its specification in a pull request that nobody merges"
    )
    yield f"{written}{_tests(found.report)}"
    if found.report is not None and found.report.cases:
        yield _guard(found.report)
    yield (
        "refuse a change of what git ignores, of .cogworks/ or of a workflow"
        + (
            ", and ask a person before it changes what is installed"
            if found.dependency_changes == "ask"
            else ""
        )
    )


def _start(found: Checkup) -> str:
    if found.baseline == "none":
        return 'run no test of the base (`[tests] baseline = "none"`), only those that come with a change'
    parts = f" in {found.suite.runs} parts" if found.suite is not None and found.suite.runs > 1 else ""
    known = ", name in every proof what cannot be loaded," if found.baseline == "allow-failing" else ""
    return f'run this suite{parts} on its base commit{known} and go on to the model (`[tests] baseline = "{found.baseline}"`)'


def _tests(report: TestReport | None) -> str:
    folders = Counter(
        case.id.split("::", 1)[0].rpartition("/")[0] for case in (report.cases if report else ())
    )
    names = ", ".join(
        f"{name}/" if name else "the top folder" for name, _ in folders.most_common(_MOST_FOLDERS)
    )
    return f", and new tests beside those of {names}" if names else ""


def _guard(report: TestReport) -> str:
    numbers = counted(report)
    known = f"; {numbers.failed} failing already, known and never blamed on it" if numbers.failed else ""
    return f"refuse a change that breaks, skips or removes a passing test ({numbers.passed} of them{known})"
