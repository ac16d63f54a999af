"""Texts on GitHub: kept within its limits without breaking their Markdown, and the hidden first line by which cogworks recognises its own."""

import re
from collections.abc import Sequence
from hashlib import sha256

from cogworks.vocabulary import IssueNumber, Value, VisitKey

MAX_BODY_CHARS = 60_000
"""GitHub refuses 65 536; the rest is for the marker and for what a view adds."""
MAX_TITLE_CHARS = 256

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_DETAILS_OPEN = re.compile(r"<details\b[^>]*>", re.IGNORECASE)
_DETAILS_CLOSE = re.compile(r"</details\s*>", re.IGNORECASE)
_NOTE = "\n\n*(cut here: {left_out} of {total} characters are left out)*"
_RESERVE = 200
"""Room for closing what is open and for the note."""


def capped(text: str, *, max_chars: int = MAX_BODY_CHARS) -> str:
    """The text, or its beginning up to a structural border: open fences and `<details>` closed, a note below.

    The result is never longer than `max_chars`, which must be at least 1 000.
    """
    if len(text) <= max_chars:
        return text
    lines = text.splitlines(keepends=True)
    budget = max_chars - _RESERVE
    for reserve in (0, _RESERVE, budget // 2):
        kept = _kept_lines(lines, budget - reserve)
        body = "".join(lines[:kept]).rstrip() if kept else text[: budget - reserve]
        closed = body + _closing(body)
        result = closed + _NOTE.format(left_out=len(text) - len(body), total=len(text))
        if len(result) <= max_chars:
            return result
    # Only hundreds of nested <details> come here; plain text is what can be promised for them.
    return text[:budget].replace("<", "&lt;")[:budget] + _NOTE.format(
        left_out=len(text) - budget, total=len(text)
    )


def capped_title(text: str) -> str:
    """One line that GitHub accepts as a title."""
    line = " ".join(text.split()) or "(untitled)"
    return line if len(line) <= MAX_TITLE_CHARS else f"{line[: MAX_TITLE_CHARS - 1]}…"


def _kept_lines(lines: Sequence[str], budget: int) -> int:
    """How many lines fit; rather up to an empty line or a heading, if one is in the last fifth."""
    used = 0
    fitting = 0
    border = 0
    border_used = 0
    for index, line in enumerate(lines):
        if used + len(line) > budget:
            break
        if not line.strip() or line.startswith("#"):
            border, border_used = index, used
        used += len(line)
        fitting = index + 1
    return border if border and border_used >= used * 0.8 else fitting


def _closing(body: str) -> str:
    """What has to follow so that nothing stays open."""
    fence: str | None = None
    open_details = 0
    for line in body.splitlines():
        match = _FENCE.fullmatch(line)
        if fence is not None:
            if match and match["fence"].startswith(fence) and not match["info"].strip():
                fence = None
            continue
        if match and not (match["fence"][0] == "`" and "`" in match["info"]):
            fence = match["fence"]
            continue
        open_details += len(_DETAILS_OPEN.findall(line)) - len(_DETAILS_CLOSE.findall(line))
        open_details = max(open_details, 0)
    return (f"\n{fence}" if fence else "") + "\n\n</details>" * open_details


_VERSION = "cogworks:1"
_TOPIC = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@+-]{0,99}")
_LINE = re.compile(
    rf"<!-- {_VERSION} k=(?P<visit_key>[0-9a-f]{{64}}) t=(?P<topic>{_TOPIC.pattern}) h=(?P<digest>[0-9a-f]{{8}})"
    r"(?: r=(?P<revision>[0-9]{1,9}))? -->"
)
STATUS_TOPIC = "status"


class Marker(Value):
    """What the first line of one of our bodies says."""

    visit_key: VisitKey
    topic: str
    """A comment's topic or a sub-item's key; at most 100 letters, digits and `_.:/@+-`, starting with one of the first two."""
    digest: str
    """First 8 hex digits of the SHA-256 of the text below the marker, as it was posted."""
    revision: int | None = None
    """Of a status comment: the revision of the state that it shows. None elsewhere, and where an older version wrote it."""

    def matches(self, text: str) -> bool:
        """Whether the text below the marker is still the one that was posted."""
        return self.digest == _digest(text)


def marked(text: str, *, visit_key: VisitKey, topic: str, revision: int | None = None) -> str:
    """The text with its marker above it.

    Args:
        revision: what a status comment shows of the ledger; a ledger behind it was set back.

    Raises:
        ValueError: the visit key or the topic cannot be written into a marker.
    """
    shows = "" if revision is None else f" r={revision}"
    line = f"<!-- {_VERSION} k={visit_key} t={topic} h={_digest(text)}{shows} -->"
    if _LINE.fullmatch(line) is None:
        raise ValueError(f"a marker cannot carry the visit key {visit_key!r} and the topic {topic!r}")
    return f"{line}\n{text}"


def parse_marker(body: str) -> Marker | None:
    """The marker on the first line, None when there is none. Says nothing about who wrote it."""
    line, _, _ = body.partition("\n")
    match = _LINE.fullmatch(line.rstrip("\r"))
    return Marker.model_validate(match.groupdict()) if match else None


def text_below_marker(body: str) -> str:
    """The body as people see it."""
    return body.partition("\n")[2] if parse_marker(body) else body


def _digest(text: str) -> str:
    # GitHub turns line ends into its own and trims; neither is an edit by a person.
    normal = "\n".join(text.splitlines()).strip()
    return sha256(normal.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def work_prefix(number: IssueNumber) -> str:
    """What the names of a work item's own branches begin with."""
    return f"cogworks/{number}/"
