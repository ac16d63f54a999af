"""Brings what a model answers, diffs or search/replace edits, into the one form that is judged: nothing is guessed.

Whole files as a diff: what a change that names complete texts does to the files that are there.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cogworks.codebase.changes import FileChange, normalised
from cogworks.codebase.diffmodel import (
    Diff,
    Edit,
    FileDiff,
    Hunk,
    edits_of,
    hunks_of,
    lines_of,
    mismatches,
)
from cogworks.codebase.diffparsing import parse_diff
from cogworks.vocabulary import Value

_FENCE = re.compile(r"\s*```[a-z]*\s*")
_HUNK = re.compile(r"@@(?: -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@)?(.*)")
_LINE_END = re.compile(r"\r?\n")
_DATE = re.compile(r"\t.+")
"""What other programs than git write behind a name; a name that holds a tab stands in quotation marks."""
_NEW_MODE = "100644"
_HEADS = ("diff --git ", "--- ", "+++ ", "@@", "index ", "new file mode ", "deleted file mode ")


class Replacement(Value):
    """One place of a file that gives way to another text."""

    path: str
    search: str
    """Stands exactly once in the file; empty: the file is new."""
    replace: str


class Normalised(NamedTuple):
    """What became of an answer: a diff that fits the files, or why there is none."""

    diff: Diff | None
    problems: tuple[str, ...]


def normalised_diff(text: str, sources: Mapping[str, str]) -> Normalised:
    """A model's unified diff with its headers recounted and each hunk where its lines stand.

    A hunk that does not fit where it says goes to the single place where all its lines stand exactly; with none, or more
    than one, the answer is refused.

    Args:
        sources: every file the diff may touch, as it is.
    """
    exact = _read_and_placed(_plain_headers(text), sources)
    if exact.diff is not None or not _differ_in_endings(text, sources):
        return exact
    # Only the ends of lines may be another system's; each file keeps its own.
    return _read_and_placed(text.replace("\r\n", "\n"), sources, adapts=True)


def _read_and_placed(text: str, sources: Mapping[str, str], *, adapts: bool = False) -> Normalised:
    parsed = parse_diff(recounted(text))
    if parsed.problems:
        return Normalised(None, tuple(f"line {of_file.line}: {of_file.text}" for of_file in parsed.problems))
    files = [_with_endings(file, sources) if adapts else file for file in parsed.diff.files]
    placed = [_placed(file, sources.get(file.old_path)) for file in files]
    problems = tuple(problem for _, of_file in placed for problem in of_file)
    return Normalised(None if problems else Diff(files=tuple(file for file, _ in placed)), problems)


def _plain_headers(text: str) -> str:
    """A diff whose every line ends as on Windows, without that in its headers."""
    if not _is_crlf(text):
        return text
    return "".join(
        f"{line[:-2]}\n" if line.startswith(_HEADS) and line.endswith("\r\n") else line
        for line in lines_of(text)
    )


def _is_crlf(text: str) -> bool:
    """Whether every line ends with a carriage return before its line feed."""
    return "\r\n" in text and text.count("\n") == text.count("\r\n")


def _differ_in_endings(text: str, sources: Mapping[str, str]) -> bool:
    return _is_crlf(text) or ("\r\n" not in text and any(map(_is_crlf, sources.values())))


def _with_endings(file: FileDiff, sources: Mapping[str, str]) -> FileDiff:
    """A diff of plain lines with the line ends of the file that it is about."""
    if not _is_crlf(sources.get(file.old_path, "")):
        return file
    hunks = [
        hunk.model_copy(
            update={
                "lines": tuple(
                    line._replace(text=f"{line.text[:-1]}\r\n") if line.text.endswith("\n") else line
                    for line in hunk.lines
                )
            }
        )
        for hunk in file.hunks
    ]
    return file.model_copy(update={"hunks": tuple(hunks)})


def normalised_replacements(replacements: Sequence[Replacement], sources: Mapping[str, str]) -> Normalised:
    """The diff of search/replace edits; every `search` is looked for in the file as it was before all of them."""
    by_path: dict[str, list[Replacement]] = {}
    for replacement in replacements:
        by_path.setdefault(replacement.path, []).append(replacement)
    results = [_replaced(path, edits, sources.get(path)) for path, edits in by_path.items()]
    problems = tuple(result for result in results if isinstance(result, str))
    if not results:
        problems = ("there is no edit",)
    files = tuple(result for result in results if isinstance(result, FileDiff))
    return Normalised(None if problems else Diff(files=files), problems)


def between(path: str, before: str, after: str) -> FileDiff:
    """What turns one text of a file into the other."""
    old, new = lines_of(before), lines_of(after)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    edits = [
        Edit(start, old[start:end], new[first:last])
        for tag, start, end, first, last in matcher.get_opcodes()
        if tag != "equal"
    ]
    return FileDiff(old_path=path, new_path=path, hunks=hunks_of(edits, old))


def created(path: str, text: str) -> FileDiff:
    """What makes a new file."""
    hunks = hunks_of([Edit(0, (), lines_of(text))], ()) if text else ()
    return FileDiff(old_path=path, new_path=path, kind="create", new_mode=_NEW_MODE, hunks=hunks)


def recounted(text: str) -> str:
    """The same diff with a fence around it removed, missing `diff --git` lines added and every hunk's lines counted."""
    lines = _unfenced(text.removesuffix("\n").split("\n"))
    result: list[str] = []
    at, has_header = 0, False
    while at < len(lines):
        line = lines[at]
        if line.startswith("diff --git "):
            has_header = True
            result.append(_prefixed_header(line))
        elif _is_pair(lines, at):
            old, new = _prefixed(line, lines[at + 1])
            result += [*([] if has_header else _header(old, new)), old, new]
            at, has_header = at + 1, False
        elif (header := _HUNK.fullmatch(line)) is not None:
            body = list(_body(lines, at + 1))
            result += [_counted(header, body), *body]
            at += len(body)
        elif line:
            result.append(line)
        at += 1
    return "".join(f"{line}\n" for line in result)


def _unfenced(lines: list[str]) -> list[str]:
    """What stands inside a fence that is the whole of the text."""
    shown = [at for at, line in enumerate(lines) if line.strip()]
    if len(shown) > 1 and _FENCE.fullmatch(lines[shown[0]]) and _FENCE.fullmatch(lines[shown[-1]]):
        return lines[shown[0] + 1 : shown[-1]]
    return lines


def _is_pair(lines: Sequence[str], at: int) -> bool:
    following = lines[at + 1 : at + 3]
    return (
        lines[at].startswith("--- ")
        and len(following) == 2
        and following[0].startswith("+++ ")
        and following[1].startswith("@@")
    )


def _prefixed_header(line: str) -> str:
    """`diff --git` with `a/` and `b/` before a name that stands there twice without them."""
    names = line.removeprefix("diff --git ")
    half = len(names) // 2
    if names[:half] != names[half + 1 :] or names.startswith('"'):
        return line
    return f"diff --git a/{names[:half]} b/{names[:half]}"


def _prefixed(old: str, new: str) -> tuple[str, str]:
    """The pair of lines with `a/` and `b/` and without dates, where both name the same file or one of them none."""
    old, new = _DATE.sub("", old), _DATE.sub("", new)
    before, after = old[4:].removesuffix("\t"), new[4:].removesuffix("\t")
    if before == after != "/dev/null" and not before.startswith('"'):
        return f"--- a/{before}", f"+++ b/{after}"
    if before == "/dev/null" and not after.startswith(("b/", '"')):
        return old, f"+++ b/{after}"
    if after == "/dev/null" and not before.startswith(("a/", '"')):
        return f"--- a/{before}", new
    if before.removeprefix("a/") == after:
        return old, f"+++ b/{after}"
    # As git writes it, `a/f` became `a/a/f`.
    if before == after.removeprefix("b/") and not before.startswith("a/"):
        return f"--- a/{before}", new
    return old, new


def _header(old: str, new: str) -> list[str]:
    """`diff --git` and the mode of a file that is new or gone, from the names alone."""
    before, after = old[4:].removesuffix("\t"), new[4:].removesuffix("\t")
    if before == "/dev/null":
        return [f"diff --git a/{after[2:]} {after}", f"new file mode {_NEW_MODE}"]
    if after == "/dev/null":
        return [f"diff --git {before} b/{before[2:]}", f"deleted file mode {_NEW_MODE}"]
    return [f"diff --git {before} {after}"]


def _body(lines: Sequence[str], start: int) -> Iterator[str]:
    """The lines of a hunk, to where the next hunk or file begins; an empty one is a blank line that lost its blank."""
    end = start
    while end < len(lines) and not lines[end].startswith(("@@", "diff --git ")) and not _is_pair(lines, end):
        end += 1
    while end > start and not lines[end - 1]:
        end -= 1
    yield from (line or " " for line in lines[start:end])


def _counted(header: re.Match[str], body: Sequence[str]) -> str:
    old = sum(line[:1] in " -" for line in body)
    new = sum(line[:1] in " +" for line in body)
    starts = (header[1] or "1", header[2] or "1") if old else (header[1] or "0", header[2] or "1")
    # `@@ def f():` names no place; the lines themselves will.
    heading = header[3] if header[1] is not None and header[3].startswith(" ") else ""
    counts = ["" if count == 1 else f",{count}" for count in (old, new)]
    return f"@@ -{starts[0]}{counts[0]} +{starts[1]}{counts[1]} @@{heading}"


def _placed(file: FileDiff, source: str | None) -> tuple[FileDiff, tuple[str, ...]]:
    if file.kind != "modify" or source is None or file.binary is not None or not file.hunks:
        return file, mismatches(file, source)
    there = lines_of(source)
    hunks, problems = list[Hunk](), list[str]()
    for number, hunk in enumerate(file.hunks, 1):
        place = _place(hunk, there)
        if isinstance(place, str):
            problems.append(f"hunk {number} of {file.path!r} {place}")
        else:
            hunks.append(place)
    hunks.sort(key=lambda hunk: hunk.first_old)
    moved = file.model_copy(update={"hunks": tuple(hunks)})
    if problems := [*problems, *(() if problems else mismatches(moved, source))]:
        return file, tuple(problems)
    edits = [edit for hunk in hunks for edit in edits_of(hunk)]
    # Git takes a hunk without lines after the change for the end of the file, so every hunk gets three of them.
    return moved.model_copy(update={"hunks": hunks_of(edits, there)}), ()


def _place(hunk: Hunk, there: Sequence[str]) -> Hunk | str:
    """The hunk where its lines stand, or why it has no such place."""
    old_lines = hunk.old
    if not old_lines:
        return hunk if not there else "has no line that says where it belongs; add lines around the change"
    if hunk.first_old >= 0 and tuple(there[hunk.first_old : hunk.first_old + len(old_lines)]) == old_lines:
        return hunk
    places = [
        at
        for at in range(len(there) - len(old_lines) + 1)
        if tuple(there[at : at + len(old_lines)]) == old_lines
    ]
    if len(places) == 1:
        return hunk.model_copy(update={"old_start": places[0] + 1})
    if not places:
        return f"fits nowhere: the file has no place with exactly these lines, from {old_lines[0]!r} on"
    lines = ", ".join(str(at + 1) for at in places[:5])
    return f"fits {len(places)} places (lines {lines}) but not where it says; add lines around the change"


def _replaced(path: str, edits: Sequence[Replacement], source: str | None) -> FileDiff | str:
    if source is None:
        return _created(path, edits)
    places: list[tuple[int, Replacement]] = []
    for replacement in (_with_ends_of(source, each) for each in edits):
        if not replacement.search:
            return f"{path!r} is there already, and an empty `search` makes a new file; name the text that gives way"
        count = _occurrences(source, replacement.search)
        if count != 1:
            return (
                f"{path!r}: the text to replace stands {count} times in the file; it has to stand there once"
            )
        places.append((source.index(replacement.search), replacement))
    places.sort(key=lambda place: place[0])
    result, done = "", 0
    for at, replacement in places:
        if at < done:
            return f"{path!r}: two edits overlap"
        result += source[done:at] + replacement.replace
        done = at + len(replacement.search)
    after = result + source[done:]
    return between(path, source, after) if after != source else f"{path!r}: the edits change nothing"


def _with_ends_of(source: str, edit: Replacement) -> Replacement:
    """An edit with the ends of lines of its file, where that has one kind throughout and the text to replace is of another or has none."""
    end = "\r\n" if _is_crlf(source) else "\n"
    is_mixed = end == "\n" and "\r\n" in source
    if is_mixed or set(_LINE_END.findall(edit.search)) == {end}:
        return edit
    texts = {"search": _LINE_END.sub(end, edit.search), "replace": _LINE_END.sub(end, edit.replace)}
    return edit.model_copy(update=texts)


def _occurrences(text: str, part: str) -> int:
    """How often it stands there, overlapping ones included; an empty text stands everywhere."""
    if not part:
        return len(text) + 1
    return sum(text.startswith(part, at) for at in range(len(text) - len(part) + 1)) if part in text else 0


def _created(path: str, edits: Sequence[Replacement]) -> FileDiff | str:
    if len(edits) != 1 or edits[0].search:
        return f"{path!r} does not exist; a new file is one edit with an empty `search`"
    return created(path, edits[0].replace)


def diff_of(changes: Sequence[FileChange], sources: Mapping[str, str]) -> Diff:
    """The diff that has the same effect; files that stay as they are, are not in it.

    Args:
        changes: fit the files, see `changes.refusal`.
        sources: the text of every file they modify or delete.
    """
    files = [_file_diff(change, sources) for change in changes]
    return Diff(files=tuple(file for file in files if file is not None))


def _file_diff(change: FileChange, sources: Mapping[str, str]) -> FileDiff | None:
    path = normalised(change.path)
    if change.action == "create":
        return created(path, change.content)
    before = sources[path]
    if change.action == "delete":
        whole = hunks_of([Edit(0, lines_of(before), ())], lines_of(before)) if before else ()
        return FileDiff(old_path=path, new_path=path, kind="delete", hunks=whole)
    return between(path, before, change.content) if change.content != before else None
