"""The audit of one coding visit's calls, kept in the visit's folder of the ledger as it grows."""

from cogworks.coding.governed import PROFILE
from cogworks.nodes.contract import NodeShell, NodeTask
from cogworks.tools.records import Identity, Record, Trail, line_of
from cogworks.tools.redaction import Redactor

AUDIT_FILE = "tools-1.ndjson"
MAX_KEPT_CHARS = 500
"""Of an input or output; the event log and the replies hold the rest. So the file stays small enough for GitHub."""


class CodingAudit:
    """What was called in one visit; each record is handed over before the call that it tells of."""

    def __init__(self, task: NodeTask, shell: NodeShell) -> None:
        self._shell = shell
        self._lines: list[str] = []
        visit = task.visit
        self.trail = Trail(
            Identity(
                run_id=visit.visit_key,
                node=visit.node,
                sub_item=visit.sub_item or "",
                trace_id=f"{visit.visit_key}/{visit.attempt}",
            ),
            now=shell.now,
            redactor=Redactor(),
            keep=self._keep,
            max_kept_chars=MAX_KEPT_CHARS,
        )

    def close(self, *, success: bool) -> None:
        """Write the end: an audit without one is of a visit that was broken off."""
        self.trail.add("controller_end", profile=PROFILE, status="success" if success else "error")

    def _keep(self, record: Record) -> None:
        self._lines.append(f"{line_of(record)}\n")
        self._shell.keep(AUDIT_FILE, "".join(self._lines))
