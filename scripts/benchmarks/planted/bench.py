"""`scripts/bench planted`: at which rank localisation puts ten planted bugs."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from cogworks.settings.config import read_environment
from scripts.benchmarks.places import places
from scripts.benchmarks.planted.planting import PlantedBug, lay_out, library, planted_bugs, with_bug
from scripts.benchmarks.published import CACHE
from scripts.benchmarks.realbugs.hunks import Sides, hunks_between
from scripts.benchmarks.realbugs.ranks import ALL, Located, ablations, located, shown

TOP = 3
WANTED = 8
"""Of ten, among the first three."""


def rank(bugs: Sequence[PlantedBug]) -> list[Located]:
    """At which rank each of them stands."""
    environment = read_environment({"COGWORKS_WORK_DIR": str(CACHE), "HOME": str(Path.home())})
    found = []
    for bug in bugs:
        files = with_bug(bug)
        sides = Sides({bug.file: files[bug.file]}, {bug.file: library(bug.library)[bug.file]})
        with TemporaryDirectory(prefix="cogworks-bench-") as name:
            folder = lay_out(files, Path(name, "tree"))
            found.append(located(bug.kind, places(folder, bug.tests, environment), hunks_between(sides)))
    return found


def at_the_top(found: Sequence[Located]) -> int:
    """How many are among the first three by all signals."""
    ranks = [each.measured[ALL] for each in found]
    return sum(rank is not None and rank <= TOP for rank in ranks)


def report(bugs: Sequence[PlantedBug], found: Sequence[Located]) -> str:
    """One row for each bug, and what each signal is worth."""
    rows = [
        f"| {bug.kind} | `{bug.symbol}` | {shown(each.measured[ALL])} | {shown(each.unmeasured[ALL])} |"
        for bug, each in zip(bugs, found, strict=True)
    ]
    head = ("| bug | function | rank | rank without coverage |", "|---|---|---|---|")
    return "\n".join((*head, *rows, "", ablations(found)))


@click.command()
def main() -> None:
    """Print the ranks; exit with 1 unless eight are among the first three."""
    bugs = planted_bugs()
    found = rank(bugs)
    click.echo(report(bugs, found))
    if at_the_top(found) < WANTED:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
