"""What git's diff output says, file by file."""

import re
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -(?P<old>\d+)(?:,\d+)? \+(?P<new>\d+)(?:,\d+)? @@")
_WORDS = {"A": "added", "D": "removed", "M": "modified", "T": "changed", "R": "renamed", "C": "copied"}


@dataclass(frozen=True)
class FileChange:
    """One file of a diff; for a deleted one `oid` and `mode` are those of the old side."""

    path: str
    old_path: str
    status: str
    """REST's word: added, removed, modified, renamed, copied, changed."""
    mode: str
    oid: str
    additions: int
    deletions: int
    is_binary: bool
    patch: str
    """The hunks, from the first `@@`; empty for a binary or a pure rename."""


@dataclass(frozen=True)
class RawChange:
    status: str
    mode: str
    oid: str
    old_path: str
    path: str


def parse_changes(raw: str, numstat: str, patch: str) -> tuple[FileChange, ...]:
    """Join the outputs of `diff --raw -z`, `diff --numstat -z` and `diff -p` of the same two trees."""
    counts = _numstat(numstat)
    patches = _patches(patch)
    changes = []
    for index, change in enumerate(_raw(raw)):
        added, deleted = counts.get(change.path, (None, None))
        changes.append(
            FileChange(
                path=change.path,
                old_path=change.old_path,
                status=_WORDS.get(change.status, "changed"),
                mode=change.mode,
                oid=change.oid,
                additions=added or 0,
                deletions=deleted or 0,
                is_binary=added is None,
                patch=patches[index] if index < len(patches) else "",
            )
        )
    return tuple(changes)


def _raw(text: str) -> list[RawChange]:
    fields = iter(text.split("\0"))
    changes = []
    for head in fields:
        if not head.startswith(":"):
            continue
        old_mode, new_mode, old_oid, new_oid, word = head[1:].split(" ")
        old_path = next(fields)
        path = next(fields) if word[0] in "RC" else old_path
        gone = word[0] == "D"
        changes.append(
            RawChange(
                status=word[0],
                mode=old_mode if gone else new_mode,
                oid=old_oid if gone else new_oid,
                old_path=old_path,
                path=path,
            )
        )
    return changes


def _numstat(text: str) -> dict[str, tuple[int | None, int | None]]:
    """Lines by the new path; (None, None) for a binary file."""
    fields = iter(text.split("\0"))
    counts: dict[str, tuple[int | None, int | None]] = {}
    for head in fields:
        if head.count("\t") < 2:
            continue
        added, deleted, path = head.split("\t", 2)
        if not path:  # a rename: old and new path follow as fields of their own
            next(fields)
            path = next(fields)
        counts[path] = (None, None) if added == "-" else (int(added), int(deleted))
    return counts


def _patches(text: str) -> list[str]:
    """The hunks per file, in git's order; only a header line starts with `diff --git` in column 1."""
    files: list[list[str]] = []
    in_hunks = False
    for line in text.split("\n"):
        if line.startswith("diff --git "):
            files.append([])
            in_hunks = False
            continue
        in_hunks = in_hunks or line.startswith("@@")
        if in_hunks and files:
            files[-1].append(line)
    return ["\n".join(lines).rstrip("\n") for lines in files]


def hunk_until(patch: str, line: int, side: str) -> str | None:
    """The hunk that shows a line, from its `@@` to that line; None when the line is not in the diff.

    `line` counts from 1 in the new file for side RIGHT, in the old one for LEFT.
    """
    shown: list[str] = []
    old = new = 0
    for text in patch.split("\n"):
        header = _HUNK.match(text)
        if header is not None:
            old, new = int(header["old"]), int(header["new"])
            shown = [text]
            continue
        shown.append(text)
        sign = text[:1]
        here = old if side == "LEFT" else new
        if here == line and sign in ((" ", "-") if side == "LEFT" else (" ", "+")):
            return "\n".join(shown)
        old += sign in (" ", "-")
        new += sign in (" ", "+")
    return None
