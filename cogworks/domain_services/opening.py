"""From a service's configuration to a client of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from cogworks.domain_services.ahead import PYTHON_SERVICE, Starts
from cogworks.domain_services.announcing import AnnouncingTransport, Waiting
from cogworks.domain_services.client import Configured, ServiceClient
from cogworks.domain_services.configuration import SERVICES_FILE, ServiceConfig, parse_services
from cogworks.domain_services.languages import languages_shown_by
from cogworks.domain_services.limits import within
from cogworks.domain_services.messages import Caller
from cogworks.domain_services.over_socket import SocketTransport
from cogworks.domain_services.process import ServiceProcess
from cogworks.domain_services.transport import ServiceGone, ServiceRefused, Transport
from cogworks.leaving import secrets_of
from cogworks.settings.credentials import Credential, first_credential
from cogworks.settings.for_services import package_index_settings

BUNDLED = ServiceConfig(name="python", command=PYTHON_SERVICE)
"""What a repository without `services.toml` gets."""
BUNDLED_PATTERNS = ("*.py", "*.pyi")
"""The files it is asked about, as its handshake says; known here so that nobody has to start it to know."""
COMMANDS = ServiceConfig(name="command", kind="command")
"""What a repository without `services.toml` gets whose manifests show another language."""


def bundled_for(names: Sequence[str], python: ServiceConfig = BUNDLED) -> tuple[ServiceConfig, ...]:
    """The services of a repository that names none.

    Args:
        names: of the files and folders at its root; none: nobody knows.
        python: the Python service.
    """
    has_python, has_other = languages_shown_by(names)
    if has_python and has_other:
        # A manifest of tools beside the code is no reason to stop where they are not installed.
        return (python, COMMANDS.model_copy(update={"role": "secondary"}))
    return (COMMANDS,) if has_other else (python,)


def configured_services(
    text: str | None,
    *,
    source: str = SERVICES_FILE,
    bundled: ServiceConfig = BUNDLED,
    names: Sequence[str] = (),
) -> tuple[ServiceConfig, ...]:
    """The services a `services.toml` names; without one the bundled ones that fit the names at the repository's root.

    Raises:
        ConfigurationError: every problem of the file.
    """
    return bundled_for(names, bundled) if text is None else parse_services(text, source=source)


def open_client(
    service: ServiceConfig,
    *,
    environment: Mapping[str, str],
    caller: Caller | None = None,
    waiting: Waiting | None = None,
    configured: Configured | None = None,
    starts: Starts = ServiceProcess,
) -> ServiceClient:
    """A client that reaches the service at the first question; close it.

    Args:
        environment: of this process: PATH goes to a service that is started, to a bundled one also what says where
            packages come from, and the token named in `token_env` to a `url`.
        waiting: None: without limit, and nobody hears of it.
        configured: what the repository says of its environment, tests and folders.
        starts: where the service is a process of ours, what makes it one.
    """
    left_s, during = waiting or Waiting()
    return ServiceClient(
        lambda: AnnouncingTransport(
            open_transport(service, environment, left_s=left_s(), starts=starts), during
        ),
        name=service.name,
        caller=caller,
        limits=service.limits,
        left_s=left_s,
        is_far=service.is_far,
        configured=(configured or Configured())._replace(secrets=secrets_of(environment)),
    )


def open_transport(
    service: ServiceConfig,
    environment: Mapping[str, str],
    *,
    left_s: float | None = None,
    starts: Starts = ServiceProcess,
) -> Transport:
    """The way to the service, as configured; a start takes at most `left_s`.

    Raises:
        ServiceGone: it cannot be started.
        ServiceRefused: the token is not there.
    """
    if service.started:
        return starts(
            service.started,
            environment=environment,
            start_s=within(service.limits.start_s, left_s),
            # Anybody else's service has its own ways; what these variables hold may be secret.
            variables=package_index_settings(environment) if is_bundled(service) else {},
        )
    if service.socket:
        return SocketTransport(Path(service.socket))
    token = first_credential(environment, service.token_env) if service.token_env else Credential()
    if service.token_env and not token.variable:
        raise ServiceRefused(f"the variable {service.token_env} is not set; put the service's token there")
    if token.problem:
        raise ServiceRefused(f"the variable {token.variable} {token.problem}")
    if service.ca_file and not Path(service.ca_file).is_file():
        raise ServiceGone(f"the certificates {service.ca_file!r} are not there; correct `ca_file`")
    from cogworks.domain_services.over_wire import HttpTransport  # noqa: PLC0415 - most services are asked over a socket, and HTTP would slow every start down

    return HttpTransport(
        service.url, token=token.value, ca_file=Path(service.ca_file) if service.ca_file else None
    )


def is_bundled(service: ServiceConfig) -> bool:
    """Whether a service is started with this program itself."""
    return service.kind == "command" or service.command[: len(BUNDLED.command)] == BUNDLED.command


def names_of(services: Sequence[ServiceConfig]) -> str:
    """Their names in one line."""
    return ", ".join(service.name for service in services)
