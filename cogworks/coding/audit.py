"""The audit of one run's calls: a record is kept before the call that it tells of."""

from collections.abc import Callable

from cogworks.coding.governed import PROFILE
from cogworks.tools.records import Identity, Record, Trail, line_of
from cogworks.tools.redaction import Redactor

AUDIT_FILE = "tools-1.ndjson"
MAX_KEPT_CHARS = 500
"""Of an input or output; the event log and the replies hold the rest. So the file stays small enough for GitHub."""


class ActionAudit:
    """What was called in one run."""

    def __init__(
        self,
        identity: Identity,
        *,
        now: Callable[[], float],
        keep: Callable[[str, str], None] = lambda *_: None,
    ) -> None:
        """Args:
        keep: is handed the file's name and its whole text with every record.
        """
        self._lines: list[str] = []
        self._keep = keep
        self.trail = Trail(
            identity, now=now, redactor=Redactor(), keep=self._record, max_kept_chars=MAX_KEPT_CHARS
        )

    @property
    def text(self) -> str:
        """The file as it is now."""
        return "".join(self._lines)

    def close(self, *, success: bool) -> None:
        """Write the end: an audit without one is of a run that was broken off."""
        self.trail.add("controller_end", profile=PROFILE, status="success" if success else "error")

    def _record(self, record: Record) -> None:
        self._lines.append(f"{line_of(record)}\n")
        self._keep(AUDIT_FILE, self.text)
