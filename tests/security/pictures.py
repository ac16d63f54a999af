"""What there is before and after: every record and ref of a hub, every file beside it; and what changed between two looks."""

import json
import sqlite3
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tests.end_to_end.scene import HOST_ENVIRONMENT
from tests.limits import ENDS_WITHIN_S

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Picture:
    """All that can be seen from outside at one moment."""

    records: Mapping[tuple[str, int], Fields]
    """Kind and id -> what the hub keeps."""
    refs: Mapping[str, Mapping[str, str]]
    """Repository -> ref -> commit."""
    files: Mapping[str, str]
    """Path -> mode and digest, or where a link leads."""

    def of(self, kind: str) -> Mapping[int, Fields]:
        return {number: fields for (each, number), fields in self.records.items() if each == kind}

    def get(self, kind: str, number: int) -> Fields:
        return self.records.get((kind, number), {})


class Change(NamedTuple):
    """A record that is another one now; None: it was not there, or is gone."""

    kind: str
    id: int
    before: Fields | None
    after: Fields | None

    @property
    def fields(self) -> set[str]:
        """What differs of a record that is there in both."""
        before, after = self.before or {}, self.after or {}
        return {name for name in {*before, *after} if before.get(name) != after.get(name)} - {"updated_at"}

    def __str__(self) -> str:
        verb = "made" if self.before is None else "removed" if self.after is None else "changed"
        fields = f": {', '.join(sorted(self.fields))}" if verb == "changed" else ""
        shown = json.dumps(self.after or self.before, ensure_ascii=True)[:200]
        return f"{self.kind} {self.id} was {verb}{fields} {shown}"


class Moved(NamedTuple):
    """A ref that stands elsewhere now; empty: it was not there, or is gone."""

    repository: str
    ref: str
    before: str
    after: str


def take(hub: Path, beside: Path) -> Picture:
    """A picture of a hub, and of what lies below `beside` but in the hub's own folder and the runner's."""
    store = f"file:{hub / 'hub.sqlite3'}?mode=ro"
    with closing(sqlite3.connect(store, uri=True, timeout=ENDS_WITHIN_S)) as records:
        rows = records.execute("SELECT kind, id, json FROM records").fetchall()
    return Picture(
        records={(kind, number): json.loads(text) for kind, number, text in rows},
        refs={name: _refs(folder) for name, folder in repositories(hub).items()},
        files=dict(_files(beside, apart=(hub, hub.parent / "work"))),
    )


def changes(before: Picture, after: Picture) -> Iterator[Change]:
    for kind, number in sorted({*before.records, *after.records}):
        one, other = before.records.get((kind, number)), after.records.get((kind, number))
        change = Change(kind, number, one, other)
        if one is None or other is None or change.fields:
            yield change


def moves(before: Picture, after: Picture) -> Iterator[Moved]:
    for repository in sorted({*before.refs, *after.refs}):
        one, other = before.refs.get(repository, {}), after.refs.get(repository, {})
        for ref in sorted({*one, *other}):
            if one.get(ref) != other.get(ref):
                yield Moved(repository, ref, one.get(ref, ""), other.get(ref, ""))


def repositories(hub: Path) -> Mapping[str, Path]:
    """Full name -> bare repository."""
    return {
        f"{folder.parent.name}/{folder.name.removesuffix('.git')}": folder
        for folder in sorted((hub / "repos").glob("*/*.git"))
    }


def git(folder: Path, *arguments: str, may_fail: bool = False) -> bytes:
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        check=not may_fail,
        capture_output=True,
        env=HOST_ENVIRONMENT,
        timeout=ENDS_WITHIN_S,
    )
    return done.stdout if done.returncode == 0 else b""


def objects(folder: Path) -> bytes:
    """All that a repository stores, unpacked, also what no ref leads to."""
    return git(folder, "cat-file", "--batch-all-objects", "--batch", "--buffer")


def _refs(folder: Path) -> Mapping[str, str]:
    told = git(folder, "for-each-ref", "--format=%(refname) %(objectname)").decode()
    return {line.split(" ")[0]: line.split(" ")[1] for line in told.splitlines()}


def _files(folder: Path, *, apart: Sequence[Path]) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.iterdir()):
        if path in apart:
            continue
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            yield str(path), f"-> {path.readlink()}"
        elif stat.S_ISDIR(mode):
            yield str(path), oct(mode)
            yield from _files(path, apart=apart)
        else:
            yield str(path), f"{oct(mode)} {sha256(path.read_bytes()).hexdigest()}"
