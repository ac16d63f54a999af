"""`scripts/bench clone`: what a step fetches of a repository with a long history, whole and without the contents of old files."""

import os
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from cogworks.codebase.git import Git, Identity
from cogworks.codebase.remotes import Remote
from cogworks.codebase.worktree import Patience, WorkingCopies
from cogworks.vocabulary import BranchName, RunId

_BOT = Identity("bench", "bench@localhost")
_MAIN = BranchName("main")
_MIB = 1024**2
_LIMIT_S = 1800.0
_FILES_PER_FOLDER = 200
_LINE_BYTES = 60


class Opened(NamedTuple):
    """What opening a copy took."""

    cold_s: float
    warm_s: float
    fetches: int
    kept_bytes: int


def made_repository(folder: Path, *, files: int, versions: int, file_bytes: int) -> str:
    """The address of a repository whose every commit rewrites a part of its files with text that does not compress."""
    git = Git(environment=os.environ, home=folder, time_limit_s=_LIMIT_S)
    bare = folder / "remote.git"
    git.run("init", "--quiet", "--bare", str(bare), cwd=folder)
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git.run("config", key, "true", cwd=bare)
    git.run("fast-import", "--quiet", cwd=bare, stdin=_stream(files, versions, file_bytes))
    return f"file://{bare}"


def _stream(files: int, versions: int, file_bytes: int) -> str:
    """For `git fast-import`; the same for the same numbers."""
    chance = random.Random(7)  # noqa: S311 - nothing secret is made of it
    parts: list[str] = []
    for version in range(versions):
        parts.append(
            f"commit refs/heads/{_MAIN}\ncommitter bench <bench@localhost> {1_700_000_000 + version} +0000\ndata 1\nv\n"
        )
        touched = range(files) if version == 0 else chance.sample(range(files), max(1, files // 50))
        for number in touched:
            text = "\n".join(
                f"{chance.getrandbits(4 * _LINE_BYTES):x}" for _ in range(max(1, file_bytes // _LINE_BYTES))
            )
            parts.append(
                f"M 100644 inline d{number // _FILES_PER_FOLDER}/f{number}.txt\ndata {len(text)}\n{text}\n"
            )
    return "".join(parts)


def opened(url: str, cache: Path, *, is_blobless: bool) -> Opened:
    """Open a copy twice, as two steps do."""
    fetches: list[str] = []
    times: list[float] = []
    for _ in range(2):
        started_s = time.monotonic()
        with WorkingCopies(
            cache,
            identity=_BOT,
            environment=os.environ,
            on_network=fetches.append,
            is_blobless=is_blobless,
            patience=Patience(command_s=_LIMIT_S),
        ) as copies:
            copies.open(
                remote=Remote(url, None),
                run=RunId("bench"),
                name="item",
                branch=BranchName("work"),
                base=_MAIN,
            )
        times.append(time.monotonic() - started_s)
    kept = sum(file.stat().st_size for file in (cache / "repositories").rglob("*") if file.is_file())
    return Opened(times[0], times[1], len(fetches), kept)


@click.command()
@click.option("--files", default=5_000, show_default=True)
@click.option("--versions", default=200, show_default=True, help="Commits; each rewrites one file in fifty.")
@click.option("--file-bytes", default=2_000, show_default=True)
def main(files: int, versions: int, file_bytes: int) -> None:
    """Print what the first and the second opening take."""
    with TemporaryDirectory(prefix="cogworks-bench-") as name:
        folder = Path(name)
        url = made_repository(folder, files=files, versions=versions, file_bytes=file_bytes)
        click.echo("| history | first opening | second | fetches of both | kept |\n|---|---|---|---|---|")
        for kind, is_blobless in (("whole", False), ("without contents", True)):
            found = opened(url, folder / kind.replace(" ", "-"), is_blobless=is_blobless)
            click.echo(
                f"| {kind} | {found.cold_s:.1f} s | {found.warm_s:.1f} s | {found.fetches} | {found.kept_bytes / _MIB:.0f} MiB |"
            )


if __name__ == "__main__":
    main()
