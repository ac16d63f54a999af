"""A repository's template of pull requests: which it is, and what of it is filled in."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from cogworks.leaving import in_markdown

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

    A section with boxes to tick is left as it is, with no box ticked; so is one that nothing fits. Comments are for whoever
    writes, and go.
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
    found: list[tuple[str, list[str]]] = [("", [])]
    in_fence = False
    for line in text.splitlines():
        in_fence ^= bool(_FENCE.match(line))
        if not in_fence and _HEADING.fullmatch(line):
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return [(heading, "\n".join(lines)) for heading, lines in found]
