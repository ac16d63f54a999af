"""The hidden first line by which cogworks recognises its own comments and sub-issues."""

import re
from hashlib import sha256

from cogworks.vocabulary import IssueNumber, Value, VisitKey

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
    found = _LINE.fullmatch(line.rstrip("\r"))
    return Marker.model_validate(found.groupdict()) if found else None


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
