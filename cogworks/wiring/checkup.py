"""The composition root of `cogworks doctor PATH`: services asked about a checkout, with no token, hub, key or issue."""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from cogworks.checkup.findings import Checkup, ServiceCheckup, SuiteRun
from cogworks.checkup.proposing import proposed_services
from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git
from cogworks.codebase.lying_copy import lying_copy, top_of, walked
from cogworks.codebase.scratch import scratch_folder
from cogworks.domain_services.answers import Answer
from cogworks.domain_services.configuration import ServiceConfig
from cogworks.domain_services.messages import Caller
from cogworks.domain_services.operations import PREPARE
from cogworks.domain_services.panel import ServicePanel
from cogworks.domain_services.preparing import Prepared, PrepareParams
from cogworks.domain_services.transport import ServiceFailed
from cogworks.errors import ConfigurationError, TryAgainLater, UsageError
from cogworks.forge.diagnosis import Check
from cogworks.forge.snapshot import Contents
from cogworks.readiness import LANGUAGES, languages_check
from cogworks.settings.config import (
    CONFIG_FILE,
    Config,
    Environment,
    LlmConfig,
    child_environment,
    parse_config,
)
from cogworks.vocabulary import Severity
from cogworks.wiring.clone import own_files
from cogworks.wiring.readiness import served
from cogworks.wiring.services import open_panel, services_of

During = Callable[[str, float], AbstractContextManager[None]]
"""Tells people for the length of a block what is done, and for how many seconds at most."""
_MOST_FILES = 50_000
_LANGUAGE_OF = {suffix: name for name, each in LANGUAGES.items() for suffix in each.suffixes}


class _Looked(NamedTuple):
    """The files that are looked at."""

    path: Path
    state: str
    uncommitted: int = 0
    commit: str | None = None

    def base(self) -> str | None:
        """The commit whose manifests count; None: the files as they lie there."""
        return self.commit


class _Configuration(NamedTuple):
    config: Config
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def look_at(folder: Path, environment: Environment, *, during: During) -> Checkup:
    """Make the environment of a checkout, run its suite once, and tell what was found; nothing is written into it.

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
        languages = _languages(paths, names, environment, files)
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
                if tests.baseline != "none" and not any(each.problem for each in checkups):
                    suite = _run(panel, looked, tests.timeout_s, during)
        return Checkup(
            folder=str(folder.resolve()),
            state=looked.state,
            uncommitted=looked.uncommitted,
            languages=languages,
            services=tuple(checkups),
            suite=suite,
            baseline=tests.baseline,
            specs=configuration.config.paths.specs,
            dependency_changes=configuration.config.dependencies.changes,
            problems=configuration.problems,
            notes=(*configuration.notes, *_notes(checkups), *warnings),
            proposal="" if "services.toml" in files else proposed_services(paths),
            seconds=round(monotonic() - began_s, 1),
        )


@contextmanager
def _looked_at(folder: Path, during: During) -> Iterator[_Looked]:
    if not folder.is_dir():
        raise UsageError(f"{str(folder)!r} is no folder; wanted is a checkout, or the URL of a repository.")
    with scratch_folder("cogworks-doctor-") as scratch:
        git = Git(environment=child_environment(), home=scratch)
        try:
            top = top_of(folder.resolve(), git)
            if top is None:
                yield _Looked(folder.resolve(), "files of a folder that git does not know, as they lie there")
                return
            with during("reading the checkout", 300.0):
                copy = lying_copy(top, scratch / "checkout", git)
        except GitFailed as error:
            raise UsageError(f"git cannot read {folder}: {error.stderr.strip() or error}") from error
        named = f"commit {copy.committed[:12]}" if copy.committed else "a repository without a commit"
        state = (
            f"{named} with {len(copy.uncommitted)} uncommitted path(s), as they lie there"
            if copy.uncommitted
            else named
        )
        yield _Looked(copy.path, state, len(copy.uncommitted), copy.commit)


def _configuration(text: str | None) -> _Configuration:
    """What the file says, with the usual where it says nothing; a model need not be named to look around."""
    stand_in = Config(llm=LlmConfig(model="none"))
    unnamed = f"no model is named yet: a work item wants `model` under `[llm]` in `{CONFIG_FILE}`"
    if text is None:
        return _Configuration(stand_in, notes=(unnamed,))
    try:
        has_model = "llm" in tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        has_model = True
    try:
        config = parse_config(text if has_model else f'{text}\n[llm]\nmodel = "none"\n')
    except ConfigurationError as error:
        return _Configuration(stand_in, problems=(str(error),))
    return _Configuration(config, notes=() if has_model else (unnamed,))


def _languages(
    paths: Sequence[str], names: Sequence[str], environment: Environment, files: Mapping[str, str]
) -> Check:
    """As for a repository on GitHub, by the number of files."""
    counts = Counter(language for path in paths if (language := _LANGUAGE_OF.get(Path(path).suffix)))
    contents = Contents(languages=dict(counts), root_names=tuple(names))
    return languages_check(contents, served(environment, files, names))


def _prepared(
    panel: ServicePanel, looked: _Looked, services: Sequence[ServiceConfig], during: During
) -> tuple[ServiceCheckup, ...]:
    limit_s = PREPARE.limit_s
    try:
        with during("making the environment", limit_s):
            answers = panel.call(PREPARE, looked, PrepareParams(timeout_s=limit_s))
    except (ServiceFailed, TryAgainLater) as error:
        name = error.service if isinstance(error, ServiceFailed) else services[0].name
        roots = {each.name: each.root for each in services}
        return (ServiceCheckup(service=name, root=roots.get(name, ""), problem=str(error)),)
    by_name = {each.service: each for each in answers} if isinstance(answers, tuple) else {}
    return tuple(_of(each, by_name.get(each.name)) for each in services)


def _of(service: ServiceConfig, answer: Answer[Prepared] | None) -> ServiceCheckup:
    if answer is None:
        return ServiceCheckup(service=service.name, root=service.root)
    blocking = [each.message for each in answer.diagnostics if each.severity is Severity.BLOCKING]
    problem = "\n".join(blocking)
    return ServiceCheckup(service=service.name, root=service.root, prepared=answer.result, problem=problem)


def _run(panel: ServicePanel, looked: _Looked, limit_s: float, during: During) -> SuiteRun:
    began_s = monotonic()
    try:
        with during("running the suite", limit_s):
            report = panel.simulate(looked, timeout_s=limit_s)
    except (ServiceFailed, TryAgainLater) as error:
        return SuiteRun(problem=str(error), seconds=round(monotonic() - began_s, 1))
    return SuiteRun(report=report, seconds=round(monotonic() - began_s, 1))


def _notes(found: Sequence[ServiceCheckup]) -> Iterator[str]:
    for each in found:
        if each.prepared is not None:
            yield from each.prepared.notes
        elif not each.problem:
            yield f"service {each.service!r} does not tell how its environment comes about"
