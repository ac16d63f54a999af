"""How git writes commits and trees: parsing, formatting and editing them as values."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

ZERO_OID = "0" * 40
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
TREE_MODE = "040000"


@dataclass(frozen=True)
class Signature:
    """Who, and when (with the zone it was written in)."""

    name: str
    email: str
    date: datetime

    def format(self) -> str:
        seconds = int(self.date.timestamp())
        return f"{self.name} <{self.email}> {seconds} {self.date.strftime('%z')}"


@dataclass(frozen=True)
class Commit:
    oid: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str

    @property
    def headline(self) -> str:
        return self.message.partition("\n")[0]

    @property
    def body(self) -> str:
        return self.message.partition("\n")[2].strip("\n")


@dataclass(frozen=True)
class TreeEntry:
    name: str
    mode: str
    """Six octal digits; `040000` is a tree, `160000` a submodule, `120000` a symbolic link."""
    oid: str

    @property
    def type(self) -> str:
        return {TREE_MODE: "tree", "160000": "commit"}.get(self.mode, "blob")


@dataclass(frozen=True)
class NewFile:
    """A file to be put into a tree."""

    oid: str
    mode: str = "100644"


def oid_of(kind: str, data: bytes) -> str:
    """The name git gives to an object."""
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), len(data)) + data, usedforsecurity=False).hexdigest()


def parse_signature(text: str) -> Signature:
    who, _, when = text.rpartition("> ")
    name, _, email = who.partition(" <")
    seconds, _, zone = when.partition(" ")
    sign = -1 if zone.startswith("-") else 1
    offset = timedelta(hours=int(zone[1:3] or 0), minutes=int(zone[3:5] or 0)) * sign
    try:
        date = datetime.fromtimestamp(int(seconds), timezone(offset))
    except (ValueError, OverflowError):  # git stores dates that Python cannot
        date = datetime.fromtimestamp(0, UTC)
    return Signature(name=name, email=email, date=date)


def parse_commit(oid: str, data: bytes) -> Commit:
    """Read the raw text of a commit object; signatures and unknown headers are skipped."""
    head, _, message = data.decode("utf-8", "replace").partition("\n\n")
    headers: dict[str, list[str]] = {}
    for line in head.split("\n"):
        name, _, value = line.partition(" ")
        headers.setdefault(name, []).append(value)
    return Commit(
        oid=oid,
        tree=headers["tree"][0],
        parents=tuple(headers.get("parent", ())),
        author=parse_signature(headers["author"][0]),
        committer=parse_signature(headers["committer"][0]),
        message=message,
    )


def format_commit(
    *, tree: str, parents: Iterable[str], author: Signature, committer: Signature, message: str
) -> bytes:
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"author {author.format()}", f"committer {committer.format()}"]
    return ("\n".join(lines) + "\n\n" + message.rstrip("\n") + "\n").encode()


def parse_tree(data: bytes) -> tuple[TreeEntry, ...]:
    """The entries of a raw tree object, in git's order."""
    entries = []
    position = 0
    while position < len(data):
        space = data.index(b" ", position)
        end = data.index(b"\0", space)
        entries.append(
            TreeEntry(
                name=data[space + 1 : end].decode("utf-8", "surrogateescape"),
                mode=data[position:space].decode().zfill(6),
                oid=data[end + 1 : end + 21].hex(),
            )
        )
        position = end + 21
    return tuple(entries)


def format_tree(entries: Iterable[TreeEntry]) -> bytes:
    """Git sorts a tree as if its name ended in a slash; other orders are corrupt."""
    rows = sorted(entries, key=lambda e: _name_bytes(e.name) + (b"/" if e.mode == TREE_MODE else b""))
    return b"".join(
        entry.mode.lstrip("0").encode() + b" " + _name_bytes(entry.name) + b"\0" + bytes.fromhex(entry.oid)
        for entry in rows
    )


def _name_bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def edit_tree(
    base: str | None,
    changes: Mapping[str, NewFile | None],
    *,
    read: Callable[[str], tuple[TreeEntry, ...]],
    write: Callable[[tuple[TreeEntry, ...]], str],
) -> str | None:
    """The tree that results from `base` when each path gets its new file, or goes (None).

    Returns None when nothing is left. A directory that a change needs replaces a file of its name, and the
    other way round. Only the trees on the way to a change are read and written.
    """
    entries = {entry.name: entry for entry in (read(base) if base else ())}
    below: dict[str, dict[str, NewFile | None]] = {}
    for path, change in changes.items():
        first, slash, rest = path.partition("/")
        if slash:
            below.setdefault(first, {})[rest] = change
        elif change is None:
            entries.pop(first, None)
        else:
            entries[first] = TreeEntry(name=first, mode=change.mode, oid=change.oid)
    for name, inner in below.items():
        known = entries.get(name)
        old = known.oid if known is not None and known.type == "tree" else None
        if old is None and all(change is None for change in inner.values()):
            continue
        new = edit_tree(old, inner, read=read, write=write)
        if new is None:
            entries.pop(name, None)
        else:
            entries[name] = TreeEntry(name=name, mode=TREE_MODE, oid=new)
    return write(tuple(entries.values())) if entries else None


def is_ref_name(name: str) -> bool:
    """Whether git would accept a full ref name such as `refs/heads/a/b` (the rules of check-ref-format)."""
    parts = name.split("/")
    return (
        len(parts) >= 3
        and parts[0] == "refs"
        and not any(part.startswith(".") or part.endswith(".lock") or not part for part in parts)
        and not any(word in name for word in ("..", "@{", "\\", "//"))
        and not name.endswith(".")
        and not any(ord(char) < 33 or char in "~^:?*[\x7f" for char in name)
    )
