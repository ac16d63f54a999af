"""The published packages of the zoo: what each is, and how its own maintainers install it and run its tests."""

import tomllib
from collections.abc import Mapping

from cogworks.vocabulary import Value
from scripts.benchmarks.published import Release


class Animal(Value):
    """One source distribution."""

    name: str
    version: str
    sha256: str
    """Of the source distribution."""
    shape: tuple[str, ...]
    """What it is an example of, e.g. `hatch-vcs`, `src layout`, `C extension`."""
    install: tuple[str, ...]
    """Arguments of `pip install`, one line each, as the project's own tox, workflow or page for contributors has them."""
    test: str
    """The command that the project's own page for contributors, tox or workflow names."""
    configuration: str = ""
    """Lines of `.cogworks/config.toml` that it needs here; empty: none."""
    refusal: str = ""
    """Words of the refusal that is right for it here; empty: it has to work."""
    held: tuple[str, ...] = ()
    """Words with which it is told here of single tests that they cannot pass in isolation; empty: there are none."""

    @property
    def release(self) -> Release:
        return Release(self.name, self.version, self.sha256)

    @property
    def configured_lines(self) -> int:
        """How many settings a maintainer has to write; the header of a table is none."""
        return sum("=" in line for line in self.configuration.splitlines())


def animals(text: str) -> tuple[Animal, ...]:
    """The packages that a file names, in its order."""
    tables: Mapping[str, Mapping[str, object]] = tomllib.loads(text)
    return tuple(Animal.model_validate({"name": name, **table}) for name, table in tables.items())
