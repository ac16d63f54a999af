"""A sub-work-item as people rewrote its sub-issue: read back by the headings under which its parts were written."""

import re
from collections.abc import Iterator, Mapping, Sequence

from cogworks.codebase.changes import path_problem
from cogworks.github.wordings import EditedText
from cogworks.nodes.replies import PlannedItem

DONE_WHEN, TESTS, INTERFACES, FILES = "Done when", "Tests", "Interfaces", "Files"
"""The headings of a sub-issue, in this order below its description."""
_HEADINGS = {heading.casefold(): heading for heading in (DONE_WHEN, TESTS, INTERFACES, FILES)}
_HEADING = re.compile(r"#{1,6}\s+(?P<title>.*?)\s*#*\s*")
_BULLET = re.compile(r"\s{0,3}[-*+]\s+(?:\[[ xX]\]\s+)?(?P<text>.*)")
_OPENING = re.compile(r"Part of #\d+\. Sub-work-item \S+; depends on .*")


def as_edited(item: PlannedItem, text: EditedText) -> PlannedItem:
    """The sub-work-item with what people wrote in place of what the plan says.

    Its key and what it depends on stay, for other work hangs on them. A part whose heading is gone is empty, but for the
    files: the plan's are where to look first, and nothing that people have to repeat.
    """
    parts = _parts(text.body.splitlines())
    description = "\n".join(parts.get("", ())).strip()
    files = tuple(path for path in _listed(parts.get(FILES, ())) if path_problem(path) is None)
    return item.model_copy(
        update={
            "title": " ".join(text.title.split()) or item.title,
            "description": description or text.title,
            "acceptance_criteria": tuple(_entries(parts.get(DONE_WHEN, ()))),
            "test_specification": "\n".join(parts.get(TESTS, ())).strip(),
            "interfaces": _listed(parts.get(INTERFACES, ())),
            "files": files or item.files,
        }
    )


def _parts(lines: Sequence[str]) -> Mapping[str, list[str]]:
    """The lines below each heading that is ours; under the empty name everything else, other headings included."""
    found: dict[str, list[str]] = {}
    place, fence = "", ""
    for line in lines:
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        heading = _HEADING.fullmatch(line) if not fence else None
        known = _HEADINGS.get(heading["title"].casefold()) if heading else None
        if known is not None:
            place = known
            found.setdefault(place, [])
            continue
        if heading is not None:
            place = ""
        if place or not _OPENING.fullmatch(line.strip()):
            found.setdefault(place, []).append(line)
    return found


def _entries(lines: Sequence[str]) -> Iterator[str]:
    """Bullets with the lines that go on below them; what is no bullet counts as one."""
    entry = ""
    for line in [*lines, ""]:
        bullet = _BULLET.fullmatch(line)
        if (bullet or not line.strip()) and entry:
            yield entry
            entry = ""
        entry = bullet["text"].strip() if bullet else f"{entry} {line.strip()}".strip()


def _listed(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for entry in _entries(lines) if (name := entry.strip().strip("`").strip()))
