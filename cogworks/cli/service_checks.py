"""What `cogworks doctor` says of the domain services: can their file be understood, and does each of them answer?"""

from collections.abc import Mapping, Sequence

from cogworks.cli.health import greeted
from cogworks.domain_services.configuration import ServiceConfig
from cogworks.errors import CogworksError
from cogworks.forge import diagnosis
from cogworks.forge.diagnosis import Check
from cogworks.settings.config import Environment


def service_checks(
    environment: Environment, files: Mapping[str, str] | None, names: Sequence[str] = ()
) -> list[Check]:
    """One check for each service, which is started or reached as a step would do it.

    Args:
        files: of the repository below `.cogworks`; None: they are not known.
        names: of what lies at its root; none: nobody knows.
    """
    from cogworks.wiring.services import services_of

    if files is None and not environment.services_config:
        return [diagnosis.skipped("services", "the repository's services.toml could not be read")]
    try:
        services = services_of(environment, files or {}, names)
    except CogworksError as error:
        return [diagnosis.failed("services", error)]
    return [_check(service) for service in services]


def _check(service: ServiceConfig) -> Check:
    greeting = greeted(service)
    name = f"service {service.name}"
    if greeting["status"] == "failed":
        if service.role == "primary":
            return Check(name=name, status="failed", found=greeting["message"])
        line = f"{greeting['message']}\nit is secondary: what it checks is left out with a warning"
        return Check(name=name, status="warning", found=line)
    offers = ", ".join(greeting["capabilities"])
    line = f"{greeting['status']}, {greeting['calls_itself']} {greeting['service_version']}, API {greeting['api_version']}: {offers}"
    if greeting["status"] == "ready":
        return Check(name=name, status="ok", found=line)
    remedy = f"`cogworks health {service.name}` says what it is short of."
    return Check(name=name, status="warning", found=line, remedy=remedy)
