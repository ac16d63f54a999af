"""Runs small hostile programs in isolation; without them in a safe form, to prove that they could succeed."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cogworks.services.sandbox.inside.order import Limits
from cogworks.services.sandbox.isolation import NO_ISOLATION, Isolation
from cogworks.services.sandbox.probing import strongest
from cogworks.services.sandbox.running import Confined, Ended, run

PYTHON = str(Path(sys.executable).resolve())
HERE = strongest(os.environ["PATH"])
WITHOUT_NAMESPACES = Isolation("none", "", HERE.landlock_abi, HERE.is_filtered)
OWN_NAMESPACES = Isolation("namespaces", "", HERE.landlock_abi, HERE.is_filtered)


def variants() -> list[Isolation]:
    """The strongest isolation of this machine and the weaker ones one may end up with elsewhere."""
    if not HERE.is_complete:
        return [HERE]
    found = [HERE] if HERE.engine == "namespaces" else [HERE, OWN_NAMESPACES]
    found.append(Isolation(HERE.engine, HERE.program))
    return [*found, WITHOUT_NAMESPACES] if HERE.landlock_abi else found


def name(isolation: Isolation) -> str:
    """For test ids, so that a run says which layers it tried."""
    return f"{isolation.engine}-landlock{isolation.landlock_abi}-{'filter' if isolation.is_filtered else 'nofilter'}"


def attack(
    script: str,
    folder: Path,
    isolation: Isolation,
    *arguments: object,
    limits: Limits | None = None,
    timeout_s: float = 20,
    has_network: bool = False,
) -> Ended:
    """How a script of Python ended that ran in a directory of its own, `folder/own`."""
    own, scratch = folder / "own", folder / "scratch"
    own.mkdir()
    scratch.mkdir()
    confined = Confined(
        command=(PYTHON, "-I", "-S", "-c", script, *map(str, arguments)),
        directory=own,
        environment={"PATH": os.environ["PATH"]},
        readable=(Path(sys.base_prefix), Path(PYTHON)),
        writable=(own,),
        timeout_s=timeout_s,
        limits=limits or Limits(),
        has_network=has_network,
    )
    return run(confined, isolation, scratch=scratch)


def last_lines(ended: Ended, count: int = 1) -> Sequence[str]:
    return ended.output.splitlines()[-count:]


__all__ = [
    "HERE",
    "NO_ISOLATION",
    "OWN_NAMESPACES",
    "WITHOUT_NAMESPACES",
    "attack",
    "last_lines",
    "name",
    "variants",
]
