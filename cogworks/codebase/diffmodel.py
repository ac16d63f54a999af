"""Unified diffs of git as values, and the text of them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from cogworks.vocabulary import Value

Sign = Literal[" ", "-", "+"]
Kind = Literal["modify", "create", "delete", "rename", "copy"]

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
NO_NEWLINE = "\\ No newline at end of file"
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


class Line(NamedTuple):
    """One line of a hunk."""

    sign: Sign
    text: str
    """With its line feed, which only the last line of a file may lack; a carriage return is part of it."""


class Hunk(Value):
    """One stretch of changes with the lines around it."""

    old_start: int
    """First line of the old side, from 1; where it has none, the line before it (0: the beginning of the file)."""
    new_start: int
    lines: tuple[Line, ...]
    heading: str = ""
    """What stands after the second `@@`, its blank included."""

    @property
    def old(self) -> tuple[str, ...]:
        """The lines that have to be there."""
        return tuple(line.text for line in self.lines if line.sign != "+")

    @property
    def new(self) -> tuple[str, ...]:
        return tuple(line.text for line in self.lines if line.sign != "-")

    @property
    def first_old(self) -> int:
        """How many lines of the old file stand before the hunk."""
        return self.old_start - 1 if self.old else self.old_start


class FileDiff(Value):
    """What a diff does to one file."""

    old_path: str
    new_path: str
    """The same as `old_path` unless the file is renamed or copied, also for a file that is created or deleted."""
    kind: Kind = "modify"
    old_mode: str | None = None
    """Six octal digits; given for a deletion and a change of mode."""
    new_mode: str | None = None
    """Given for a creation and a change of mode."""
    similarity: int | None = None
    """Per cent, of a rename or a copy."""
    index: str | None = None
    """The object names as written, with the mode where it does not change: `1a2b3c..4d5e6f 100644`."""
    binary: tuple[str, ...] | None = None
    """The lines that stand in place of hunks, as written; None for text."""
    hunks: tuple[Hunk, ...] = ()

    @property
    def path(self) -> str:
        """Where the file is afterwards, or was."""
        return self.new_path

    @property
    def modes(self) -> tuple[str, ...]:
        """Every mode it names."""
        kept = self.index.rpartition(" ")[2] if self.index and " " in self.index else None
        return tuple(mode for mode in (self.old_mode, self.new_mode, kept) if mode is not None)

    @property
    def added(self) -> int:
        return sum(line.sign == "+" for hunk in self.hunks for line in hunk.lines)

    @property
    def removed(self) -> int:
        return sum(line.sign == "-" for hunk in self.hunks for line in hunk.lines)

    @property
    def added_lines(self) -> frozenset[int]:
        """Numbers of the lines that it adds or changes, in the new file, from 1."""
        return frozenset(
            number
            for hunk in self.hunks
            for number, line in enumerate((each for each in hunk.lines if each.sign != "-"), hunk.new_start)
            if line.sign == "+"
        )


class Diff(Value):
    """A whole diff, in its own order."""

    files: tuple[FileDiff, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path it touches, the old names of renamed files included, each once."""
        return tuple(dict.fromkeys(path for file in self.files for path in (file.old_path, file.new_path)))


class Edit(NamedTuple):
    """Lines of a file that give way to others."""

    start: int
    """How many lines stand before it."""
    removed: tuple[str, ...]
    added: tuple[str, ...]


def render(diff: Diff) -> str:
    """The text git would write for it."""
    return "".join(line for file in diff.files for line in _file_lines(file))


def numbered(diff: str) -> str:
    """The text of a diff, before each line of a hunk its number in the new file; what is taken away has none."""
    rows = []
    number = old = new = 0
    for line in lines_of(diff):
        shown = line
        if old or new:
            is_new = line[:1] in (" ", "+")
            shown = f"{number:>4} {line}" if is_new else f"     {line}"
            number, old, new = number + is_new, old - (line[:1] in (" ", "-")), new - is_new
        elif head := _HUNK.match(line):
            old, number, new = int(head[1] or 1), int(head[2]), int(head[3] or 1)
        rows.append(shown)
    return "".join(rows)


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text, each with its line feed; nothing but a line feed ends a line."""
    parts = text.split("\n")
    whole = [f"{part}\n" for part in parts[:-1]]
    return tuple([*whole, parts[-1]] if parts[-1] else whole)


def mismatches(file: FileDiff, source: str | None) -> tuple[str, ...]:
    """Where the file as it is differs from what the diff says of it, in words; none: the diff fits exactly.

    Args:
        source: the file's text; None: there is no such file.
    """
    if file.kind == "create":
        return () if source is None else (f"{file.path!r} exists already",)
    if source is None:
        return (f"{file.old_path!r} does not exist",)
    there, problems, end = lines_of(source), list[str](), 0
    for number, hunk in enumerate(file.hunks, 1):
        first = hunk.first_old
        if first < end:
            problems.append(f"hunk {number} of {file.path!r} overlaps or precedes the one before it")
        elif there[first : first + len(hunk.old)] != hunk.old or first > len(there):
            problems.append(_differing(file.path, number, hunk, there))
        elif hunk.new and not hunk.new[-1].endswith("\n") and first + len(hunk.old) != len(there):
            problems.append(
                f"hunk {number} of {file.path!r} ends a line without line feed before the file ends"
            )
        end = max(end, first + len(hunk.old))
    if file.kind == "delete" and not problems and sum(len(hunk.old) for hunk in file.hunks) != len(there):
        problems.append(
            f"{file.path!r} is deleted, but the diff does not remove all of its {len(there)} lines"
        )
    return tuple(problems)


def post_image(file: FileDiff, source: str | None) -> str | None:
    """The file's text afterwards, None when it is deleted; `mismatches` has to be empty."""
    if file.kind == "delete":
        return None
    there, done, result = lines_of(source or ""), 0, list[str]()
    for hunk in file.hunks:
        result += [*there[done : hunk.first_old], *hunk.new]
        done = hunk.first_old + len(hunk.old)
    return "".join([*result, *there[done:]])


def undone(diff: Diff, text: Callable[[str], str | None]) -> dict[str, str | None]:
    """Every file of a diff as it was before; None: it was not there.

    Args:
        text: a file as it is with the diff.
    """
    texts: dict[str, str | None] = {file.path: None for file in diff.files}
    return texts | {
        file.old_path: post_image(_turned(file), text(file.path))
        for file in diff.files
        if file.kind != "create"
    }


def _turned(file: FileDiff) -> FileDiff:
    """What takes a change of a file back."""
    signs: dict[Sign, Sign] = {"-": "+", "+": "-", " ": " "}
    hunks = tuple(
        hunk.model_copy(
            update={
                "old_start": hunk.new_start,
                "new_start": hunk.old_start,
                "lines": tuple(Line(signs[line.sign], line.text) for line in hunk.lines),
            }
        )
        for hunk in file.hunks
    )
    return file.model_copy(update={"kind": "modify", "hunks": hunks})


def edits_of(hunk: Hunk) -> Iterator[Edit]:
    """The changes of one hunk without the lines around them, in their order."""
    at, start = hunk.first_old, hunk.first_old
    removed, added = list[str](), list[str]()
    for line in (*hunk.lines, Line(" ", "")):
        if line.sign == "-":
            removed.append(line.text)
        elif line.sign == "+":
            added.append(line.text)
        elif removed or added:
            yield Edit(start, tuple(removed), tuple(added))
            removed, added = [], []
        at += line.sign != "+"
        if line.sign == " ":
            start = at
    # The line that ends the loop is no part of the hunk; it only closes the last change.


def hunks_of(edits: Sequence[Edit], there: Sequence[str], *, context: int = 3) -> tuple[Hunk, ...]:
    """The hunks git would write for these edits of a file, ascending and apart from each other."""
    groups: list[list[Edit]] = []
    for edit in edits:
        last = groups[-1][-1] if groups else None
        if last is not None and edit.start - (last.start + len(last.removed)) <= 2 * context:
            groups[-1].append(edit)
        else:
            groups.append([edit])
    hunks, shift = list[Hunk](), 0
    for group in groups:
        hunks.append(_hunk(group, there, context, shift))
        shift += sum(len(edit.added) - len(edit.removed) for edit in group)
    return tuple(hunks)


def _hunk(edits: Sequence[Edit], there: Sequence[str], context: int, shift: int) -> Hunk:
    first = at = max(edits[0].start - context, 0)
    lines: list[Line] = []
    for edit in edits:
        lines += [Line(" ", text) for text in there[at : edit.start]]
        lines += [Line("-", text) for text in edit.removed]
        lines += [Line("+", text) for text in edit.added]
        at = edit.start + len(edit.removed)
    lines += [Line(" ", text) for text in there[at : at + context]]
    has_old = any(line.sign != "+" for line in lines)
    has_new = any(line.sign != "-" for line in lines)
    return Hunk(old_start=first + has_old, new_start=first + shift + has_new, lines=tuple(lines))


def _differing(path: str, number: int, hunk: Hunk, there: Sequence[str]) -> str:
    at = hunk.first_old
    for offset, expected in enumerate(hunk.old):
        place = at + offset
        if place >= len(there):
            return f"hunk {number} of {path!r} reaches line {place + 1}, but the file has {len(there)} lines"
        if there[place] != expected:
            return (
                f"hunk {number} of {path!r} expects {expected!r} in line {place + 1}, found {there[place]!r}"
            )
    return f"hunk {number} of {path!r} starts after line {at}, but the file has {len(there)} lines"


def _file_lines(file: FileDiff) -> Iterator[str]:
    old, new = _quoted(f"a/{file.old_path}"), _quoted(f"b/{file.new_path}")
    yield f"diff --git {old} {new}\n"
    yield from _mode_lines(file)
    if file.kind in ("rename", "copy"):
        yield f"similarity index {file.similarity or 0}%\n"
        yield f"{file.kind} from {_quoted(file.old_path)}\n{file.kind} to {_quoted(file.new_path)}\n"
    if file.index is not None:
        yield f"index {file.index}\n"
    if file.binary is not None:
        yield from (f"{line}\n" for line in file.binary)
    if file.hunks:
        yield f"--- {'/dev/null' if file.kind == 'create' else _ended(old)}\n"
        yield f"+++ {'/dev/null' if file.kind == 'delete' else _ended(new)}\n"
    for hunk in file.hunks:
        yield from _hunk_lines(hunk)


def _mode_lines(file: FileDiff) -> Iterator[str]:
    if file.kind == "create":
        yield f"new file mode {file.new_mode or '100644'}\n"
    elif file.kind == "delete":
        yield f"deleted file mode {file.old_mode or '100644'}\n"
    elif file.old_mode is not None or file.new_mode is not None:
        yield f"old mode {file.old_mode}\nnew mode {file.new_mode}\n"


def _hunk_lines(hunk: Hunk) -> Iterator[str]:
    yield f"@@ -{_range(hunk.old_start, hunk.old)} +{_range(hunk.new_start, hunk.new)} @@{hunk.heading}\n"
    for line in hunk.lines:
        yield f"{line.sign}{line.text}"
        if not line.text.endswith("\n"):
            yield f"\n{NO_NEWLINE}\n"


def _range(start: int, lines: Sequence[str]) -> str:
    return str(start) if len(lines) == 1 else f"{start},{len(lines)}"


def _ended(name: str) -> str:
    # Git marks the end of a name with a blank in it, so that a time stamp could be separated from it.
    return f"{name}\t" if " " in name else name


def _quoted(name: str) -> str:
    if not any(ord(char) < 32 or char in '"\\\x7f' for char in name):
        return name
    return f'"{"".join(_escaped(name))}"'


def _escaped(name: str) -> Iterable[str]:
    for char in name:
        code = ord(char)
        if code in _ESCAPES:
            yield f"\\{_ESCAPES[code]}"
        else:
            yield f"\\{code:03o}" if code < 32 or code == 127 else char
