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


def things_to_do(found: Checkup) -> tuple[ToDo, ...]:
    """What somebody has to do before a work item could go on; none: it could."""
    return tuple(_each(found))


def advice(found: Checkup) -> tuple[str, ...]:
    """What could be done about tests that fail and keep no work item from going on, in the words of the services."""
    report = found.report
    stops = report is None or bool(
        refusal_of(report, wanted=found.baseline) or none_passes(report, wanted=found.baseline)
    )
    if stops or report is None:
        return ()
    return tuple(each for each in report.remedies if each not in found.notes)


def _each(found: Checkup) -> Iterator[ToDo]:
    for problem in found.problems:
        yield ToDo(what=problem)
    if found.packs is not None and found.packs.status == "failed":
        yield ToDo(what=found.packs.found)
    if found.languages.status == "failed":
        yield ToDo(what=found.languages.found, remedy=found.languages.remedy)
    for each in found.services:
        if each.problem:
            place = f"{each.root}: " if each.root else ""
            yield ToDo(what=f"{place}{each.problem}")
    if found.suite is not None and found.suite.problem:
        yield ToDo(what=found.suite.problem)
    if (report := found.report) is not None:
        yield from _of_the_suite(report, found)


def _of_the_suite(report: TestReport, found: Checkup) -> Iterator[ToDo]:
    """In the words of the check that an item makes before its first model call."""
    if (refused := refusal_of(report, wanted=found.baseline)) is not None:
        what, _, remedy = refused.reason.removeprefix(_NODE).partition("\n")
        yield ToDo(what=what, remedy=remedy)
    elif found.baseline != "none" and (why := nothing_ran(report)):
        yield ToDo(what=why)
    elif why := none_passes(report, wanted=found.baseline):
        what, _, remedy = why.partition("\n")
        yield ToDo(what=what, remedy=remedy)


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
