"""What each look gives: text made from one tree, the same on every machine. Nothing here raises for what a model wrote."""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice

from cogworks.codebase.treefacts import Hit, PastCommit
from cogworks.sight.cards import Outlined
from cogworks.sight.kinds import FILLING
from cogworks.sight.looks.lines import MAX_LINES, numbered
from cogworks.sight.looks.room import Room, definitions_in, last_of, plain, rank
from cogworks.sight.looks.schema import Look, fitting
from cogworks.sight.looks.tests_of import tests_of
from cogworks.sight.stretches import shortened

_MAX_LINES_OF_MANY = 120
"""Of each of several definitions of one name."""
MAX_HITS = 40
MAX_HITS_OF_FEW = 120
"""Where they are all in a few files, somebody wants to see every one of them."""
_FEW_FILES = 2
_MAX_HITS_OF_A_FILE = 6
_MAX_LISTED = 150
_MAX_DEFINITIONS = 4
_MAX_ALSO = 20
_MAX_OUTLINED = 200
_MAX_COMPARED = 2_000
_MAX_COMMITS = 15
_MAX_COMMIT_FILES = 6
_MAX_PATCH_CHARS = 12_000
_COMMIT = re.compile(r"[0-9a-f]{7,40}")


def shown(look: Look, room: Room) -> str:
    """What a look that runs nothing gives."""
    answers: Mapping[str, Callable[[Look, Room], str]] = {
        "read": _read,
        "search": _search,
        "outline": _outline,
        "definition": _definition,
        "references": _references,
        "tests_of": tests_of,
        "list": _list,
        "history": _history,
    }
    return answers[look.look](look, room)


def _read(look: Look, room: Room) -> str:
    path, _, name = look.target.partition("::")
    path = plain(path)
    if (problem := _unreadable(path, room)) is not None:
        return problem
    lines = room.index.text(path).splitlines()
    first, last = look.first_line or 1, look.last_line or len(lines)
    if name:
        alike = [(path, each) for each in definitions_in(path, room) if each.name == last_of(name)]
        if not alike:
            return f"{path} defines no {name!r}. {_near(name, [each.name for each in definitions_in(path, room)])}"
        (_, place), *others = _qualified(alike, name, room)
        also = f"\n(also defined at line {', '.join(str(each.line) for _, each in others)})" if others else ""
        return numbered(path, lines, place.first, place.last) + also
    return numbered(path, lines, first, last)


def _search(look: Look, room: Room) -> str:
    if not look.text.strip():
        return "`search` needs a `text` to look for."
    hits = room.past.grep(look.text, is_regex=look.is_regex)
    if isinstance(hits, str):
        return hits
    wanted = fitting(room.paths, look.glob)
    shown = [hit for hit in hits if hit.path in wanted]
    where = f" in files that match {look.glob!r}" if look.glob else ""
    if not wanted:
        return f"No file matches {look.glob!r}, so nothing was searched."
    if not shown:
        whole = " It was looked for as one text." if " " in look.text.strip() and not look.is_regex else ""
        return f"`{look.text}` is nowhere{where}.{whole}"
    return f"`{look.text}`: {len(shown)} line(s){where}\n{_listed(shown, room, look.text)}"


def _listed(hits: Sequence[Hit], room: Room, text: str) -> str:
    """The best hits, a few of each file, and how many more there are where."""
    per_file = Counter(hit.path for hit in hits)
    ranks = {path: rank(path, room) for path in per_file}
    defined = {
        (path, each.line)
        for path in sorted(per_file, key=lambda path: (ranks[path], path))[:30]
        for each in definitions_in(path, room)
        if each.name in text
    }
    order = sorted(
        hits, key=lambda hit: ((hit.path, hit.line) not in defined, ranks[hit.path], hit.path, hit.line)
    )
    # A few of each file first, then more of the same ones; what nobody writes by hand comes last, however often it has the text.
    seen: Counter[str] = Counter()
    turns: dict[int, list[Hit]] = {0: [], 1: [], 2: []}
    for hit in order:
        seen[hit.path] += 1
        is_by_hand = room.index.kind(hit.path) in FILLING
        turns[(seen[hit.path] > _MAX_HITS_OF_A_FILE) if is_by_hand else 2].append(hit)
    most = MAX_HITS if len(per_file) > _FEW_FILES else MAX_HITS_OF_FEW
    chosen = [hit for turn in turns.values() for hit in turn][:most]
    taken = Counter(hit.path for hit in chosen)
    place = {hit: at for at, hit in enumerate(order)}
    chosen.sort(key=place.__getitem__)
    before = {hit: f"{hit.before} characters … " if hit.before else "" for hit in chosen}
    lines = [f"{hit.path}:{hit.line}: {before[hit]}{shortened(hit.text).rstrip()}" for hit in chosen]
    more = {path: count - taken[path] for path, count in per_file.items() if count > taken[path]}
    if more:
        top = sorted(more.items(), key=lambda item: (ranks[item[0]], -item[1], item[0]))[:12]
        others = f" and {len(more) - len(top)} more files" if len(more) > len(top) else ""
        lines.append("(not listed: " + ", ".join(f"{path} {count}" for path, count in top) + others + ")")
    return "\n".join(lines)


def _outline(look: Look, room: Room) -> str:
    path = plain(look.target)
    if (problem := _unreadable(path, room)) is not None:
        return problem
    definitions = definitions_in(path, room)
    if not definitions:
        return f"{path} has no definitions that could be read; `read` shows it."
    lines = [
        f"{each.line:>5}-{each.last}: {'  ' * _depth(definitions, each)}{each.signature or each.name}"
        + (f"  # {each.documentation}" if each.documentation else "")
        for each in definitions[:_MAX_OUTLINED]
    ]
    more = len(definitions) - _MAX_OUTLINED
    return f"{path}:\n" + "\n".join([*lines, f"… {more} more"] if more > 0 else lines)


def _definition(look: Look, room: Room) -> str:
    name = last_of(look.target)
    if not name:
        return "`definition` needs the name of a function, class, method or constant as `target`."
    places = (
        (path, each)
        for path in sorted(room.index.paths_defining(name), key=lambda path: (rank(path, room), path))
        if room.sees(path)
        for each in definitions_in(path, room)
        if each.name == name
    )
    # A common name may be defined in thousands of files, and no more than these are shown.
    definitions = _qualified([*islice(places, _MAX_DEFINITIONS + _MAX_ALSO)], look.target, room)
    if not definitions:
        return f"Nothing named {name!r} is defined in a language that can be read here; `search` finds every text."
    most = MAX_LINES if len(definitions) == 1 else _MAX_LINES_OF_MANY
    parts = [
        numbered(path, room.index.text(path).splitlines(), each.first, min(each.last, each.first + most))
        for path, each in definitions[:_MAX_DEFINITIONS]
    ]
    rest = [f"{path}:{each.line}" for path, each in definitions[_MAX_DEFINITIONS:]]
    return "\n\n".join([*parts, f"Also defined at {', '.join(rest)}"] if rest else parts)


def _qualified(
    definitions: list[tuple[str, Outlined]], target: str, room: Room
) -> list[tuple[str, Outlined]]:
    """Those within the class or module that the target names before the name; all where none is."""
    before = target[: target.rindex(last_of(target))].rstrip(".:#/ ")
    owners = {last_of(before), posixpath.splitext(posixpath.basename(before))[0]} - {""}
    within = [(path, each) for path, each in definitions if owners & _owners(path, each, room)]
    return within or definitions


def _owners(path: str, definition: Outlined, room: Room) -> set[str]:
    """The module that a definition is in, and the class."""
    module = posixpath.splitext(posixpath.basename(path))[0]
    return (
        {module, definitions_in(path, room)[definition.parent].name} if definition.parent >= 0 else {module}
    )


def _references(look: Look, room: Room) -> str:
    name = last_of(look.target)
    if not name:
        return "`references` needs a name as `target`."
    hits = room.past.grep(rf"\b{re.escape(name)}\b", is_regex=True)
    if isinstance(hits, str):
        return hits
    defined = {
        (path, each.line)
        for path in room.index.paths_defining(name)
        for each in definitions_in(path, room)
        if each.name == name
    }
    uses = [hit for hit in hits if room.sees(hit.path) and (hit.path, hit.line) not in defined]
    if not uses:
        return f"Nothing uses {name!r} by name."
    return f"{name!r} by name, {len(uses)} line(s) beside its definition:\n{_listed(uses, room, '')}"


def _list(look: Look, room: Room) -> str:
    folder = plain(look.target)
    prefix = f"{folder}/" if folder else ""
    below = [path for path in room.paths if path.startswith(prefix)]
    if not below:
        return f"There is no folder {folder!r}. {_near(folder, sorted({posixpath.dirname(path) for path in room.paths} - {''}))}"
    folders = Counter(path[len(prefix) :].split("/")[0] for path in below if "/" in path[len(prefix) :])
    files = [path for path in below if "/" not in path[len(prefix) :]]
    lines = [f"{prefix}{name}/ ({count} files)" for name, count in sorted(folders.items())]
    lines += [f"{path} ({len(room.index.text(path).splitlines())} lines)" for path in files[:_MAX_LISTED]]
    more = len(files) - _MAX_LISTED
    return "\n".join(
        [*lines[: 2 * _MAX_LISTED], f"… {more} more files"] if more > 0 else lines[: 2 * _MAX_LISTED]
    )


def _history(look: Look, room: Room) -> str:
    target = plain(look.target)
    if _COMMIT.fullmatch(target):
        patch = room.past.patch(target)
        if patch is None:
            return f"There is no commit {target} before the present state, or what it changed is not on this machine."
        if any(not room.sees(path) for path in re.findall(r"^(?:\+\+\+ b|--- a)/(.+)$", patch, re.MULTILINE)):
            return f"Commit {target} changes files that are not for you to see."
        cut = "" if len(patch) <= _MAX_PATCH_CHARS else f"\n… {len(patch) - _MAX_PATCH_CHARS} more characters"
        return patch[:_MAX_PATCH_CHARS] + cut
    if not room.sees(target):
        return f"{target} is not for you to see."
    commits = room.past.commits(target, _MAX_COMMITS)
    return "\n".join(_commit(oid, past, room) for oid, past in commits) or f"No commit changed {target!r}."


def _commit(oid: str, past: PastCommit, room: Room) -> str:
    subject = (past.text.splitlines() or [""])[0][:120]
    paths = [path for path in past.paths if room.sees(path)]
    more = " …" if len(paths) > _MAX_COMMIT_FILES else ""
    return f"{oid[:12]} {subject} ({len(paths)} file(s): {', '.join(paths[:_MAX_COMMIT_FILES])}{more})"


def _unreadable(path: str, room: Room) -> str | None:
    if not path:
        return "The look needs a path as `target`."
    if path.startswith(("/", "../")) or "\0" in path:
        return f"{path!r} is outside of the repository; name paths as they are listed."
    if not room.sees(path):
        return f"{path} is not for you to see."
    paths = room.paths
    if path in paths:
        if room.index.text(path):
            return None
        return f"{path} is empty, or no text in UTF-8."
    if any(each.startswith(f"{path}/") for each in paths):
        return f"{path} is a folder; `list` shows what is in it."
    return f"There is no file {path}. {_near(path, paths)}"


def _near(word: str, names: Sequence[str]) -> str:
    folder, _, name = word.rpartition("/")
    same = [each for each in names if name and each.rpartition("/")[2] == name]
    if len(names) > _MAX_COMPARED:
        # Comparing takes longer than everything else; in a large repository a name is separated from those beside it.
        names = [each for each in names if each.rpartition("/")[0] == folder][:_MAX_COMPARED]
    near = [*same, *get_close_matches(word, names, n=3, cutoff=0.6)][:4]
    return f"There is {', '.join(dict.fromkeys(near))}." if near else "Nothing has a similar name."


def _depth(definitions: Sequence[Outlined], each: Outlined) -> int:
    depth = 0
    while each.parent >= 0:
        each = definitions[each.parent]
        depth += 1
    return depth
