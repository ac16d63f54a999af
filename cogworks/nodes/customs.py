"""How a repository titles its changes and what its template of pull requests asks for."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from cogworks.leaving import in_markdown
from cogworks.nodes.contract import Workspace
from cogworks.vocabulary import VISIT_TRAILER

TESTS = "tests"
"""The kind of a change that only brings tests."""
LOOKED_AT = 30
"""The newest commits of people; those of cogworks itself say nothing about what people do."""
_COMMITS = 2 * LOOKED_AT
"""So many are read: those of cogworks are among them."""
_ENOUGH = 5
"""Fewer commits show no custom."""
_SHARE = 0.6
"""Of the commits that follow a custom, before it counts as one."""
_KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "bug_fix": ("fix", ("BUG", "FIX", "BUGFIX")),
    "new_feature": ("feat", ("ENH", "FEAT", "FEATURE", "NEW", "ADD")),
    "refactor": ("refactor", ("REF", "CLN", "MAINT", "MNT", "REFACTOR")),
    "documentation": ("docs", ("DOC", "DOCS")),
    "configuration_change": ("chore", ("MAINT", "MNT", "CI", "BLD", "CHORE")),
    "dependency_update": ("chore", ("DEP", "DEPS", "MAINT", "MNT", "BLD", "CHORE")),
    TESTS: ("test", ("TST", "TEST", "TESTS")),
}
"""What an item is classified as, or tests alone -> the type of a Conventional Commit, and tags in capitals that mean the same."""
_TYPES = "build|chore|ci|deps|docs|feat|fix|perf|refactor|release|revert|style|test|tests"
_CONVENTIONAL = re.compile(
    rf"(?P<type>{_TYPES})(?:\((?P<scope>[^()\s]{{1,40}})\))?!?: (?P<rest>\S.*)", re.IGNORECASE
)
_TAGGED = re.compile(r"(?P<open>\[?)(?P<tag>[A-Z]{2,8})(?P<close>\]|:|\]:) (?P<rest>\S.*)")


def titled(words: str, kind: str, subjects: Sequence[str], paths: Sequence[str]) -> str:
    """A title as the repository's own commits have theirs; the words alone where they show no custom.

    Args:
        kind: what the item is classified as; a custom that has no word for it, or an unknown kind, changes nothing.
        subjects: of the newest commits of people.
        paths: that the change touches, for a scope that the repository uses.
    """
    if kind not in _KINDS or len(subjects) < _ENOUGH or _CONVENTIONAL.fullmatch(words):
        return words
    conventional = [match for each in subjects if (match := _CONVENTIONAL.fullmatch(each))]
    if len(conventional) >= _SHARE * len(subjects):
        return _conventional(words, kind, conventional, paths)
    tagged = [match for each in subjects if (match := _TAGGED.fullmatch(each))]
    if len(tagged) >= _SHARE * len(subjects):
        return _tagged(words, kind, tagged)
    return words


def titled_at(workspace: Workspace, words: str, kind: str, paths: Sequence[str]) -> str:
    """As `titled`, by the commits that a working copy stands on."""
    messages = [commit.text for commit in workspace.past(_COMMITS)]
    return titled(words, kind, subjects_of(messages), paths)


def subjects_of(messages: Sequence[str]) -> tuple[str, ...]:
    """The first lines of the newest messages that people wrote."""
    own = (text for text in messages if VISIT_TRAILER not in text and not text.startswith("cogworks: "))
    lines = (text.strip().partition("\n")[0].strip() for text in own)
    return tuple(line for line in lines if line)[:LOOKED_AT]


def _conventional(words: str, kind: str, known: Sequence[re.Match[str]], paths: Sequence[str]) -> str:
    scope = _scope(known, paths)
    small = sum(match["rest"][:1].islower() for match in known)
    rest = _uncapitalised(words) if small >= _SHARE * len(known) else words
    return f"{_KINDS[kind][0]}{f'({scope})' if scope else ''}: {rest}"


def _scope(known: Sequence[re.Match[str]], paths: Sequence[str]) -> str:
    """A scope that commits have and the change touches, where most commits have one; the most used of several."""
    used = Counter(match["scope"] for match in known if match["scope"])
    if used.total() < _SHARE * len(known):
        return ""
    touched = {part for path in paths for part in (*PurePosixPath(path).parts[:-1], PurePosixPath(path).stem)}
    fitting = [(-count, scope) for scope, count in used.items() if scope in touched]
    return min(fitting)[1] if fitting else ""


def _tagged(words: str, kind: str, known: Sequence[re.Match[str]]) -> str:
    used = Counter(match["tag"] for match in known)
    tag = next((tag for tag, _ in used.most_common() if tag in _KINDS[kind][1]), "")
    if not tag:
        return words
    form = Counter((match["open"], match["close"]) for match in known if match["tag"] == tag)
    (before, after), _ = form.most_common(1)[0]
    return f"{before}{tag}{after} {words}"


def _uncapitalised(words: str) -> str:
    """With a small letter at the front, unless the first word is a name: `HTTP`, `RunState`, `it's`, `add()`."""
    first = words.split(maxsplit=1)[0] if words.split() else ""
    is_plain = first[:1].isupper() and first[1:].islower() and first.isalpha()
    return words[:1].lower() + words[1:] if is_plain else words


_NAMES = ("pull_request_template.md", "pull_request_template.txt", "pull_request_template")
_FOLDERS = (".github/", "", "docs/")
_MAX_CHARS = 20_000
"""Of a template; a longer one is no form to fill in."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<words>.*?)[ \t#]*")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_BOX = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\]", re.MULTILINE)
_TICKED = re.compile(r"^([ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[[xX]\]", re.MULTILINE)
BOXES_ARE_YOURS = "Boxes of the template are left for a person to tick."


class Part(NamedTuple):
    """Something that a pull request says, and which section of a template may take it."""

    name: str
    """`summary`, `changes`, `tests`, …: what `_WANTED` looks for."""
    title: str
    """Its heading where no section of a template takes it; empty: it needs none."""
    text: str


_WANTED: Mapping[str, re.Pattern[str]] = {
    "tests": re.compile(r"\b(?:test|tests|tested|testing|verif\w+|qa|proof)\b", re.IGNORECASE),
    "issue": re.compile(r"\b(?:issues?|tickets?|fixes|closes|resolves|related|references?)\b", re.IGNORECASE),
    "summary": re.compile(
        r"\b(?:summary|description|overview|purpose|motivation|context|why|what|about|goal|proposed)\b",
        re.IGNORECASE,
    ),
    "changes": re.compile(r"\b(?:changes?|changed|implementation|details|modified)\b", re.IGNORECASE),
    "notes": re.compile(
        r"\b(?:notes?|reviewers?|additional|further|anything else|comments?)\b", re.IGNORECASE
    ),
}
"""By part, the first that fits a heading is taken: "How was this change tested" is about tests."""


def template_among(paths: Iterable[str]) -> str:
    """The path of the template that GitHub would offer; empty where there is none, or several to choose from."""
    known = {path.lower(): path for path in sorted(paths, reverse=True)}
    places = (f"{folder}{name}" for folder in _FOLDERS for name in _NAMES)
    return next((known[place] for place in places if place in known), "")


def filled(template: str, parts: Sequence[Part]) -> tuple[str, frozenset[str]]:
    """The template with the parts in the sections that ask for them, and the names of those that found one.

    A section with boxes to tick is left as it is, with no box ticked; so is one that nothing fits. Comments are for the
    writer, and go.
    """
    if len(template) > _MAX_CHARS:
        return "", frozenset()
    left = {part.name: part for part in parts if part.text.strip()}
    placed: list[str] = []
    shown: list[str] = []
    for heading, text in _sections(in_markdown(_COMMENT.sub("", template.replace("\r\n", "\n")))):
        has_boxes = bool(_BOX.search(text))
        name = "" if has_boxes else _taker(heading, left)
        body = left.pop(name).text if name else _TICKED.sub(r"\1[ ]", text)
        placed += [name] if name else []
        note = BOXES_ARE_YOURS if has_boxes else ""
        shown += [each.strip("\n") for each in (heading, body, note) if each.strip()]
    return "\n\n".join(shown), frozenset(placed)


def _taker(heading: str, left: Mapping[str, Part]) -> str:
    words = _HEADING.fullmatch(heading)
    if words is None:
        return ""
    fitting = [name for name, wanted in _WANTED.items() if wanted.search(words["words"])]
    # Where a section asks for tests or for issues, nothing else is an answer.
    asked = fitting[:1] if fitting[:1] in (["tests"], ["issue"]) else fitting
    return next((name for name in asked if name in left), "")


def _sections(text: str) -> Sequence[tuple[str, str]]:
    """Heading and what stands below it, the part above all headings first; a heading inside a fence is none."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    in_fence = False
    for line in text.splitlines():
        in_fence ^= bool(_FENCE.match(line))
        if not in_fence and _HEADING.fullmatch(line):
            sections.append((line, []))
        else:
            sections[-1][1].append(line)
    return [(heading, "\n".join(lines)) for heading, lines in sections]
