"""What the machine and the configuration lend to the service of commands."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from cogworks.domain_services.languages import patterns_of
from cogworks.grammars.gathering import gather
from cogworks.services.command.grammars.knowledge import Reading
from cogworks.services.python.cloning import Clones
from cogworks.services.sandbox.isolation import Isolation


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
    isolation: Isolation
    commands: Commands = Commands()  # frozen
    kept: Path | None = None
    """Where what compilers keep outlives a run; None: nothing does."""
    clones: Clones | None = None
    """Where repositories of other machines come from; None: there are none."""
    settings: Mapping[str, str] = MappingProxyType({})
    """Environment of this process, as far as it says where packages come from."""
    source_facts: Reading = gather
    """What a file says; the running service keeps it in memory."""
    home: Path | None = None
    """Whose packages are used; None: those of the user this process runs as."""

    @property
    def patterns(self) -> tuple[str, ...]:
        """Of the names of the files that are answered for; none: those of every language."""
        return patterns_of(self.commands.language) if self.commands.language else ()
