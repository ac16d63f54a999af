"""The composition root of `cogworks doctor PATH`: services asked about a checkout, with no token, hub, key or issue."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from cogworks.checkup.findings import Checkup, ServiceCheckup, SuiteRun
from cogworks.checkup.outlook import proposed_services
from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git
from cogworks.codebase.making import looking_at, lying_copy, top_of, walked
from cogworks.codebase.places import scratch_folder
from cogworks.codebase.unwritable import ignoring_rule, submodules_of
from cogworks.domain_services.answers import Answer
from cogworks.domain_services.checking import Parts, Prepared, PrepareParams
from cogworks.domain_services.configuration import ServiceConfig
from cogworks.domain_services.messages import Caller, TestReport
from cogworks.domain_services.operations import PREPARE
from cogworks.domain_services.panel import ServicePanel
from cogworks.domain_services.parts import in_parts, joined
from cogworks.domain_services.roots import lies_in
from cogworks.domain_services.transport import ServiceFailed
from cogworks.errors import ConfigurationError, TryAgainLater, UsageError
from cogworks.packs.declared import FOLDER as PACKS_FOLDER
from cogworks.settings.config import (
    CONFIG_FILE,
    Config,
    Environment,
    child_environment,
    parse_config,
)
from cogworks.settings.sections import LlmConfig, PathConfig
from cogworks.telling import During
from cogworks.toml_text import tables_in
from cogworks.vocabulary import Severity
from cogworks.wiring.clone import own_files
from cogworks.wiring.readiness import languages_of_checkout, packs_check
from cogworks.wiring.services import open_panel, services_of

_MOST_FILES = 50_000
_HIDDEN = (
    f"{{rule}} makes git ignore `{CONFIG_FILE}`, so neither a work item nor this check sees it. Commit "
    "it with `git add -f .cogworks`."
)
_SUBMODULE = (
    "`{}` is a submodule, the files of another repository: neither a work item nor this check has them, so tests that read "
    "them fail or are not loaded"
)
_MOST_NOTES = 5
"""About submodules."""


class _Looked(NamedTuple):
    """The files that are looked at."""

    path: Path
    state: str
    uncommitted: int = 0
    commit: str | None = None
    notes: tuple[str, ...] = ()
    ignoring: Callable[[str], str] = lambda _: ""
    """The rule of git that ignores a path; empty: none does."""

    def base(self) -> str | None:
        """The commit whose manifests count; None: the files as they lie there."""
        return self.commit


class _Configuration(NamedTuple):
    config: Config
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def look_at(folder: Path, environment: Environment, *, during: During) -> Checkup:
    """Make the environment of a checkout, run its suite once, and report what was seen; nothing is written into it.

    Git's checkouts are looked at as they lie there, uncommitted work included and what git ignores left out, for that is
    what a commit of them would be. A folder that git does not know is looked at as a whole.

    Raises:
        UsageError: there is no such folder, or git cannot read it.
        ConfigurationError: `[environment]`, `[tests]` or `services.toml` are malformed.
    """
    began_s = monotonic()
    with _looked_at(folder, during) as looked:
        files = own_files(looked.path)
        configuration = _configuration(files.get("config.toml"))
        paths = tuple(islice((path for path in walked(looked.path) if not path.endswith("/")), _MOST_FILES))
        names = tuple(sorted({path.split("/", 1)[0] for path in paths}))
        languages = languages_of_checkout(paths, names, environment, files)
        services = services_of(environment, files, names)
        tests = configuration.config.tests
        warnings: list[str] = []
        checkups: Sequence[ServiceCheckup] = ()
        suite: SuiteRun | None = None
        if languages.status != "failed":
            with open_panel(
                files, environment, caller=Caller(node="doctor"), warn=warnings.append, names=names
            ) as panel:
                checkups = _prepared(panel, looked, services, during)
                warnings.clear()
                if tests.baseline != "none" and (sound := _sound(checkups)):
                    suite = _run(panel.only(sound), looked, tests.timeout_s, during)
        packs = packs_check(_pack_texts(looked.path, files), configuration.config)
        return Checkup(
            folder=str(folder.resolve()),
            state=looked.state,
            uncommitted=looked.uncommitted,
            languages=languages,
            packs=packs,
            services=tuple(checkups),
            suite=suite,
            baseline=tests.baseline,
            specs=configuration.config.paths.specs.rstrip("/"),
            dependency_changes=configuration.config.dependencies.changes,
            problems=(*configuration.problems, *_ignored_specs(configuration.config.paths, looked)),
            notes=(*configuration.notes, *looked.notes, *_notes(checkups), *warnings),
            proposal="" if "services.toml" in files else proposed_services(paths),
            seconds=round(monotonic() - began_s, 1),
        )


@contextmanager
def _looked_at(folder: Path, during: During) -> Iterator[_Looked]:
    if not folder.is_dir():
        raise UsageError(f"{str(folder)!r} is no folder. Give a checkout, or the URL of a repository.")
    with scratch_folder("cogworks-doctor-") as scratch:
        git = Git(environment=child_environment(), home=scratch)
        try:
            top = top_of(folder.resolve(), git)
            if top is None:
                yield _Looked(folder.resolve(), "files of a folder that git does not know, as they lie there")
                return
            with during("reading the checkout", 300.0):
                copy = lying_copy(top, scratch / "checkout", git)
            read = looking_at(top, git)
            hidden = ignoring_rule(read, CONFIG_FILE)
            modules = submodules_of(read)
        except GitFailed as error:
            raise UsageError(f"git cannot read {folder}: {error.stderr.strip() or error}") from error
        named = f"commit {copy.committed[:12]}" if copy.committed else "a repository without a commit"
        state = (
            f"{named} with {len(copy.uncommitted)} uncommitted path(s), as they lie there"
            if copy.uncommitted
            else named
        )
        notes = (
            *((_HIDDEN.format(rule=hidden),) if hidden else ()),
            *map(_SUBMODULE.format, modules[:_MOST_NOTES]),
        )
        ignoring = partial(ignoring_rule, read)
        yield _Looked(copy.path, state, len(copy.uncommitted), copy.commit, notes, ignoring)


def _ignored_specs(paths: PathConfig, looked: _Looked) -> tuple[str, ...]:
    """Why an item could not put its specification to people; none where it could."""
    rules = [looked.ignoring(f"{each}/1.md") for each in paths.spec_folders]
    if not all(rules):
        return ()
    folder = paths.spec_folders[0]
    problem = (
        f"specifications cannot be published below {folder}/, because git ignores it ({rules[0]}). Set "
        f"`specs` under `[paths]` in `{CONFIG_FILE}` to a folder that git does not ignore."
    )
    return (problem,)


def _configuration(text: str | None) -> _Configuration:
    """What the file says, with the usual where it says nothing; a model need not be named to look around."""
    stand_in = Config(llm=LlmConfig(model="none"))
    unnamed = (
        f"no model is named yet. Set `model` under `[llm]` in `{CONFIG_FILE}` before the first work item."
    )
    if text is None:
        return _Configuration(stand_in, notes=(unnamed,))
    try:
        has_model = "llm" in tables_in(text)
    except tomllib.TOMLDecodeError:
        has_model = True
    try:
        config = parse_config(text if has_model else f'{text}\n[llm]\nmodel = "none"\n')
    except ConfigurationError as error:
        return _Configuration(stand_in, problems=(str(error),))
    return _Configuration(config, notes=() if has_model else (unnamed,))


def _pack_texts(top: Path, names: Iterable[str]) -> Mapping[str, str | None]:
    """What a run would read of the files of context packs; None: no text."""
    paths = [f".cogworks/{name}" for name in names]
    return {path: _text(top / path) for path in paths if path.startswith(f"{PACKS_FOLDER}/")}


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def _prepared(
    panel: ServicePanel, looked: _Looked, services: Sequence[ServiceConfig], during: During
) -> tuple[ServiceCheckup, ...]:
    """The environment of each service, whatever comes of those of the others."""
    several = len(services) > 1
    return tuple(
        _surroundings(panel.only([each.name]), looked, each, during, is_named=several) for each in services
    )


def _surroundings(
    panel: ServicePanel, looked: _Looked, service: ServiceConfig, during: During, *, is_named: bool
) -> ServiceCheckup:
    limit_s = PREPARE.limit_s
    name = f" for service {service.name!r}" if is_named else ""
    place = f" of {service.root}/" if service.root else name
    try:
        with during(f"making the environment{place}", limit_s):
            answers = panel.call(PREPARE, looked, PrepareParams(timeout_s=limit_s))
    except (ServiceFailed, TryAgainLater) as error:
        return ServiceCheckup(service=service.name, root=service.root, problem=str(error))
    return _of(service, answers[0] if isinstance(answers, tuple) else None)


def _of(service: ServiceConfig, answer: Answer[Prepared] | None) -> ServiceCheckup:
    if answer is None:
        return ServiceCheckup(service=service.name, root=service.root)
    blocking = [each.message for each in answer.diagnostics if each.severity is Severity.BLOCKING]
    problem = "\n".join(blocking)
    return ServiceCheckup(service=service.name, root=service.root, prepared=answer.result, problem=problem)


def _sound(checkups: Sequence[ServiceCheckup]) -> tuple[str, ...]:
    """The services whose tests can be run: there is an environment, in each root below theirs as well."""
    broken = [each.root for each in checkups if each.problem]
    return tuple(each.service for each in checkups if not any(lies_in(root, each.root) for root in broken))


def _run(panel: ServicePanel, looked: _Looked, limit_s: float, during: During) -> SuiteRun:
    began_s = monotonic()
    reported = 0

    def part(tests: Sequence[str], parts: Parts) -> TestReport:
        nonlocal reported
        so_far = f"{monotonic() - began_s:.0f} s and {reported} test(s)"
        left = f"running what is left of the suite, {len(tests)} file(s) after {so_far}"
        with during(left if tests else "running the suite", limit_s):
            report = panel.simulate_part(looked, tests, parts)
        reported += len(report.cases)
        return report

    try:
        reports = tuple(in_parts(part))
    except (ServiceFailed, TryAgainLater) as error:
        return SuiteRun(problem=str(error), seconds=round(monotonic() - began_s, 1))
    except KeyboardInterrupt:
        # What was seen of the environment took minutes, and stays worth saying.
        seconds = round(monotonic() - began_s, 1)
        problem = f"the suite was interrupted after {seconds:.0f} s and {reported} reported test(s). Run the same command again."
        return SuiteRun(problem=problem, seconds=seconds, is_interrupted=True)
    return SuiteRun(report=joined(reports), seconds=round(monotonic() - began_s, 1), runs=len(reports))


def _notes(checkups: Sequence[ServiceCheckup]) -> Iterator[str]:
    for each in checkups:
        if each.prepared is not None:
            yield from each.prepared.notes
        elif not each.problem:
            yield f"service {each.service!r} does not tell how its environment comes about"
