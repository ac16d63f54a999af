"""`cogworks health`: do the domain services answer, and what can they do?"""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.tables import show_line
from cogworks.errors import TryAgainLater, UsageError

if TYPE_CHECKING:
    from cogworks.domain_services.configuration import ServiceConfig
    from cogworks.settings.config import Environment


@click.command("health")
@click.argument("name", required=False)
@click.option(
    "--repository",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path(),
    help="The repository whose .cogworks/services.toml is read [default: here].",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def health(name: str | None, repository: Path, as_json: bool) -> int:
    """Check that the configured domain services answer.

    Checks all of them, or only NAME. Without .cogworks/services.toml, checks the bundled Python service. Exits with 1
    when a primary service, or NAME, cannot be used.

    Example: cogworks health --json
    """
    from cogworks.settings.config import read_environment

    services = chosen_services(read_environment(), repository, name)
    greetings = [greeted(service) for service in services]
    is_well = all(each["status"] != "failed" for each in greetings if name or each["role"] == "primary")
    if as_json:
        click.echo(json.dumps({"outcome": "succeeded" if is_well else "failed", "services": greetings}))
    else:
        _show(greetings)
    return 0 if is_well else 1


def chosen_services(
    environment: "Environment", repository: Path, name: str | None
) -> "tuple[ServiceConfig, ...]":
    """The configured services of a repository on this machine, or the one of that name.

    Raises:
        ConfigurationError: every problem of the file.
        UsageError: there is no service of that name.
    """
    from cogworks.domain_services.configuration import SERVICES_FILE
    from cogworks.domain_services.opening import names_of
    from cogworks.wiring.services import services_of

    file = repository / SERVICES_FILE
    text = file.read_text(encoding="utf-8") if file.is_file() else None
    names = sorted(each.name for each in repository.iterdir())
    services = services_of(environment, {} if text is None else {"services.toml": text}, names)
    if name is None:
        return services
    chosen = tuple(service for service in services if service.name == name)
    if not chosen:
        raise UsageError(f"there is no service {name!r}. Configured services: {names_of(services)}")
    return chosen


def greeted(service: "ServiceConfig") -> dict[str, Any]:
    """What a service says of itself; `status` is `failed`, with a `message`, where it says nothing."""
    from cogworks.domain_services.opening import open_client
    from cogworks.domain_services.transport import ServiceFailed
    from cogworks.settings.config import child_environment

    about: dict[str, Any] = {"name": service.name, "role": service.role, "way": service.way}
    # One attempt: a user wants to know how it is now.
    patient = service.model_copy(update={"attempts": 1})
    with closing(open_client(patient, environment=child_environment())) as client:
        started_s = time.perf_counter()
        try:
            handshake = client.handshake()
        except (ServiceFailed, TryAgainLater) as error:
            return {**about, "status": "failed", "message": str(error)}
        first_ms = _elapsed_ms(started_s)
    return {
        **about,
        "status": handshake.status,
        "latency_ms": first_ms,
        **handshake.model_dump(mode="json", exclude={"name", "status"}),
        "calls_itself": handshake.name,
    }


def _elapsed_ms(started_s: float) -> float:
    return round((time.perf_counter() - started_s) * 1000, 1)


def _show(greetings: Sequence[Mapping[str, Any]]) -> None:
    from cogworks.cli.tables import Column, show_table

    columns = [Column(name) for name in ("service", "role", "status", "version", "api", "domain", "offers")]
    rows = [
        [
            each["name"],
            each["role"],
            each["status"],
            each.get("service_version", "-"),
            each.get("api_version", "-"),
            each.get("domain", "-"),
            ", ".join(each.get("capabilities", ())) or "-",
            str(each.get("latency_ms", "-")),
        ]
        for each in greetings
    ]
    show_table([*columns, Column("ms", is_number=True)], rows)
    for each in greetings:
        if each.get("environments"):
            show_line(f"\n{each['name']}: the environments of repositories are {each['environments']}")
        if each["status"] == "failed":
            show_line(f"\n{each['message']}", err=True)
        elif each["isolation"]:
            show_line(f"\n{each['name']} isolates tests by: {', '.join(each['isolation'])}")
        elif "simulate" in each["capabilities"]:
            show_line(f"\n{each['name']} does not say how it isolates the tests it runs", err=True)
