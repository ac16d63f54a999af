"""What a work item would do in a checkout, whether it could go on there, and the configuration that says what was guessed."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from posixpath import basename, dirname

from cogworks.checkup.findings import Checkup, ServiceCheckup, counted
from cogworks.codegen.suite import none_passes, nothing_ran, refusal_of
from cogworks.domain_services.messages import TestReport
from cogworks.vocabulary import Value

_NODE = "code_generation: "
"""How the baseline check of an item begins what it says; here no node is at work."""


class ToDo(Value):
    """One thing that keeps a work item from going on."""

    what: str
    remedy: str = ""
    """Empty where `what` says it."""


def things_to_do(checkup: Checkup) -> tuple[ToDo, ...]:
    """What somebody has to do before a work item could go on; none: it could."""
    return tuple(_each(checkup))


def advice(checkup: Checkup) -> tuple[str, ...]:
    """What could be done about tests that fail and keep no work item from going on, in the words of the services."""
    report = checkup.report
    stops = report is None or bool(
        refusal_of(report, wanted=checkup.baseline) or none_passes(report, wanted=checkup.baseline)
    )
    if stops or report is None:
        return ()
    return tuple(each for each in report.remedies if each not in checkup.notes)


def _each(checkup: Checkup) -> Iterator[ToDo]:
    for problem in checkup.problems:
        yield ToDo(what=problem)
    if checkup.packs is not None and checkup.packs.status == "failed":
        yield ToDo(what=checkup.packs.found)
    if checkup.languages.status == "failed":
        yield ToDo(what=checkup.languages.found, remedy=checkup.languages.remedy)
    for each in checkup.services:
        if each.problem:
            place = f"{each.root}: " if each.root else ""
            yield ToDo(what=f"{place}{each.problem}")
    if checkup.suite is not None and checkup.suite.problem:
        yield ToDo(what=checkup.suite.problem)
    if (report := checkup.report) is not None:
        yield from _of_the_suite(report, checkup)


def _of_the_suite(report: TestReport, checkup: Checkup) -> Iterator[ToDo]:
    """In the words of the check that an item makes before its first model call."""
    if (refused := refusal_of(report, wanted=checkup.baseline)) is not None:
        what, _, remedy = refused.reason.removeprefix(_NODE).partition("\n")
        yield ToDo(what=what, remedy=remedy)
    elif checkup.baseline != "none" and (why := nothing_ran(report)):
        yield ToDo(what=why)
    elif why := none_passes(report, wanted=checkup.baseline):
        what, _, remedy = why.partition("\n")
        yield ToDo(what=what, remedy=remedy)


_MOST_FOLDERS = 3


def outlook(checkup: Checkup) -> tuple[str, ...]:
    """Sentences that follow `a work item here would`."""
    return tuple(_sentences(checkup))


def _sentences(checkup: Checkup) -> Iterator[str]:
    if things := things_to_do(checkup):
        more = f", and {len(things) - 1} more" if len(things) > 1 else ""
        yield f"stop before its first model call, with nothing paid (see `to do`{more})"
    else:
        yield _start(checkup)
    written = (
        f"write its specification below {checkup.specs}/"
        if checkup.specs
        else "show its specification in a pull request that nobody merges"
    )
    yield f"{written}{_tests(checkup.report)}"
    if checkup.report is not None and checkup.report.cases:
        yield _guard(checkup.report)
    yield (
        "refuse a change of what git ignores, of .cogworks/ or of a workflow"
        + (
            ", and ask a person before it changes what is installed"
            if checkup.dependency_changes == "ask"
            else ""
        )
    )


def _start(checkup: Checkup) -> str:
    if checkup.baseline == "none":
        return 'run no test of the base (`[tests] baseline = "none"`), only those that come with a change'
    parts = f" in {checkup.suite.runs} parts" if checkup.suite is not None and checkup.suite.runs > 1 else ""
    known = ", name in every proof what cannot be loaded," if checkup.baseline == "allow-failing" else ""
    return f'run this suite{parts} on its base commit{known} and go on to the model (`[tests] baseline = "{checkup.baseline}"`)'


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
    if not numbers.passed:
        # As where the whole command counts as one test.
        return "have nothing here that guards it, for no test passes: only the tests that come with a change would judge it"
    known = f"; {numbers.failed} failing already, known and never blamed on it" if numbers.failed else ""
    return f"refuse a change that breaks, skips or removes a passing test ({numbers.passed} of them{known})"


MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")
"""Files that make a folder the root of a Python project."""
_ASIDE = frozenset(
    {"docs", "doc", "examples", "example", "tests", "test", "vendor", "third_party", "node_modules"}
)
"""Folders whose projects are about a repository, not of it."""


def configuration_of(services: Sequence[ServiceCheckup]) -> str:
    """TOML for `.cogworks/config.toml`; of several roots each under its name. Empty: nothing was guessed."""
    blocks = [
        (each.root, each.prepared.configuration.strip())
        for each in services
        if each.prepared and each.prepared.configuration.strip()
    ]
    if len(services) == 1:
        return "".join(f"{text}\n" for _, text in blocks)
    return "\n".join(f"# {root or 'everything else'}\n{text}\n" for root, text in blocks)


def proposed_services(paths: Collection[str]) -> str:
    """A `services.toml` for a repository whose projects all lie in sub-folders; empty where there are not several.

    Args:
        paths: of all files of the repository.
    """
    roots = sorted({dirname(path) for path in paths if basename(path) in MANIFESTS and not _is_aside(path)})
    if "" in roots or len(roots) < 2:
        return ""
    tables = [
        f'[[services]]\nname = "{name}"\nkind = "python"\nroot = "{root}"\n'
        for root, name in zip(roots, _names(roots), strict=True)
    ]
    return "\n".join(tables)


def _is_aside(path: str) -> bool:
    return any(part in _ASIDE or part.startswith(".") for part in dirname(path).split("/"))


def _names(roots: Sequence[str]) -> list[str]:
    """Of each folder its last part, or all of it where that is taken; what a name may not hold becomes a hyphen."""
    lasts = [basename(root) for root in roots]
    whole = [root if lasts.count(last) > 1 else last for root, last in zip(roots, lasts, strict=True)]
    plain = [
        "".join(char if char.isascii() and char.isalnum() else "-" for char in each.lower()) for each in whole
    ]
    short = [each.strip("-")[:30] or "root" for each in plain]
    return [
        f"{each}-{number}" if short.count(each) > 1 else each for number, each in enumerate(short, start=1)
    ]
