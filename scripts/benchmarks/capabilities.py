"""`scripts/bench capabilities [REPOSITORY…]`: how often people would be warned of what changes open, on changes that people made.

Every commit of a repository without merges counts as a change, its message as what was told of it. With `--releases` the pairs of releases
that `scripts/bench realbugs` takes its bugs from are changes as well, of which nothing is told. Nothing is run: only git is asked.
"""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import click

from cogworks.codebase.diffparsing import parse_diff
from cogworks.codegen.handoff import is_test_path
from cogworks.codegen.openings import Opening, openings
from scripts.benchmarks.realbugs.bench import RELEASES, pairs
from scripts.benchmarks.realbugs.hunks import diff_between
from scripts.benchmarks.realbugs.sources import opened


class Change(NamedTuple):
    """One commit."""

    repository: str
    oid: str
    message: str
    openings: tuple[Opening, ...]


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, check=False, timeout=120
    )
    return done.stdout.decode(errors="replace")


def _text_at(folder: Path, oid: str, path: str) -> str:
    return _git(folder, "show", f"{oid}:{path}")


def changes(folder: Path, most: int, told: str | None) -> Iterator[Change]:
    """The newest commits of a repository.

    Args:
        told: what is taken for the texts of every work item; None: the message of the commit.
    """
    for oid in _git(folder, "rev-list", "--no-merges", f"--max-count={most}", "HEAD").split():
        diff = _git(folder, "diff-tree", "-p", "-M", "--root", "--no-commit-id", "-r", oid)
        parsed = parse_diff(diff)
        if not parsed.diff.files or parsed.problems:
            continue
        message = _git(folder, "show", "-s", "--format=%B", oid)
        found = openings(
            parsed.diff,
            partial(_text_at, folder, oid),
            message if told is None else told,
        )
        yield Change(folder.parent.name if folder.name == "repo" else folder.name, oid, message, found)


def releases() -> Iterator[Change]:
    """What lies between each two releases that real bugs are taken from."""
    for pair in pairs(RELEASES.read_text("utf-8")):
        with opened(pair) as both:
            diff = parse_diff(diff_between(both.sides.older, both.sides.newer)).diff
            yield Change(pair.name, "", "", openings(diff, both.sides.newer.get, ""))


@click.command(help=__doc__)
@click.argument("repositories", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--most", default=300, show_default=True, help="Newest commits of each repository.")
@click.option(
    "--told",
    default=None,
    help="What is taken for the texts of every work item, instead of the commit's message.",
)
@click.option(
    "--releases", "with_releases", is_flag=True, help="The releases that real bugs are taken from as well."
)
@click.option("--verbose", is_flag=True, help="Every place, a line each.")
def main(
    repositories: tuple[Path, ...], most: int, told: str | None, *, with_releases: bool, verbose: bool
) -> None:
    """Walk the repositories and count."""
    walks = [changes(folder, most, told) for folder in repositories] + ([releases()] if with_releases else [])
    total = warned = 0
    by: Counter[str] = Counter()
    for change in chain.from_iterable(walks):
        total += 1
        warned += bool(change.openings)
        by.update(map(_kind, change.openings))
        for each in change.openings if verbose else ():
            place = f"{change.repository} {change.oid[:10]} {each.path}:{each.line}"
            click.echo(f"{place} {each.capability} {each.what}")
    share = round(100 * warned / total, 2) if total else 0.0
    found = {"changes": total, "with_a_warning": warned, "per_cent": share, "by": dict(sorted(by.items()))}
    click.echo(json.dumps(found))


def _kind(opening: Opening) -> str:
    return f"{opening.capability}{', in tests' if is_test_path(opening.path) else ''}"


if __name__ == "__main__":
    main()
