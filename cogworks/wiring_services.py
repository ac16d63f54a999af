"""The domain services of a repository: which file names them, and who is asked."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cogworks.domain_services.configuration import SERVICES_FILE, ServiceConfig
from cogworks.domain_services.messages import Caller
from cogworks.domain_services.opening import BUNDLED, configured_services, open_client
from cogworks.domain_services.panel import Member, ServicePanel
from cogworks.errors import UsageError
from cogworks.settings import Environment, child_environment, environments_folder


def open_panel(
    files: Mapping[str, str],
    environment: Environment,
    *,
    caller: Caller,
    warn: Callable[[str], None],
    left_s: Callable[[], float | None] = lambda: None,
    test_command: Sequence[str] = (),
) -> ServicePanel:
    """The domain services of a repository, each reached at the first question.

    Args:
        files: of the repository's default branch below `.cogworks`; never of a working copy, which the model may have
            changed. A file named in the environment wins: that one is the operator's.
        left_s: what is left of the visit's time; None: no limit.
        test_command: words of the command that tests are run with; none: each service's own way.

    Raises:
        ConfigurationError: every problem of `services.toml`.
    """
    members = [
        Member(
            client=open_client(
                service,
                environment=child_environment(),
                caller=caller,
                left_s=left_s,
                test_command=test_command,
            ),
            is_primary=service.role == "primary",
            artifacts=service.artifacts,
        )
        for service in services_of(environment, files)
    ]
    return ServicePanel(members, warn=warn)


def services_of(environment: Environment, files: Mapping[str, str]) -> tuple[ServiceConfig, ...]:
    """What `services.toml` among the files says, or the file that the environment names.

    Raises:
        ConfigurationError: every problem of the file.
        UsageError: the file that the environment names cannot be read.
    """
    named = environment.services_config
    if not named:
        return configured_services(
            files.get("services.toml"), source=SERVICES_FILE, bundled=_bundled(environment)
        )
    try:
        text = Path(named).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"COGWORKS_DOMAIN_SERVICES_CONFIG names {named!r}, which cannot be read: {error}"
        ) from error
    return configured_services(text, source=named)


def _bundled(environment: Environment) -> ServiceConfig:
    """The bundled service, with environments that outlive the step."""
    folder = str(environments_folder(environment))
    return BUNDLED.model_copy(update={"command": (*BUNDLED.command, "--environments", folder)})
