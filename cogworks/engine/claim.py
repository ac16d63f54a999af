"""When a visit is not claimed, what a claim is made of, what a claimed visit starts with, and how it is given back."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from cogworks.codegen.governed import coding_policy
from cogworks.engine.consider import Considered, work_item
from cogworks.engine.packs import frozen_in
from cogworks.engine.ports import StepPorts
from cogworks.engine.record import Claimed
from cogworks.engine.remember import earlier_experience, replies_in
from cogworks.engine.tasks import task_for, with_edits
from cogworks.errors import ApprovalNeeded, BudgetReached, CogworksError
from cogworks.forge.snapshot import Snapshot
from cogworks.forge.wordings import edited_texts
from cogworks.ledger.lease import RELEASED, Entry, VisitLease
from cogworks.llm.budget import PriceList
from cogworks.llm.provider import Usage
from cogworks.nodes.shown import SHARES
from cogworks.nodes.task import MAX_ANSWERS, Conventions, NodeTask
from cogworks.pipeline.decision import Run
from cogworks.pipeline.elements import Node, is_routing, place_of
from cogworks.pipeline.expected import asking_nodes, from_history, from_questions
from cogworks.pipeline.gates import lapsed_calls
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.lane_choice import MOST_FILES
from cogworks.pipeline.limits import calls_model, grant
from cogworks.pipeline.people import AskedCall
from cogworks.pipeline.position import Standing, aborted_by
from cogworks.pipeline.spend import Expected, ItemCost, Sum
from cogworks.pipeline.state import RunState
from cogworks.pipeline.unmerged import is_last_to_merge
from cogworks.pipeline.visits import Lease, NextCall
from cogworks.pipeline.wording import input_digest
from cogworks.settings.config import Config

LEAST_SHARE = 0.1
"""Of the hour's points; with less left no model is asked, for its answer could not be published."""


def too_few_points(snapshot: Snapshot) -> str:
    """Why nothing that costs money should begin now; empty while enough of the hour's points is left, or nobody knows."""
    rate = snapshot.rate
    if rate is None or not rate.limit or rate.remaining >= rate.limit * LEAST_SHARE:
        return ""
    until = f" before {rate.reset_at:%H:%M} UTC" if rate.reset_at else " within the hour"
    return (
        f"{rate.remaining} of the token's {rate.limit} GitHub points of this hour are left. That may not be "
        "enough to publish what a model answers, so no model was asked and nothing was claimed. The points "
        f"do not come back{until}. Run the step again then."
    )


def lease_for(seen: Considered, run: Run, *, holder: str) -> Lease:
    """The lease that claims a visit; what it reserves is booked as spent when its runner dies."""
    granted = grant(
        seen.state,
        seen.facts,
        seen.pipeline,
        run.instance,
        window_usd=seen.config.ledger.checkpoint_usd,
    )
    return Lease(
        visit_key=run.visit_key,
        index=run.index,
        node=run.instance.node,
        sub_item=run.instance.sub_item,
        ordinal=run.ordinal,
        holder=holder,
        attempt=run.attempt,
        reserved_usd=granted.usd,
        reserved_tokens=granted.tokens,
        is_capped=granted.is_capped,
        graph_hash=seen.pipeline.graph_hash,
        input_digest=input_digest(
            seen.state, seen.facts.issue_digest or seen.state.issue_digest, run.instance
        ),
    )


def stopped_by(seen: Considered, run: Run) -> Callable[[RunState], str]:
    """Why the visit has to stop, from what other runners recorded since it was claimed; empty = it may go on."""

    def reason(state: RunState) -> str:
        # Another runner may have moved the run to another pipeline; this graph says nothing of that state.
        if state.graph_hash != seen.pipeline.graph_hash:
            return ""
        aborted = aborted_by(run.instance, Standing(state, seen.facts, seen.pipeline).position)
        return f"{aborted}; nothing was published" if aborted else ""

    return reason


def claimed(
    seen: Considered, run: Run, visit_lease: VisitLease, files: Mapping[str, str], *, asked_s: float
) -> Claimed:
    """The visit whose lease we hold, with everything its node is handed.

    Args:
        files: what the claim brought back: ledger path -> text.
        asked_s: what the runner's clock said when the claim was sent.

    Raises:
        LedgerUnreadable: a file that the state names is not there.
    """
    task = task_for(
        visit_lease.state,
        seen.pipeline,
        run,
        item=work_item(seen.snapshot, seen.config),
        pulls=seen.facts.pulls,
        files=files,
        conventions=_conventions(seen, run),
    )
    folder = visit_lease.state.folder(run.index, run.instance)
    is_last = _is_last(seen, run, visit_lease.state, task)
    known = {
        "experience": earlier_experience(folder, files),
        "packs": frozen_in(files, visit_lease.state),
        "is_last": is_last,
        "closes_issue": is_last and seen.config.pull_requests.closes_issue,
        **_approvals(visit_lease.lease, seen),
    }
    task = with_edits(task.model_copy(update=known), edited_texts(seen.snapshot, visit_lease.state))
    return Claimed(
        visit_lease=visit_lease,
        move=run,
        task=task,
        snapshot=seen.snapshot,
        facts=seen.facts,
        pipeline=seen.pipeline,
        pipelines=seen.pipelines,
        config=seen.config,
        memory=replies_in(folder, files),
        kept={
            path.removeprefix(f"{folder}/"): text
            for path, text in files.items()
            if path.startswith(f"{folder}/")
        },
        asked_s=asked_s,
    )


def _is_last(seen: Considered, run: Run, state: RunState, task: NodeTask) -> bool:
    if is_routing(run.instance):
        return False
    on = (task.base_branch, *task.merge_branches)
    return is_last_to_merge(Standing(state, seen.facts, seen.pipeline), run.instance, on=on)


def _approvals(lease: Lease, seen: Considered) -> dict[str, object]:
    """What people allowed this visit to call, as far as it still counts."""
    facts, at = seen.facts, (lease.node, lease.sub_item)
    # What was approved for one node allows nothing to another.
    shown = {call.hash: call.written for call in facts.shown_calls if (call.node, call.sub_item) == at}
    lapsed = lapsed_calls(lease.approved_calls, shown, now=facts.now, valid_hours=facts.approval_hours)
    standing = tuple(call.hash for call in lease.approved_calls if call.hash not in lapsed)
    return {"approved_calls": standing, "lapsed_calls": lapsed}


def _conventions(seen: Considered, run: Run) -> Conventions:
    # Lanes are chosen by people and a rule, so a prompt names pipelines only where a repository has its own.
    choices = seen.pipelines.pipelines
    node = place_of(run.instance).node
    own = seen.pipeline.max_retries(node)
    return Conventions(
        specs=seen.config.paths.spec_folders,
        merges_specs=seen.config.paths.merges_specs,
        sub_item_label=seen.config.labels.sub_work_item,
        max_retries=seen.config.budgets.sub_work_item_max_retries if own is None else own,
        # Retries are the answers beyond the first.
        max_answers=MAX_ANSWERS if own is None else own + 1,
        own_labels=tuple(seen.config.labels.model_dump().values()),
        manifests=seen.config.dependencies.asked_about,
        baseline=seen.config.tests.baseline,
        test_writer=seen.config.tests.writer,
        test_warnings=seen.config.tests.warn_only,
        test_judge=seen.config.tests.semantic_check,
        pipelines={name: each.description for name, each in choices.items()}
        if len(choices) > 1 and not seen.pipelines.are_lanes
        else {},
        combined_review=seen.pipeline.node(node).combined,
        lane_files=MOST_FILES if seen.pipelines.are_lanes and seen.pipeline.name == "small" else 0,
        remarks_at_lines=seen.config.pull_requests.remarks_at_lines,
        division=_division(seen),
        trigger=seen.config.labels.trigger,
        safety_critical=seen.config.labels.safety_critical if _is_critical(seen) else "",
        change_limits=seen.config.codegen.limits,
        probes=seen.config.codegen.search,
        sight=seen.config.sight,
        coding_policy=coding_policy(seen.snapshot.repository.config_files),
    )


def _division(seen: Considered) -> Literal["", "on_request", "by_rule", "asked"]:
    if not seen.pipelines.are_lanes:
        return ""
    if seen.pipeline.name == "large":
        return "asked"
    return "by_rule" if seen.facts.lane == "auto" and not _is_critical(seen) else "on_request"


def _is_critical(seen: Considered) -> bool:
    return seen.facts.is_safety_critical or seen.state.is_safety_critical


_BYTES_PER_TOKEN = 4
_BESIDES_TOKENS = 5_000
"""What a question holds besides the repository: the rules, the form of the answer, the issue and what earlier nodes made."""
_ANSWER_TOKENS = 2_000


def with_expected(ports: StepPorts, seen: Considered, run: Run) -> Considered:
    """The same with what the run is expected to cost, where a visit is about to ask its first question; one request then.

    Raises:
        CogworksError: GitHub cannot be read; nothing was claimed.
        ConfigurationError: a model has no price.
    """
    state = seen.state
    # Looked up once, before the first question: it takes a request.
    if state.expected or state.spent.model_calls or not calls_model(run.instance, seen.pipeline):
        return seen
    costs, prices = ports.tracker.item_costs(), ports.prices(seen.config)
    repository_bytes = sum(seen.snapshot.repository.contents.languages.values())
    expected = tuple(
        expectation(pipeline, seen.config, costs, prices, repository_bytes=repository_bytes)
        for pipeline in seen.pipelines.pipelines.values()
    )
    known = state.model_copy(update={"expected": expected})
    return replace(seen, standing=replace(seen.standing, state=known))


def expectation(
    pipeline: Pipeline,
    config: Config,
    costs: Sequence[ItemCost],
    prices: PriceList,
    *,
    repository_bytes: int,
) -> Expected:
    """What an item is expected to cost on a pipeline.

    Args:
        costs: of finished items, the one that ended last first.
        repository_bytes: of code, as GitHub counts; 0: it has not counted yet, so that a question counts as full.
    """
    if known := from_history(pipeline, costs):
        return known
    nodes = asking_nodes(pipeline)
    # Where GitHub has not counted yet, a question counts as full.
    whole = repository_bytes // _BYTES_PER_TOKEN or config.sight.first_view_tokens
    shown = {node.id: min(whole, _room(node, config)) for node in nodes}
    return from_questions(
        pipeline,
        {node.id: _question(pipeline, node, config, prices, shown_tokens=shown[node.id]) for node in nodes},
        shown_tokens=max(shown.values(), default=0),
        writes_tests=config.tests.writer == "separate",
    )


def _room(node: Node, config: Config) -> int:
    return round(SHARES.get(node.id, 1.0) * config.sight.first_view_tokens)


def _question(pipeline: Pipeline, node: Node, config: Config, prices: PriceList, *, shown_tokens: int) -> Sum:
    price = prices.price_of(config.llm.visiting(node.id, pipeline.name).model)
    usage = Usage(input_tokens=_BESIDES_TOKENS + shown_tokens, output_tokens=_ANSWER_TOKENS)
    return Sum(usd=float(price.cost_of(usage)), tokens=usage.input_tokens + usage.output_tokens)


MAX_SHOWN_CHARS = 300


def give_back(
    visit_lease: VisitLease,
    say: Callable[[str], None],
    *,
    short_of: NextCall | None = None,
    asks: AskedCall | None = None,
    waits_for: Callable[[RunState], str] = lambda _: "",
) -> None:
    """Release the lease so that nobody has to wait for it to grow old; never raises a deliberate failure.

    Args:
        short_of: the call that did not fit into the budget: nobody claims the visit again before it does.
        asks: the call that a person has to approve before anybody claims the visit again.
        waits_for: what the run rests on then.
    """
    spent = visit_lease.spent

    def released(state: RunState) -> Entry:
        after = state.released(
            visit_lease.lease, spent, short_of=short_of, why=visit_lease.stop_reason, asks=asks
        )
        return Entry(state=after, verb=RELEASED, waits_for=waits_for(after))

    try:
        visit_lease.finish(released)
    except CogworksError as error:
        # What ended the visit matters more; a lease that stays is taken over when it is old enough.
        say(f"could not release the lease, which now ends by its age: {error}")


def short_of(error: BudgetReached) -> NextCall | None:
    """The call that the error refused; None where only somebody outside of the run knows when it may be made."""
    if error.needs_usd is None or error.needs_tokens is None:
        return None
    # Rounded up: a claim that stops at the same call again would be for nothing.
    return NextCall(cost_usd=math.ceil(error.needs_usd * 1_000_000) / 1_000_000, tokens=error.needs_tokens)


def asked_call(error: ApprovalNeeded) -> AskedCall:
    """The call as people are asked about it."""
    # It stands between backticks in a comment of ours, and the model wrote it.
    plain = error.shown.replace("`", "'").replace("<", "\\u003c")
    shown = plain if len(plain) <= MAX_SHOWN_CHARS else f"{plain[:MAX_SHOWN_CHARS]}…"
    asked = {"tool": error.tool, "hash": error.call_hash, "lapsed": error.lapsed, "code": error.code}
    return AskedCall.model_validate({**asked, "shown": shown})
