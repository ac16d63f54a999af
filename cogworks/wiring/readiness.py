"""The part of the composition root that looks whether a run can begin: trials of this machine and of a repository."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git
from cogworks.codebase.places import tried_room
from cogworks.codegen.governed import coding_policy
from cogworks.domain_services.configuration import ServiceConfig
from cogworks.domain_services.languages import patterns_of, programs_for
from cogworks.domain_services.opening import BUNDLED_PATTERNS, is_bundled
from cogworks.engine.packs import MalformedPacks, usable_shelf
from cogworks.engine.workability import needs_services, refuse_models_of_nobody, refuse_unworkable
from cogworks.errors import ConfigurationError, MachineUnfit, UsageError
from cogworks.forge import diagnosis
from cogworks.forge.diagnosis import Check
from cogworks.forge.snapshot import Contents
from cogworks.llm.opening import opening_of
from cogworks.packs.declared import Pack
from cogworks.packs.telling import on_the_shelf
from cogworks.pipeline.parser import pipelines_of
from cogworks.readiness import (
    LANGUAGES,
    DiskSpace,
    Served,
    Trial,
    disk_check,
    index_check,
    languages_check,
    refuse_unfit,
)
from cogworks.settings.config import (
    PIPELINE_FILE,
    Config,
    Environment,
    child_environment,
    environments_folder,
)
from cogworks.settings.credentials import PROXY_VARIABLES
from cogworks.settings.for_services import package_index_settings
from cogworks.settings.providers import USUAL
from cogworks.wiring.model import asked, check_model
from cogworks.wiring.services import services_of

MODEL = "model"
"""The check of who is asked, and with what key."""
_GIT_LIMIT_S = 10.0


def refuse_unready(
    config: Config,
    files: Mapping[str, str],
    contents: Contents,
    environment: Environment,
    *,
    is_asked: bool = True,
) -> None:
    """Everything that would keep a node from running and costs nothing to see, before one is claimed.

    Args:
        is_asked: whether the model will be; else nobody needs a key.

    Raises:
        ConfigurationError: somebody has to mend the repository.
        CogworksError: this machine is not fit.
    """
    trials = [*machine_trials(environment), *repository_trials(config, files, contents, environment)]
    refuse_unfit([each for each in trials if is_asked or each.name != MODEL])


def machine_trials(environment: Environment) -> Iterator[Trial]:
    """What a run needs of this machine and is tried within milliseconds."""
    yield Trial("git", lambda: _git(environment))
    yield Trial("work directory", lambda: _room(environment))


def slow_trials(environment: Environment) -> Iterator[Trial]:
    """What only the first run of a repository's tests needs; it may ask the network."""
    yield Trial("environments", lambda: _environments(environment))
    yield Trial("package index", lambda: _index(environment))


def repository_trials(
    config: Config, files: Mapping[str, str], contents: Contents, environment: Environment
) -> Iterator[Trial]:
    """What a run needs of a repository.

    Args:
        files: of its default branch below `.cogworks`: path -> text.
    """
    declared = files.get("pipeline.toml")
    pipelines = pipelines_of(declared, source=PIPELINE_FILE, lane=config.pipelines.named)

    def nodes() -> Check:
        if declared is not None:
            refuse_unworkable(pipelines, files, own_labels=tuple(config.labels.model_dump().values()))
        refuse_models_of_nobody(config, pipelines)
        coding_policy(files)
        return Check(name="nodes", status="ok", found="prompts, schemas and policies of every node fit")

    def model() -> Check:
        door = _door_check(environment, asked(config, environment))
        check_model(config, files, environment)
        return door.model_copy(update={"found": f"{door.found}; {config.llm.model} has a price"})

    def languages() -> Check:
        services = _services(environment, files, contents.root_names)
        if not needs_services(pipelines):
            return Check(name="languages", status="ok", found="no node writes code")
        known = _served_by(services)
        return _without_programs(services, contents.root_names) or languages_check(contents, known)

    yield Trial("nodes", nodes, is_of_repository=True)
    yield Trial(MODEL, model, is_of_repository=True)
    yield Trial("languages", languages, is_of_repository=True)


_LANGUAGE_OF = {suffix: name for name, each in LANGUAGES.items() for suffix in each.suffixes}


def languages_of_checkout(
    paths: Sequence[str], names: Sequence[str], environment: Environment, files: Mapping[str, str]
) -> Check:
    """Whether a service knows what a checkout is written in: as for a repository on GitHub, by the number of files.

    Args:
        paths: all files.
        names: of files and folders at the root.
        files: below `.cogworks`: path -> text.
    """
    counts = Counter(language for path in paths if (language := _LANGUAGE_OF.get(Path(path).suffix)))
    contents = Contents(languages=dict(counts), root_names=tuple(names))
    return languages_check(contents, served(environment, files, names))


def packs_check(texts: Mapping[str, str | None], config: Config) -> Check | None:
    """The context packs of a repository, as a run would find them before it asks anybody; None: there are none.

    Args:
        texts: of the files below their folder: path -> text, None where it is none.
    """
    try:
        shelf = usable_shelf(sorted(texts), texts.get, config)
    except MalformedPacks as error:
        return diagnosis.failed("context packs", error)
    if not shelf:
        return None
    listed = "\n".join(on_the_shelf(each) for each in sorted(shelf, key=lambda each: each.name))
    is_whole = all(isinstance(each, Pack) for each in shelf)
    return Check(
        name="context packs",
        status="ok" if is_whole else "warning",
        found=listed,
        remedy="" if is_whole else "Fix what is left out, or remove it. No run uses it.",
    )


def provider_trial(environment: Environment) -> Trial:
    """Whether the provider could be asked, where no repository says which; nothing is sent."""
    return Trial(MODEL, lambda: _door_check(environment, environment.llm_provider or USUAL))


def _door_check(environment: Environment, provider: str) -> Check:
    """Whether the model can be asked; nothing is sent.

    Raises:
        UsageError: a key, an address or a program of this machine cannot be used, which nobody in the repository can mend. It
            names the variable, never a secret in it.
    """
    try:
        door = opening_of(provider).readiness(environment)
    except ConfigurationError as error:
        raise UsageError(str(error)) from error
    return Check(name=MODEL, status="failed" if door.remedy else "ok", found=door.found, remedy=door.remedy)


def served(environment: Environment, files: Mapping[str, str], names: Sequence[str]) -> list[Served]:
    """The services of a repository and the files they are asked about.

    Args:
        names: of what lies at the repository's root.

    Raises:
        ConfigurationError: every problem of `services.toml`.
        UsageError: the operator's own file has one.
    """
    return _served_by(_services(environment, files, names))


def _served_by(services: Sequence[ServiceConfig]) -> list[Served]:
    return [Served(name=_title(each), patterns=each.artifacts or _patterns_of(each)) for each in services]


def _title(service: ServiceConfig) -> str:
    """A service in words: the name alone of the one of commands may be that of a language, or of nothing."""
    if service.kind != "command":
        return service.name
    return "the service of commands" + (f" ({service.name})" if service.name != "command" else "")


def _services(
    environment: Environment, files: Mapping[str, str], names: Sequence[str]
) -> tuple[ServiceConfig, ...]:
    try:
        return services_of(environment, files, names)
    except ConfigurationError as error:
        if not environment.services_config:
            raise
        # The operator's own file, of which nobody in the repository knows.
        raise UsageError(str(error)) from error


def _without_programs(services: Sequence[ServiceConfig], names: Sequence[str]) -> Check | None:
    """The refusal of a repository whose toolchain is not on this machine; None: nothing is known to be missing."""
    from cogworks.services.command.toolchains import how_to_get, toolchain_of  # noqa: PLC0415 - few repositories need it

    path = child_environment().get("PATH", "")
    asking = [
        each for each in services if each.kind == "command" and each.role == "primary" and not each.test
    ]
    programs = [program for each in asking for program in programs_for(names, each.language)]
    missing = toolchain_of(programs, path).missing if programs else ()
    if not missing:
        return None
    problem = f"its tests are run by {', '.join(f'`{each}`' for each in missing)}, not on this machine's PATH"
    remedy = "; ".join(dict.fromkeys(how_to_get(each) for each in missing))
    return Check(name="languages", status="failed", found=problem, remedy=f"{remedy[0].upper()}{remedy[1:]}.")


def _patterns_of(service: ServiceConfig) -> tuple[str, ...] | None:
    if service.kind == "command":
        return patterns_of(service.language)
    return BUNDLED_PATTERNS if is_bundled(service) else None


def _git(environment: Environment) -> Check:
    git = Git(environment=child_environment(), home=Path(environment.work_dir), time_limit_s=_GIT_LIMIT_S)
    try:
        return diagnosis.git_check(git.run("--version", cwd=Path.cwd()).strip())
    except (MachineUnfit, GitFailed):
        return diagnosis.git_check("")


def _room(environment: Environment) -> Check:
    tried = tried_room(Path(environment.work_dir))
    return disk_check(
        DiskSpace(folder=environment.work_dir, problem=tried.problem, free_bytes=tried.free_bytes)
    )


def _environments(environment: Environment) -> Check:
    """What makes the environments that the tests of a repository run in."""
    from cogworks.services.python.environments import Environments  # noqa: PLC0415 - slow, and only doctor needs it
    from cogworks.services.python.installer import installer_for  # noqa: PLC0415 - slow, and only doctor needs it

    settings = child_environment()
    path = settings.get("PATH", "")
    description = Environments(environments_folder(environment), settings=settings).described(path)
    is_second_choice = bool(installer_for(path, may_build=False).note)
    return Check(
        name="environments",
        status="warning" if is_second_choice else "ok",
        found=f"of repositories: {description}",
    )


def _index(environment: Environment) -> Check:
    environment.refuse_unusable(*PROXY_VARIABLES)
    from cogworks.services.python.trying import tried_index  # noqa: PLC0415 - slow, and only doctor needs it

    tried = tried_index(package_index_settings(child_environment()))
    return index_check(tried.urls, tried.problem)
