"""The commands of one root of a repository."""

from typing import NamedTuple

from cogworks.services.command.managers import Manager

REPORT = "$COGWORKS_REPORT"
"""Stands in a command for the file that the report belongs into."""
INSIDE = "$COGWORKS_INSIDE"
"""Stands in a command for the folder of our own reporters."""


class Recipe(NamedTuple):
    """The commands of one root; each is a line for `sh` that starts there."""

    language: str = ""
    runner: str = ""
    """What runs the tests, e.g. `jest`; empty: nothing is known."""
    test: str = ""
    test_one: str = ""
    """With `{test}`, `{file}`, `{folder}` or `{name}`; empty: the runner's own way, else the whole suite."""
    report: str = "exit-code"
    report_file: str = ""
    """Pattern of the reports below the root; empty: standard output, or `REPORT` where the command names it."""
    setup: tuple[str, ...] = ()
    manager: Manager = Manager()  # frozen
    """What the setup runs with, where this machine lacks it."""
    node: str = ""
    """The range of Node.js that a `package.json` names under `engines`."""
    lint: str = ""
    format: str = ""
    programs: tuple[str, ...] = ()
    """What has to be on this machine."""
    source: str = ""
    """The manifest, and key, that says so."""
    notes: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    """Folders that the build can be told to keep to, each with what it is made of."""
