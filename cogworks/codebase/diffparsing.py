"""Reads unified diffs as git writes them; whatever does not fit is a problem with its line."""

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from cogworks.codebase.diffmodel import NO_NEWLINE, Diff, FileDiff, Hunk, Line, Sign

HUNK_HEADER = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@( .*)?")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPED = re.compile(r"\\([0-3][0-7]{2}|.)", re.DOTALL)
_LETTERS = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_MODE = r"([0-7]{6})"
_EXTENDED = (
    (re.compile(rf"old mode {_MODE}"), "old_mode", "modify"),
    (re.compile(rf"new mode {_MODE}"), "new_mode", "modify"),
    (re.compile(rf"new file mode {_MODE}"), "new_mode", "create"),
    (re.compile(rf"deleted file mode {_MODE}"), "old_mode", "delete"),
    (re.compile(r"similarity index (\d{1,3})%"), "similarity", ""),
    (re.compile(r"rename from (.+)"), "old_path", "rename"),
    (re.compile(r"rename to (.+)"), "new_path", "rename"),
    (re.compile(r"copy from (.+)"), "old_path", "copy"),
    (re.compile(r"copy to (.+)"), "new_path", "copy"),
    (re.compile(r"index ([0-9a-f]{4,64}\.\.[0-9a-f]{4,64}(?: [0-7]{6})?)"), "index", ""),
)


class DiffProblem(NamedTuple):
    """What is wrong with the text of a diff."""

    code: Literal["shape", "path"]
    line: int
    """From 1."""
    text: str


class Parsed(NamedTuple):
    """A diff as far as it could be read; with problems it may lack files."""

    diff: Diff
    problems: tuple[DiffProblem, ...]


def parse_diff(text: str) -> Parsed:
    """Read everything `git diff` writes for two trees; all problems at once, and never an exception."""
    reader = _Reader(text)
    files: list[FileDiff] = []
    while reader.line is not None:
        if reader.line.startswith("diff --git "):
            file = _file(reader)
            if file is not None:
                files.append(file)
        else:
            reader.problem("shape", f"expected 'diff --git', found {reader.line[:80]!r}")
            reader.skip_to_file()
    if not files and not reader.problems:
        reader.problem("shape", "there is no file in the diff")
    return Parsed(Diff(files=tuple(files)), tuple(reader.problems))


def unquoted(name: str) -> str | None:
    """A name as it is, None when its quotes do not close; git quotes byte by byte."""
    if not name.startswith('"'):
        return name
    match = _QUOTED.fullmatch(name)
    if match is None:
        return None
    raw, done = bytearray(), 0
    for escape in _ESCAPED.finditer(match[1]):
        raw += match[1][done : escape.start()].encode(errors="surrogateescape")
        letter = escape[1]
        code = int(letter, 8) if len(letter) == 3 else _LETTERS.get(letter)
        if code is None:
            return None
        raw.append(code)
        done = escape.end()
    raw += match[1][done:].encode(errors="surrogateescape")
    return raw.decode(errors="surrogateescape")


class _Reader:
    """A place in the text, and the problems met so far."""

    def __init__(self, text: str) -> None:
        # Only a line feed ends a line: what else Unicode counts as a line's end may be inside one.
        self._lines = text.removesuffix("\n").split("\n") if text else []
        self._at = 0
        self.problems: list[DiffProblem] = []

    @property
    def line(self) -> str | None:
        return self._lines[self._at] if self._at < len(self._lines) else None

    def next(self) -> None:
        self._at += 1

    def skip_to_file(self) -> None:
        while self.line is not None and not self.line.startswith("diff --git "):
            self.next()

    def problem(self, code: Literal["shape", "path"], text: str) -> None:
        self.problems.append(DiffProblem(code, self._at + 1, text))


def _file(reader: _Reader) -> FileDiff | None:
    """One file from its `diff --git` line on; None when its names are not clear."""
    header = (reader.line or "").removeprefix("diff --git ")
    reader.next()
    header_fields, names = _extended(reader), _names(header)
    if names is None and {"old_path", "new_path"} <= header_fields.keys():
        names = _split(header, header_fields["old_path"], header_fields["new_path"])
    if names is None:
        reader.problem(
            "path", f"the names in 'diff --git {header[:80]}' cannot be told apart or do not agree"
        )
        reader.skip_to_file()
        return None
    values = {"old_path": names[0], "new_path": names[1]} | header_fields
    if (values["old_path"], values["new_path"]) != names:
        reader.problem("path", f"'diff --git' names {names!r}, the header below it other files")
    values["binary"] = _binary(reader)
    _pair(reader, values)
    values["hunks"] = _hunks(reader)
    file = FileDiff(**values)
    _check_complete(reader, file)
    return file


def _extended(reader: _Reader) -> dict[str, Any]:
    """The header between `diff --git` and the first hunk, as fields of the file."""
    fields: dict[str, Any] = {}
    while reader.line is not None:
        fits = next(
            (
                (match, field, kind)
                for form, field, kind in _EXTENDED
                if (match := form.fullmatch(reader.line))
            ),
            None,
        )
        if fits is None:
            return fields
        match, field, kind = fits
        value: str | int | None = match[1]
        if field == "similarity":
            value = int(match[1])
        elif field.endswith("_path"):
            value = unquoted(match[1])
        if value is None or field in fields or (kind and fields.get("kind", kind) != kind):
            reader.problem("shape", f"{reader.line!r} contradicts the lines above it")
        else:
            fields[field] = value
            if kind:
                fields["kind"] = kind
        reader.next()
    return fields


def _names(header: str) -> tuple[str, str] | None:
    """Both names of a file that keeps its name; None when they differ or cannot be separated."""
    if header.startswith('"'):
        quoted = _QUOTED.match(header)
        parts = (quoted[0], header[quoted.end() + 1 :]) if quoted else (header, "")
    else:
        half = len(header) // 2
        parts = (header[:half], header[half + 1 :])
    old, new = (unquoted(part) for part in parts)
    if old is None or new is None or not (old.startswith("a/") and new.startswith("b/")):
        return None
    return (old[2:], new[2:]) if old[2:] == new[2:] else None


def _split(header: str, old: str, new: str) -> tuple[str, str] | None:
    """The names of a renamed file, when `diff --git` says the same as the lines below it."""
    if header == f"a/{old} b/{new}":
        return old, new
    first = _QUOTED.match(header)
    cuts = [first.end()] if first else [index for index, char in enumerate(header) if char == " "]
    pairs = ((unquoted(header[:cut]), unquoted(header[cut + 1 :])) for cut in cuts)
    return (old, new) if (f"a/{old}", f"b/{new}") in pairs else None


def _binary(reader: _Reader) -> tuple[str, ...] | None:
    line = reader.line or ""
    if line.startswith("Binary files ") and line.endswith(" differ"):
        reader.next()
        return (line,)
    if line != "GIT binary patch":
        return None
    lines: list[str] = []
    while reader.line is not None and not reader.line.startswith("diff --git "):
        lines.append(reader.line)
        reader.next()
    return tuple(lines)


def _pair(reader: _Reader, values: dict[str, Any]) -> None:
    """The `---` and `+++` lines, which have to name the same files as `diff --git`."""
    start = reader.line or ""
    if not start.startswith("--- "):
        if start.startswith("@@ "):
            reader.problem("shape", "the lines '--- a/...' and '+++ b/...' are missing before the hunk")
        return
    kind = values.get("kind", "modify")
    expected = (
        ("--- ", "/dev/null" if kind == "create" else f"a/{values['old_path']}"),
        ("+++ ", "/dev/null" if kind == "delete" else f"b/{values['new_path']}"),
    )
    for prefix, name in expected:
        line = reader.line or ""
        if not line.startswith(prefix):
            reader.problem("shape", f"expected a line that starts with {prefix!r}")
            return
        if unquoted(line.removeprefix(prefix).removesuffix("\t")) != name:
            reader.problem("path", f"expected {prefix}{name}, found {line[:120]!r}")
        reader.next()
    if not (reader.line or "").startswith("@@ "):
        reader.problem("shape", "there is no hunk after '+++'")


def _hunks(reader: _Reader) -> tuple[Hunk, ...]:
    hunks: list[Hunk] = []
    while reader.line is not None and not reader.line.startswith("diff --git "):
        header = HUNK_HEADER.fullmatch(reader.line)
        if header is None:
            reader.problem("shape", f"expected a hunk or the next file, found {reader.line[:80]!r}")
            reader.skip_to_file()
            break
        reader.next()
        hunks.append(_hunk(reader, header))
    return tuple(hunks)


def _hunk(reader: _Reader, header: re.Match[str]) -> Hunk:
    left = {"old": int(header[2] or 1), "new": int(header[4] or 1)}
    lines: list[Line] = []
    while (left["old"] > 0 or left["new"] > 0) and reader.line is not None:
        sign = _sign(reader.line)
        if sign is None:
            break
        lines.append(Line(sign, f"{reader.line[1:]}\n"))
        left["old"] -= sign != "+"
        left["new"] -= sign != "-"
        reader.next()
        _ended_without_newline(reader, lines)
    if left != {"old": 0, "new": 0}:
        reader.problem("shape", "the hunk's header and the number of its lines do not agree")
    if not any(line.sign != " " for line in lines):
        reader.problem("shape", "the hunk changes nothing")
    if any(not line.text.endswith("\n") for line in _not_last(lines)):
        reader.problem("shape", f"{NO_NEWLINE!r} stands before the end of a file")
    return Hunk(
        old_start=int(header[1]), new_start=int(header[3]), lines=tuple(lines), heading=header[5] or ""
    )


def _sign(line: str) -> Sign | None:
    match line[:1]:
        case " " | "-" | "+" as sign:
            return sign
        case _:
            return None


def _ended_without_newline(reader: _Reader, lines: list[Line]) -> None:
    # Git says it in the user's language elsewhere; the backslash is what counts.
    if reader.line is not None and reader.line.startswith("\\ "):
        lines[-1] = Line(lines[-1].sign, lines[-1].text.removesuffix("\n"))
        reader.next()


def _not_last(lines: Sequence[Line]) -> list[Line]:
    """The lines that neither side ends with."""
    last = [max((at for at, line in enumerate(lines) if line.sign != other), default=-1) for other in "+-"]
    return [line for at, line in enumerate(lines) if at not in _ends(lines, last)]


def _ends(lines: Sequence[Line], last: Sequence[int]) -> frozenset[int]:
    """A line both sides share ends the file only when it ends both of them."""
    return frozenset(at for at in last if at >= 0 and (lines[at].sign != " " or last[0] == last[1]))


def _check_complete(reader: _Reader, file: FileDiff) -> None:
    says_nothing = file.kind == "modify" and not (file.hunks or file.binary or file.new_mode)
    if says_nothing:
        reader.problem("shape", f"the diff of {file.path!r} changes nothing")
    if file.binary is not None and file.hunks:
        reader.problem("shape", f"{file.path!r} is both binary and text")
    if (file.old_mode is None) != (file.new_mode is None) and file.kind in ("modify", "rename", "copy"):
        reader.problem("shape", f"{file.path!r} has one mode; a change of mode names both")
