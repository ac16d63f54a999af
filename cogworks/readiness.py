"""Whether a machine and a repository are fit for work: rules over facts that others gather, and the list of trials.

`doctor` runs every trial and shows what each came to; a step runs the cheap ones before it claims anything, and stops at the
first that fails.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatch
from typing import NamedTuple

from cogworks.errors import CogworksError, ConfigurationError, UsageError
from cogworks.forge.diagnosis import Check, failed
from cogworks.forge.snapshot import Contents
from cogworks.vocabulary import Value

LEAST_FREE_BYTES = 100 * 1024**2
"""Less than a working copy and its tests need."""
LITTLE_FREE_BYTES = 1024**3
"""Environments of repositories soon need more."""


class Trial(NamedTuple):
    """One thing that is tried as a run would."""

    name: str
    look: Callable[[], Check]
    """May raise a CogworksError in place of a failed check; it is what a step ends with."""
    is_of_repository: bool = False
    """Somebody has to mend the repository, not the machine."""


def examined(trials: Iterable[Trial]) -> list[Check]:
    """What every trial came to."""

    def look(trial: Trial) -> Check:
        try:
            return trial.look()
        except CogworksError as error:
            return failed(trial.name, error)

    return [look(trial) for trial in trials]


def refuse_unfit(trials: Iterable[Trial]) -> None:
    """Stop at the first trial that fails.

    Raises:
        ConfigurationError: somebody has to mend the repository.
        UsageError: the machine is not fit.
        CogworksError: what a trial raised.
    """
    for trial in trials:
        check = trial.look()
        if check.status == "failed" and trial.is_of_repository:
            raise ConfigurationError("the repository", [f"{check.found} {check.remedy}".strip()])
        if check.status == "failed":
            raise UsageError(f"{trial.name}: {check.found}. {check.remedy}".strip())


class DiskSpace(Value):
    """What came of writing into a directory."""

    folder: str
    problem: str = ""
    """Why a file could not be made there; empty: it could."""
    free_bytes: int = 0


def disk_check(room: DiskSpace) -> Check:
    """Whether the work directory takes what a run puts there."""
    name = "work directory"
    remedy = "Make room, or set `COGWORKS_WORK_DIR` to a directory that can be written and has room."
    free = f"{room.free_bytes / 1024**2:,.0f} MiB free"
    if room.problem:
        problem = f"{room.folder} cannot be written: {room.problem}"
        return Check(name=name, status="failed", found=problem, remedy=remedy)
    if room.free_bytes < LEAST_FREE_BYTES:
        problem = f"{room.folder} is full: {free}, at least {LEAST_FREE_BYTES // 1024**2} MiB are wanted"
        return Check(name=name, status="failed", found=problem, remedy=remedy)
    status = "warning" if room.free_bytes < LITTLE_FREE_BYTES else "ok"
    return Check.model_validate(
        {"name": name, "status": status, "found": f"{room.folder}, {free}", "remedy": remedy}
    )


def index_check(urls: Sequence[str], problem: str) -> Check:
    """Whether packages can be had for the environments of repositories.

    Args:
        urls: of the configured indexes, without credentials.
        problem: why one of them cannot be used; empty: all can.
    """
    if problem:
        remedy = "Check pip's configuration and the network of this machine; `pip config list` tells what is configured."
        return Check(name="package index", status="failed", found=problem, remedy=remedy)
    summary = (
        f"{', '.join(urls)} answers" if urls else "none is configured; packages come only from directories"
    )
    return Check(name="package index", status="ok", found=summary)


class Language(NamedTuple):
    """How files of a language are recognised."""

    suffixes: tuple[str, ...]
    marks: tuple[str, ...] = ()
    """Names of files at the root of what is written in it, the usual one first."""
    is_served: bool = True
    """Whether a bundled domain service takes a root with such a file for its own."""


LANGUAGES: Mapping[str, Language] = {
    "C": Language((".c",), ("CMakeLists.txt", "Makefile")),
    "C#": Language((".cs",)),
    "C++": Language((".cpp", ".cc"), ("CMakeLists.txt", "Makefile")),
    "Elixir": Language((".ex", ".exs"), ("mix.exs",), is_served=False),
    "Go": Language((".go",), ("go.mod", "go.sum")),
    "Java": Language((".java",), ("pom.xml", "build.gradle")),
    "JavaScript": Language((".js", ".jsx", ".mjs"), ("package.json",)),
    "Kotlin": Language((".kt",), ("build.gradle.kts", "build.gradle")),
    "PHP": Language((".php",), ("composer.json",)),
    "Python": Language((".py", ".pyi"), ("pyproject.toml", "setup.py")),
    "Ruby": Language((".rb",), ("Gemfile",)),
    "Rust": Language((".rs",), ("Cargo.toml",)),
    "Scala": Language((".scala",), ("build.sbt",), is_served=False),
    "Swift": Language((".swift",), ("Package.swift",), is_served=False),
    "TypeScript": Language((".ts", ".tsx"), ("package.json", "tsconfig.json")),
}
"""As GitHub calls them; what code is written in, and so what a domain service has to know."""


_LEAST_SHARE = 0.005


class Served(Value):
    """A domain service, and the files it is asked about."""

    name: str
    patterns: tuple[str, ...] | None
    """None: only its handshake says."""


def languages_check(contents: Contents, services: Sequence[Served]) -> Check:
    """Whether a service knows what the repository is written in; one that knows part of it is enough to go on."""
    name = "languages"
    held = {language: size for language, size in contents.languages.items() if language in LANGUAGES}
    if not held:
        return Check(name=name, status="ok", found="none that needs a domain service")
    if any(service.patterns is None for service in services):
        return Check(name=name, status="ok", found=f"{_shares(held)}; the services say what they know of it")
    unknown = {language: size for language, size in held.items() if not _is_known(language, services)}
    names = ", ".join(service.name for service in services)
    remedy = (
        'Add a service that knows it to `.cogworks/services.toml`: a `[[services]]` table with `name = "tests"`, '
        '`kind = "command"` and `test = "…"`, or one of your own (see docs/extension-api.md).'
    )
    if not unknown:
        return Check(name=name, status="ok", found=f"{_shares(held)}, known to {names}")
    seen = _seen(unknown, contents.root_names)
    if manifests := _absent(unknown, contents.root_names):
        remedy = f"Add what its tools ask for to the root, by which cogworks recognises it ({manifests}). Or {remedy[0].lower()}{remedy[1:]}"
    if len(unknown) < len(held):
        problem = f"{_shares(held)}; no service knows {', '.join(unknown)}{seen}: such files are not checked"
        return Check(name=name, status="warning", found=problem, remedy=remedy)
    problem = f"it is written in {_shares(held)}{seen}, which no domain service here knows ({names})."
    return Check(name=name, status="failed", found=problem, remedy=remedy)


def _absent(languages: Iterable[str], root_names: Sequence[str]) -> str:
    """The manifests by which a bundled service would know these languages, where none of theirs is at the root."""
    known = {language: LANGUAGES[language] for language in languages}
    return ", ".join(
        f"{language}: `{each.marks[0]}`"
        for language, each in known.items()
        if each.is_served and each.marks and not set(each.marks) & set(root_names)
    )


def _is_known(language: str, services: Sequence[Served]) -> bool:
    return any(
        fnmatch(f"file{suffix}", pattern.rpartition("/")[2])
        for suffix in LANGUAGES[language].suffixes
        for service in services
        for pattern in service.patterns or ()
    )


def _shares(sizes: Mapping[str, int]) -> str:
    total = max(1, sum(sizes.values()))
    ordered = sorted(sizes.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{language} ({_percent(size / total)} %)" for language, size in ordered)


def _percent(share: float) -> str:
    """Rounded; what is there is never nothing."""
    return f"{100 * share:.0f}" if share >= _LEAST_SHARE else "below 1"


def _seen(languages: Iterable[str], root_names: Sequence[str]) -> str:
    """The files at the root that show these languages."""
    known = [LANGUAGES[language] for language in languages]
    names = [
        name
        for name in root_names
        if any(name in each.marks or name.endswith(each.suffixes) for each in known)
    ]
    return f" (seen: {', '.join(names[:6])})" if names else ""
