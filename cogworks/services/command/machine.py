"""What the machine and the configuration lend to the service of commands."""

from pathlib import Path
from typing import NamedTuple

from cogworks.services.command.grammars.gathering import gather
from cogworks.services.command.grammars.knowledge import Reading
from cogworks.services.python.cloning import Clones
from cogworks.services.sandbox.walls import Walls


class Commands(NamedTuple):
    """What `.cogworks/services.toml` says of the service; what is empty is found from the manifests."""

    language: str = ""
    setup: tuple[str, ...] = ()
    test: str = ""
    test_one: str = ""
    lint: str = ""
    format: str = ""
    report: str = ""
    report_file: str = ""


class Machine(NamedTuple):
    """Handed to every operation; the same for the whole life of the process."""

    search_path: str
    """PATH of whatever is run."""
    walls: Walls
    commands: Commands = Commands()  # frozen
    kept: Path | None = None
    """Where what compilers keep outlives a run; None: nothing does."""
    clones: Clones | None = None
    """Where repositories of other machines come from; None: there are none."""
    source_facts: Reading = gather
    """What a file says; the running service keeps it in memory."""
