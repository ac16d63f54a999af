"""`scripts/bench zoo`: published packages nobody prepared, each in its own way and in that of cogworks, test by test."""

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click

import cogworks
from cogworks.codebase.git import Git
from scripts.benchmarks.published import CACHE, source_of
from scripts.benchmarks.realbugs.keeping import state_of
from scripts.benchmarks.zoo.animals import Animal, animals
from scripts.benchmarks.zoo.comparing import Compared, compared
from scripts.benchmarks.zoo.ourway import OurRun, our_run
from scripts.benchmarks.zoo.ownway import OwnRun, own_run
from scripts.benchmarks.zoo.table import is_met, table

ANIMALS = Path(__file__).with_name("animals.toml")
RESULTS = CACHE.parent / "zoo"
_PACKAGE = Path(cogworks.__file__).parent
_OURS = (_PACKAGE / "services", _PACKAGE / "domain_services", Path(__file__).parent)
_OF_SDISTS = ("PKG-INFO", "*.egg-info")
_AUTHOR = {
    **{f"GIT_{who}_{what}": "zoo" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    **{f"GIT_{who}_DATE": "2026-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")},
}


def visited(animal: Animal, results: Path) -> Compared:
    """What both ways say; what the same code found before is read from the results."""
    kept = results / f"here-{state_of(_OURS)}" / f"{animal.name}.json"
    if not kept.is_file():
        with _room() as room:
            here = our_run(animal, repository_of(animal, room), results / "environments")
        _keep(kept, here)
    here = OurRun.model_validate_json(kept.read_text(encoding="utf-8"))
    return compared(animal, own_way(animal, results), here)


def own_way(animal: Animal, results: Path) -> OwnRun:
    """What the package's own way says; what was found before is read from the results, for our code has no part in it."""
    state = hashlib.sha256(animal.model_dump_json().encode()).hexdigest()[:12]
    kept = results / "own" / f"{animal.name}-{state}.json"
    if not kept.is_file():
        with _room() as room:
            (room / "own").mkdir()
            own = own_run(animal, repository_of(animal, room), room / "own")
        _keep(kept, own)
    return OwnRun.model_validate_json(kept.read_text(encoding="utf-8"))


def repository_of(animal: Animal, room: Path) -> Path:
    """A repository with the files of a release that git would hold: what is ignored or of the distribution alone is not there."""
    unpacked = source_of(animal.release, room / "sdist")
    for pattern in _OF_SDISTS:
        for place in unpacked.rglob(pattern):
            shutil.rmtree(place) if place.is_dir() else place.unlink()
    git = Git(environment=os.environ, home=room)
    for command in (
        ("init", "--quiet"),
        ("add", "--all"),
        ("commit", "--quiet", "--message", f"Release {animal.version}"),
        ("tag", f"v{animal.version}"),
        ("clean", "-ffdxq"),
    ):
        git.run(*command, cwd=unpacked, extra=_AUTHOR)
    return unpacked


@contextmanager
def _room() -> Iterator[Path]:
    with TemporaryDirectory(prefix="cogworks-zoo-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _keep(place: Path, run: OurRun | OwnRun) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(run.model_dump_json(indent=1), encoding="utf-8")


@click.command()
@click.option("--only", default="", help="Packages whose name begins so; all of them otherwise.")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=RESULTS,
    show_default=True,
    help="Where results are kept; what the same code did before is not done again.",
)
@click.option("--own", is_flag=True, help="Only run the packages' own ways.")
def main(only: str, results: Path, own: bool) -> None:
    """Print whether each package's tests come out here as in its own way; exit with 1 where too few do."""
    wanted = [each for each in animals(ANIMALS.read_text(encoding="utf-8")) if each.name.startswith(only)]
    if own:
        for animal in wanted:
            run = own_way(animal, results)
            counts = Counter(run.outcomes.values())
            click.echo(f"{animal.name}: {run.problem or dict(sorted(counts.items()))}")
        return
    found = []
    for animal in wanted:
        result = visited(animal, results)
        found.append(result)
        told = result.refusal or result.problem or f"{result.agree} agree, {len(result.differ)} differ"
        click.echo(f"{animal.name}: {told.strip().splitlines()[-1]}", err=True)
    click.echo(table(found))
    if not is_met(found):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
