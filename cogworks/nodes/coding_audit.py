"""The audit of one coding visit's calls, kept in the visit's folder of the ledger as it grows."""

from cogworks.coding.audit import ActionAudit
from cogworks.nodes.contract import NodeShell, NodeTask
from cogworks.tools.records import Identity


def audit_of(task: NodeTask, shell: NodeShell) -> ActionAudit:
    """An audit in the name of a visit."""
    visit = task.visit
    identity = Identity(
        run_id=visit.visit_key,
        node=visit.node,
        sub_item=visit.sub_item or "",
        trace_id=f"{visit.visit_key}/{visit.attempt}",
    )
    return ActionAudit(identity, now=shell.now, keep=shell.keep)
