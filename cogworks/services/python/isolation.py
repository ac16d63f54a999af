"""Which walls this machine can put around a test run."""

import subprocess
from collections.abc import Mapping
from typing import NamedTuple

_PROBE_S = 10.0


class Isolation(NamedTuple):
    """A way to start a command apart from this machine."""

    prefix: tuple[str, ...]
    """Put before the command; empty when there is no such way."""
    layers: tuple[str, ...]
    """What is active, in words for the operator."""


_ALWAYS = ("own copy of the files", "scrubbed environment", "resource limits")
_CANDIDATES = (
    Isolation(
        (
            "unshare",
            "--map-current-user",
            "--keep-caps",
            "--net",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
        ),
        ("no network", "processes of its own", *_ALWAYS),
    ),
    Isolation(("unshare", "--map-root-user", "--net"), ("no network", *_ALWAYS)),
)
NO_NAMESPACES = Isolation((), _ALWAYS)


def strongest(environment: Mapping[str, str]) -> Isolation:
    """The first way that works here, tried with a command that does nothing."""
    return next((found for found in _CANDIDATES if _works(found, environment)), NO_NAMESPACES)


def _works(candidate: Isolation, environment: Mapping[str, str]) -> bool:
    try:
        done = subprocess.run(
            [*candidate.prefix, "true"],
            env=dict(environment),
            capture_output=True,
            timeout=_PROBE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
