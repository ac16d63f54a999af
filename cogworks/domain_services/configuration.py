"""What `.cogworks/services.toml` says: which services there are, how they are reached, how long they may take."""

import difflib
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError

from cogworks.domain_services.languages import LANGUAGES, REPORTS
from cogworks.domain_services.limits import Limits
from cogworks.domain_services.operations import OPERATIONS
from cogworks.errors import ConfigurationError
from cogworks.loopback import is_loopback
from cogworks.settings.sections import EnvironmentConfig
from cogworks.toml_text import tables_in
from cogworks.vocabulary import Value

SERVICES_FILE = ".cogworks/services.toml"
TOKEN_PREFIX = "COGWORKS_SERVICE_"  # noqa: S105 - the name of a variable, not a token

_FROM_HANDSHAKE = ("capabilities", "artifact_types", "interface_types", "domain")
"""The handshake says these; stale copies in the file are ignored."""
_WAYS = ("command", "socket", "url")
_OF_COMMANDS = ("language", "setup", "test", "test_one", "lint", "format", "report", "report_file")
_PLACES = ("{test}", "{file}", "{folder}", "{name}")
_LAUNCHED = (sys.executable, "-m", "cogworks", "service", "command", "--until-stdin-closes")


class ServiceTests(Value):
    """`tests` of a `[[services]]` table; what it leaves out is as `[tests]` of `config.toml` says."""

    command: str = ""
    """The command that runs the tests of this service, from its folder."""


class ServiceConfig(Value):
    """One `[[services]]` table."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")
    kind: Literal["", "python", "command"] = ""
    """A bundled service: `python`, or `command`, which the keys from `language` to `report_file` are for; else `command`,
    `socket` or `url` say how the service is reached."""
    root: str = ""
    """The folder that the service is for; empty: everything that no other service of its kind is for."""
    environment: EnvironmentConfig | None = None
    """As `[environment]` of `config.toml`, for this service alone; None: as it is there."""
    tests: ServiceTests = ServiceTests()
    language: str = ""
    """Of `LANGUAGES`; empty: what the manifests tell of."""
    setup: tuple[str, ...] = ()
    """Lines for `sh` that run before the tests; none: as the manifests tell, and so for every next key."""
    test: str = ""
    """Runs the whole suite."""
    test_one: str = ""
    """Runs one test, with `{test}`, `{file}`, `{folder}` or `{name}`."""
    lint: str = ""
    """Prints `file:line: message`; `{files}` stands for the files."""
    format: str = ""
    """Rewrites `{files}` in place."""
    report: str = ""
    """Of `REPORTS`."""
    report_file: str = ""
    """Pattern of the reports; empty: standard output, or where `$COGWORKS_REPORT` says."""
    role: Literal["primary", "secondary"] = "primary"
    """Without a primary service the step stops; without a secondary one that check is left out with a warning."""
    command: tuple[str, ...] = ()
    """Starts the service for the step; `--socket <path>` is added."""
    socket: str = ""
    """Where a service of this machine listens."""
    url: str = ""
    """Where a service listens for HTTP."""
    artifacts: tuple[str, ...] = ()
    """Patterns of the files it is asked about; none: as the handshake says."""
    timeouts: Mapping[str, float] = Field(default_factory=dict)
    """Method -> seconds."""
    attempts: int = Field(default=3, ge=1, le=10)
    breaker_failures: int = Field(default=3, ge=1, le=100)
    token_env: str = ""
    """The environment variable that holds the bearer token for `url`."""
    ca_file: str = ""
    """PEM file with the certificates to trust at `url`, instead of the usual ones."""
    shares_files: bool = False
    """Whether the service at `url` sees our files under the same paths, e.g. on a shared volume."""

    @property
    def started(self) -> tuple[str, ...]:
        """The words that start it; none: it runs already. For the service of commands `command` holds further options."""
        return (*_LAUNCHED, *_options(self), *self.command) if self.kind == "command" else self.command

    @property
    def limits(self) -> Limits:
        """Times and attempts for the client."""
        return Limits(methods=self.timeouts, attempts=self.attempts, breaker_failures=self.breaker_failures)

    @property
    def is_far(self) -> bool:
        """Whether it sees only what is pushed."""
        host = urlsplit(self.url).hostname or ""
        return bool(self.url) and not self.shares_files and not is_loopback(host)

    @property
    def way(self) -> str:
        """How it is reached, for people."""
        return self.url or self.socket or " ".join(self.started)


def _options(service: ServiceConfig) -> Iterator[str]:
    """The options of `cogworks service command` that say what the keys say."""
    for key in _OF_COMMANDS:
        value = getattr(service, key)
        for each in value if isinstance(value, tuple) else (value,):
            if each:
                # In one word: a line may begin with what would be taken for an option.
                yield f"--{key.replace('_', '-')}={each}"


def parse_services(text: str, *, source: str = SERVICES_FILE) -> tuple[ServiceConfig, ...]:
    """The services of a file, in its order.

    Raises:
        ConfigurationError: every problem at once.
    """
    try:
        data = tables_in(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(source, [f"not TOML: {error}"]) from None
    problems = [_unknown("", key, ("services",)) for key in data if key != "services"]
    tables = data.get("services", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigurationError(source, [*problems, "`services` must be tables: `[[services]]`"])
    services: list[ServiceConfig] = []
    for number, table in enumerate(tables, start=1):
        read = _service(table, f"services[{number}]")
        if isinstance(read, ServiceConfig):
            services.append(read)
        else:
            problems += read
    names = [str(table.get("name")) for table in tables if "name" in table]
    problems += [
        f"service {name!r} is there {names.count(name)} times; give each its own name"
        for name in sorted(set(names))
        if names.count(name) > 1
    ]
    if not tables:
        problems.append("there is no `[[services]]` table; add one, or delete the file")
    elif not problems and all(service.role == "secondary" for service in services):
        problems.append('no service is `role = "primary"`; nobody would check what is generated')
    if problems:
        raise ConfigurationError(source, problems)
    return tuple(services)


def address_problem(url: str, *, has_token: bool) -> str | None:
    """Why a service must not be reached there: beyond this machine only with TLS and a token."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        return f"is no address: {error}"
    if parts.scheme not in ("http", "https") or not host:
        return "must begin with http:// or https:// and name a host"
    if parts.username or parts.query or parts.fragment:
        return "must have no user, query or fragment; the token goes into `token_env`"
    if is_loopback(host):
        return None
    if parts.scheme != "https":
        return f"leaves this machine without TLS; use https://{host}"
    return (
        None
        if has_token
        else f"leaves this machine without a token; set `token_env`, e.g. {TOKEN_PREFIX}TOKEN"
    )


def _service(table: Mapping[str, Any], place: str) -> ServiceConfig | list[str]:
    fields, problems = _plain(
        {key: value for key, value in table.items() if key not in _FROM_HANDSHAKE}, place
    )
    try:
        service = ServiceConfig.model_validate(fields)
    except ValidationError as error:
        return [*problems, *_listed(error, place)]
    problems += _problems(service, place)
    return problems or service


def _plain(table: dict[str, Any], place: str) -> tuple[dict[str, Any], list[str]]:
    """The table in its one form: `path`, `endpoint`, `transport` and `health_check_timeout_ms` are older words."""
    fields = dict(table)
    problems: list[str] = []
    if "endpoint" in fields:
        endpoint = fields.pop("endpoint")
        fields["url" if str(endpoint).startswith(("http://", "https://")) else "socket"] = endpoint
    if "path" in fields:
        fields["socket"] = fields.pop("path")
    if "health_check_timeout_ms" in fields:
        milliseconds = fields.pop("health_check_timeout_ms")
        if isinstance(milliseconds, int) and milliseconds > 0:
            fields["timeouts"] = {"handshake": milliseconds / 1000, **fields.get("timeouts", {})}
        else:
            problems.append(f"`{place}.health_check_timeout_ms` is {milliseconds!r}; want a positive number")
    if "transport" in fields:
        transport = fields.pop("transport")
        wanted = {"unix": "socket", "http": "url"}.get(str(transport))
        if wanted is None or wanted not in fields:
            problems.append(
                f'`{place}.transport` is {transport!r}; leave it out, or say "unix" with `socket`, "http" with `url`'
            )
    return fields, problems


def _problems(service: ServiceConfig, place: str) -> list[str]:
    ways = [way for way in _WAYS if getattr(service, way)]
    problems = [*_commands_problems(service, place)]
    if ways and service.kind:
        problems.append(
            f'`{place}.{ways[0]}` and `kind = "{service.kind}"` exclude each other; remove one of them'
        )
    if len(ways) != 1 and not service.kind:
        named = " and ".join(f"`{way}`" for way in ways) or "none"
        problems.append(f"`{place}` wants exactly one of `command`, `socket` and `url`, found {named}")
    problems += _root_problems(service, place)
    problems += _command_problems(service, place)
    if service.socket and not Path(service.socket).is_absolute():
        problems.append(f"`{place}.socket` is {service.socket!r}; want an absolute path")
    if service.url and (reason := address_problem(service.url, has_token=bool(service.token_env))):
        problems.append(f"`{place}.url` {service.url!r} {reason}")
    problems += _token_problems(service, place)
    for method, limit_s in service.timeouts.items():
        if method not in OPERATIONS:
            problems.append(_unknown(f"{place}.timeouts.", method, tuple(OPERATIONS)))
        elif not 0 < limit_s <= 86_400:
            problems.append(
                f"`{place}.timeouts.{method}` is {limit_s}; want seconds, more than 0 and at most a day"
            )
    return problems


def _root_problems(service: ServiceConfig, place: str) -> Iterator[str]:
    """A root is written in one way, so that paths can be compared with it."""
    parts = service.root.split("/")
    is_plain = not any(part in ("", ".", "..", ".git") for part in parts)
    if service.root and not (is_plain and service.root.isprintable() and "\\" not in service.root):
        yield f"`{place}.root` is {service.root!r}; want a folder of the repository as in `packages/api`, or leave it out"
    try:
        shlex.split(service.tests.command)
    except ValueError as error:
        yield f"`{place}.tests.command` is {service.tests.command!r}: {error}"


def _commands_problems(service: ServiceConfig, place: str) -> Iterator[str]:
    """What is wrong with the keys of the service of commands."""
    if service.kind != "command":
        for key in _OF_COMMANDS:
            if getattr(service, key):
                yield f'`{place}.{key}` is only for `kind = "command"`'
        return
    if service.language and service.language not in LANGUAGES:
        yield _unknown(f"{place}.language = ", service.language, tuple(LANGUAGES))
    if service.report and service.report not in REPORTS:
        yield _unknown(f"{place}.report = ", service.report, REPORTS)
    if service.test_one and not any(each in service.test_one for each in _PLACES):
        yield f"`{place}.test_one` is {service.test_one!r}; want one of {', '.join(_PLACES)} in it"


def _command_problems(service: ServiceConfig, place: str) -> Iterator[str]:
    """A program must be installed: the working copy holds what the model wrote, and the model's code is not our service."""
    if not service.command:
        return
    program = service.command[0]
    if "/" in program and not Path(program).is_absolute():
        yield (
            f"`{place}.command` starts {program!r} of the working copy, which the model may have written; name an "
            "installed program or an absolute path"
        )
    elif not program:
        yield f"`{place}.command` begins with an empty word"


def _token_problems(service: ServiceConfig, place: str) -> Iterator[str]:
    for key in ("token_env", "ca_file", "shares_files"):
        if getattr(service, key) and not service.url:
            yield f"`{place}.{key}` is only for `url`"
    # The file names the variable and the address it is sent to: it must not be able to name any other secret.
    if service.token_env and not re.fullmatch(TOKEN_PREFIX + r"[A-Z0-9_]+", service.token_env):
        yield f"`{place}.token_env` is {service.token_env!r}; want a name that begins with {TOKEN_PREFIX}"


def _listed(error: ValidationError, place: str) -> Iterator[str]:
    for item in error.errors():
        where = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            yield _unknown(f"{place}.", where, tuple(ServiceConfig.model_fields))
        elif item["type"] == "missing":
            yield f"`{place}.{where}` is missing"
        else:
            yield f"`{place}.{where}` is {item['input']!r}: {item['msg']}"


def _unknown(place: str, key: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean `{close[0]}`?" if close else f"known here: {', '.join(sorted(known))}"
    return f"`{place}{key}` is not a key cogworks knows; {hint}"
