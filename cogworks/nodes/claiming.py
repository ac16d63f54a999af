"""What a claim is made of, and what a claimed visit starts with."""

from collections.abc import Mapping

from cogworks.errors import CogworksError
from cogworks.ledger.keeper import Keeper
from cogworks.nodes.considering import Considered, work_item
from cogworks.nodes.contract import Conventions
from cogworks.nodes.tasks import task_for
from cogworks.nodes.visit import Claimed, replies_in
from cogworks.pipeline.decision import Run
from cogworks.pipeline.position import instance_name
from cogworks.pipeline.state import Lease
from cogworks.pipeline.tool_variables import tool_problems


def lease_for(seen: Considered, run: Run, *, holder: str) -> Lease:
    """The lease that claims a visit; what it reserves is booked as spent when its runner dies."""
    return Lease(
        visit_key=run.visit_key,
        index=run.index,
        node=run.instance.node,
        sub_item=run.instance.sub_item,
        ordinal=run.ordinal,
        holder=holder,
        attempt=run.attempt,
        reserved_usd=_reservation(seen),
        graph_hash=seen.pipeline.graph_hash,
        input_digest=seen.facts.issue_digest or seen.state.issue_digest,
    )


def claimed(
    seen: Considered, run: Run, keeper: Keeper, files: Mapping[str, str], *, asked_s: float
) -> Claimed:
    """The visit whose lease we hold, with everything its node is handed.

    Args:
        files: what the claim brought back: ledger path -> text.
        asked_s: what the runner's clock said when the claim was sent.

    Raises:
        LedgerUnreadable: a file that the state tells of is not there.
        CogworksError: the node's tools are not defined for what it is about.
    """
    task = task_for(
        keeper.state,
        seen.pipeline,
        run,
        item=work_item(seen.snapshot, seen.config),
        pulls=seen.facts.pulls,
        files=files,
        conventions=_conventions(seen, run),
    )
    node = seen.pipeline.node(run.instance.node)
    if problems := tool_problems(seen.pipeline, node, task.inputs):
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise CogworksError(
            f"{instance_name(run.instance)} cannot start; nothing was asked or written:\n{listed}"
        )
    return Claimed(
        keeper=keeper,
        move=run,
        task=task,
        snapshot=seen.snapshot,
        facts=seen.facts,
        pipeline=seen.pipeline,
        config=seen.config,
        memory=replies_in(keeper.state.folder(run.index, run.instance), files),
        asked_s=asked_s,
    )


def _conventions(seen: Considered, run: Run) -> Conventions:
    node = seen.pipeline.node(run.instance.node)
    per_item = seen.config.budgets.sub_work_item_max_retries
    return Conventions(
        specs=seen.config.paths.specs,
        sub_item_label=seen.config.labels.sub_work_item,
        max_retries=per_item if node.max_retries is None else node.max_retries,
        own_labels=tuple(seen.config.labels.model_dump().values()),
    )


def _reservation(seen: Considered) -> float:
    left = seen.facts.max_cost_usd - seen.state.spent.cost_usd - seen.state.reserved_usd
    return round(max(0.0, min(seen.config.ledger.checkpoint_usd, left)), 9)
