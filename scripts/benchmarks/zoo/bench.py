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
UNSEEN = Path(__file__).with_name("unseen.toml")
"""The same for packages chosen after the rules had been mended by the others."""
RESULTS = CACHE.parent / "zoo"
_PACKAGE = Path(cogworks.__file__).parent
_OURS = (_PACKAGE / "services", _PACKAGE / "domain_services", Path(__file__).parent)
_OF_SDISTS = ("PKG-INFO", "*.egg-info")
_AUTHOR = {
    **{f"GIT_{who}_{what}": "zoo" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    **{f"GIT_{who}_DATE": "2026-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")},
}


def visited(animal: Animal, results: Path, *, limit_s: float, earlier: bool = False) -> Compared:
    """What both ways say; what was found before is read from the results.

    Args:
        earlier: whether what other code of ours found counts as well, the newest first.
    """
    kept = results / f"here-{state_of(_OURS)}" / kept_name(animal, animal.configuration)
    found = max(results.glob(f"here-*/{kept.name}"), key=_age, default=kept) if earlier else kept
    if not found.is_file():
        with _room() as room:
            here = our_run(animal, repository_of(animal, room), results / "environments", limit_s=limit_s)
        _keep(kept, here)
        found = kept
    here = OurRun.model_validate_json(found.read_text(encoding="utf-8"))
    return compared(animal, own_way(animal, results, limit_s=limit_s), here)


def own_way(animal: Animal, results: Path, *, limit_s: float) -> OwnRun:
    """What the package's own way says; what was found before is read from the results, for our code has no part in it."""
    kept = results / "own" / kept_name(animal, *animal.install, animal.test)
    if not kept.is_file():
        with _room() as room:
            (room / "own").mkdir()
            own = own_run(animal, repository_of(animal, room), room / "own", limit_s=limit_s)
        _keep(kept, own)
    return OwnRun.model_validate_json(kept.read_text(encoding="utf-8"))


def kept_name(animal: Animal, *deciding: str) -> str:
    """A file for a release and what decides about its run."""
    state = hashlib.sha256("\0".join((animal.sha256, *deciding)).encode()).hexdigest()[:12]
    return f"{animal.name}-{state}.json"


def _age(place: Path) -> float:
    return place.stat().st_mtime


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
@click.option(
    "--only", multiple=True, help="A package whose name begins so; may be given again; all of them otherwise."
)
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=RESULTS,
    show_default=True,
    help="Where results are kept; what the same code did before is not done again.",
)
@click.option("--earlier", is_flag=True, help="Count what earlier versions of our code found as well.")
@click.option("--limit", default=900.0, show_default=True, help="Seconds of each step of a package.")
@click.option("--own", is_flag=True, help="Only run the packages' own ways.")
def main(only: tuple[str, ...], results: Path, earlier: bool, limit: float, own: bool) -> None:
    """Print whether each package's tests come out here as in its own way; exit with 1 where too few do.

    Each result is kept as soon as it is there: whoever starts this again goes on where it ended.
    """
    lists = [animals(place.read_text(encoding="utf-8")) for place in (ANIMALS, UNSEEN)]
    looked_at, unseen = ([each for each in some if each.name.startswith(only or "")] for some in lists)
    if own:
        for animal in (*looked_at, *unseen):
            run = own_way(animal, results, limit_s=limit)
            counts = Counter(run.outcomes.values())
            click.echo(f"{animal.name}: {run.problem or dict(sorted(counts.items()))}")
        return
    seen = [_shown(visited(each, results, limit_s=limit, earlier=earlier)) for each in looked_at]
    fresh = [_shown(visited(each, results, limit_s=limit, earlier=earlier)) for each in unseen]
    click.echo(table(seen, fresh))
    if not is_met([*seen, *fresh]):
        raise SystemExit(1)


def _shown(found: Compared) -> Compared:
    told = found.refusal or found.problem or f"{found.agree} agree, {len(found.differ)} differ"
    click.echo(f"{found.animal.name}: {told.strip().splitlines()[-1]}", err=True)
    return found


if __name__ == "__main__":
    main()
