"""The domain services of a repository: which file names them, and who is asked."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cogworks.domain_services.ahead import Starts
from cogworks.domain_services.announcing import Waiting
from cogworks.domain_services.client import Configured
from cogworks.domain_services.configuration import SERVICES_FILE, ServiceConfig
from cogworks.domain_services.languages import languages_at
from cogworks.domain_services.limits import TEST_METHODS
from cogworks.domain_services.messages import Caller, RepositorySettings
from cogworks.domain_services.opening import BUNDLED, configured_services, open_client
from cogworks.domain_services.panel import Member, ServicePanel
from cogworks.domain_services.process import ServiceProcess
from cogworks.errors import ConfigurationError, UsageError
from cogworks.settings.config import (
    CONFIG_FILE,
    Environment,
    child_environment,
    environments_folder,
    parse_surroundings,
)
from cogworks.settings.sections import SETUP_SCRIPT


def open_panel(
    files: Mapping[str, str],
    environment: Environment,
    *,
    caller: Caller,
    warn: Callable[[str], None],
    waiting: Waiting | None = None,
    test_command: Sequence[str] = (),
    names: Sequence[str] = (),
    starts: Starts = ServiceProcess,
) -> ServicePanel:
    """The domain services of a repository, each reached at the first question.

    Args:
        files: of the repository's default branch below `.cogworks`; never of a working copy, which the model may have
            changed. A file named in the environment wins: that one is the operator's.
        waiting: what is left of the visit's time, and who hears of long waits; None: no limit, nobody.
        test_command: words of the command that tests are run with; none: what `[tests] command` says, else each service's
            own way.
        names: of what lies at the repository's root, which show its languages; none: nobody knows.
        starts: what makes a service a process of ours.

    Raises:
        ConfigurationError: every problem of `services.toml` or `config.toml`.
    """
    everywhere = Configured(repository_settings(files), tuple(test_command) or configured_words(files))
    suite_s = parse_surroundings(files.get("config.toml", ""))[1].timeout_s
    members = [
        Member(
            client=open_client(
                _timed(service, suite_s),
                environment=child_environment(),
                caller=caller,
                waiting=waiting,
                configured=configured_for(service, everywhere, has_own_command=bool(test_command)),
                starts=starts,
            ),
            is_primary=service.role == "primary",
            artifacts=service.artifacts,
            root=service.root,
        )
        for service in services_of(environment, files, names)
    ]
    return ServicePanel(members, warn=warn)


def _timed(service: ServiceConfig, suite_s: float) -> ServiceConfig:
    """A service whose runs of tests end when `[tests] timeout_s` says, where its own table says nothing of them."""
    usual = dict.fromkeys(TEST_METHODS, suite_s)
    return service.model_copy(update={"timeouts": {**usual, **service.timeouts}})


def configured_for(
    service: ServiceConfig, everywhere: Configured, *, has_own_command: bool = False
) -> Configured:
    """What a repository says to one of its services: what stands in its table, else what is said to all of them.

    Args:
        has_own_command: whether the user gave the command; that goes before every file.
    """
    settings = everywhere.settings
    if service.environment is not None:
        own = service.environment.model_dump()
        settings = RepositorySettings.model_validate({**own, "setup_script": settings.setup_script})
    own_words = () if has_own_command else tuple(shlex.split(service.tests.command))
    return Configured(settings, own_words or everywhere.test_command, service.root)


def repository_settings(files: Mapping[str, str]) -> RepositorySettings:
    """What services learn of the repository's own configuration.

    Args:
        files: of its default branch below `.cogworks`: path -> text.

    Raises:
        ConfigurationError: every problem of `[environment]` and `[tests]`.
    """
    environment, _ = parse_surroundings(files.get("config.toml", ""))
    script = files.get(SETUP_SCRIPT, "")
    return RepositorySettings.model_validate({**environment.model_dump(), "setup_script": script})


def configured_words(files: Mapping[str, str]) -> tuple[str, ...]:
    """The words of `[tests] command`; none: nothing is configured.

    Raises:
        ConfigurationError: as of `repository_settings`, or the command is no command line.
    """
    _, tests = parse_surroundings(files.get("config.toml", ""))
    try:
        return tuple(shlex.split(tests.command))
    except ValueError as error:
        raise ConfigurationError(CONFIG_FILE, [f"`tests.command` is {tests.command!r}: {error}"]) from None


def services_of(
    environment: Environment, files: Mapping[str, str], names: Sequence[str] = ()
) -> tuple[ServiceConfig, ...]:
    """What `services.toml` among the files says, or the file that the environment names; else what fits the names at the root.

    Raises:
        ConfigurationError: every problem of the file.
        UsageError: the file that the environment names cannot be read.
    """
    named = environment.services_config
    if not named:
        services = configured_services(
            files.get("services.toml"), source=SERVICES_FILE, bundled=_bundled(environment), names=names
        )
        return tuple(_launched(each, environment, names) for each in services)
    try:
        text = Path(named).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"COGWORKS_DOMAIN_SERVICES_CONFIG names {named!r}, which cannot be read: {error}"
        ) from error
    return tuple(_launched(each, environment, names) for each in configured_services(text, source=named))


def _launched(service: ServiceConfig, environment: Environment, names: Sequence[str]) -> ServiceConfig:
    """A service of a bundled kind with what starts it, and with a place for what it keeps for later steps."""
    if service.kind == "python":
        return service.model_copy(update={"command": _bundled(environment).command})
    if service.kind == "command":
        # Of the folder of another root no names are known.
        languages = () if service.language or service.root else languages_at(names)[:1]
        words = ("--environments", str(environments_folder(environment)))
        return service.model_copy(
            update={"command": (*words, *(f"--root-language={each}" for each in languages))}
        )
    return service


def _bundled(environment: Environment) -> ServiceConfig:
    """The bundled service, with environments that outlive the step."""
    folder = str(environments_folder(environment))
    return BUNDLED.model_copy(update={"command": (*BUNDLED.command, "--environments", folder)})
