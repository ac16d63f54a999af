"""The bundled Python service, started before it is known whether it is needed, for an order of exactly this one.

Loads next to nothing: while the process starts, its starter loads what asks it.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from cogworks.domain_services.languages import languages_shown_by
from cogworks.domain_services.process import ServiceProcess
from cogworks.domain_services.transport import ServiceGone
from cogworks.settings.for_services import (
    SERVICES_VARIABLE,
    environments_in,
    package_index_settings,
    work_folder,
)

PYTHON_SERVICE = (sys.executable, "-m", "cogworks", "service", "python", "--until-stdin-closes")
"""The words that start it, without those that say where it keeps things and where it listens."""
_NO_TIME_S = 0.0


class Starts(Protocol):
    """Makes a service a running process; as `ServiceProcess`, which is one."""

    def __call__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        start_s: float,
        variables: Mapping[str, str] = ...,
    ) -> ServiceProcess: ...


class Ahead:
    """Hands out the process that was started ahead, once, to an order of the same; else starts what is ordered."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._order = _order(command, environment, variables)
        self._idle: list[ServiceProcess] = []
        # The caller that needs it starts it again, and reports why that is not possible.
        with suppress(ServiceGone):
            self._idle.append(
                ServiceProcess(command, environment=environment, start_s=_NO_TIME_S, variables=variables)
            )

    def __call__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        start_s: float,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> ServiceProcess:
        """As `Starts`."""
        if _order(command, environment, variables) == self._order:
            # Two may order at once.
            with suppress(IndexError):
                process = self._idle.pop()
                process.accepts_within(start_s)
                return process
        return ServiceProcess(command, environment=environment, start_s=start_s, variables=variables)

    def close(self) -> None:
        """End the process unless somebody has it."""
        with suppress(IndexError):
            self._idle.pop().close()


@contextmanager
def started_ahead(repository: Path, environ: Mapping[str, str]) -> Iterator[Starts]:
    """What starts the services of a repository; the Python service runs already where that is what the repository gets.

    Whether it does is guessed from the folder as it lies there. A wrong guess costs the start of a process.

    Args:
        environ: of this process, as for `open_client`.
    """
    if not _is_likely(repository, environ):
        yield ServiceProcess
        return
    command = (*PYTHON_SERVICE, "--environments", str(environments_in(work_folder(environ))))
    ahead = Ahead(command, environment=environ, variables=package_index_settings(environ))
    try:
        yield ahead
    finally:
        ahead.close()


def _is_likely(repository: Path, environ: Mapping[str, str]) -> bool:
    if environ.get(SERVICES_VARIABLE) or (repository / ".cogworks" / "services.toml").exists():
        return False
    try:
        names = [each.name for each in repository.iterdir()]
    except OSError:
        return False
    has_python, has_other = languages_shown_by(names)
    return has_python or not has_other


def _order(command: Sequence[str], environment: Mapping[str, str], variables: Mapping[str, str]) -> object:
    """What of an order shows in the process that it starts."""
    return tuple(command), environment.get("PATH"), dict(variables)
