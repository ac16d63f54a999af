"""What an issue says, statement by statement and numbered, so that nothing of it gets lost where it is divided."""

import re
from collections.abc import Iterator

MOST = 150
"""Where sentences are more than this, paragraphs and lines are the statements."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"^\s{0,3}#{1,6}(\s|$)|^\s*(=+|-{2,}|\*{3,}|_{3,})\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_ROW = re.compile(r"^\s*\|")
_RULE = re.compile(r"^[\s|:-]+$")
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[`*_]*[A-Z0-9])")


def statements_of(body: str) -> tuple[str, ...]:
    """The sentences of a body, its list items and table rows, and each block of code as one; headings say nothing by themselves."""
    blocks = tuple(_blocks(_COMMENT.sub("", body.replace("\r\n", "\n"))))
    sentences = tuple(each for text, is_code in blocks for each in ((text,) if is_code else _sentences(text)))
    return sentences if len(sentences) <= MOST else tuple(text for text, _ in blocks)


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in _END.split(text) if each.strip())


def _blocks(body: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs, list items, rows and blocks of code, each with whether it is code."""
    gathered: list[str] = []
    fence = ""
    for line in body.split("\n"):
        if fence:
            gathered.append(line)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
                yield from _taken(gathered, is_code=True)
            continue
        opening = _FENCE.match(line)
        if opening or not line.strip() or _HEADING.match(line) or _ITEM.match(line) or _ROW.match(line):
            yield from _taken(gathered)
        if opening:
            fence = opening[1]
            gathered.append(line)
        elif _ROW.match(line):
            if not _RULE.match(line):
                yield " ".join(line.split()), False
        elif line.strip() and not _HEADING.match(line):
            gathered.append(_ITEM.sub("", line))
    yield from _taken(gathered, is_code=bool(fence))


def _taken(gathered: list[str], *, is_code: bool = False) -> Iterator[tuple[str, bool]]:
    text = "\n".join(gathered) if is_code else " ".join(" ".join(gathered).split())
    gathered.clear()
    if text.strip():
        yield text, is_code
