"""Whether a node may start: what it needs, what the run has left, and what has to change where that is too little."""

import hashlib
from collections.abc import Iterable

from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.limits import budget_key, max_cost_usd, rest_of_node, tokens_of
from cogworks.pipeline.places import place_of
from cogworks.pipeline.position import Facts, instance_name
from cogworks.pipeline.state import RunState


def shortage(state: RunState, facts: Facts, pipeline: Pipeline, instance: Instance) -> str:
    """Why a node may not start for want of money or tokens, and who can change that; empty where it may."""
    limit_usd = max_cost_usd(facts, pipeline)
    tokens = tokens_of(state.spent) + state.reserved_tokens
    committed_usd = state.spent.cost_usd + state.reserved_usd
    if committed_usd >= limit_usd:
        return (
            f"budget: {committed_usd:.2f} of {limit_usd:.2f} USD is spent or reserved; raise "
            f"{budget_key(pipeline)} or split the issue."
        )
    if tokens >= facts.max_tokens:
        return (
            f"budget: {tokens} of {facts.max_tokens} tokens are spent or reserved; raise `budgets.pipeline_max_tokens` "
            "in `.cogworks/config.toml` or split the issue."
        )
    short = _short_of_its_own(state, pipeline, instance, limit_usd=limit_usd)
    return short or _short_of_next_call(state, facts, pipeline, instance)


def shortages(
    state: RunState, facts: Facts, pipeline: Pipeline, ready: Iterable[Instance]
) -> tuple[str, ...]:
    """Why nothing that is ready may start; empty where something may, or where nothing is ready."""
    found = [shortage(state, facts, pipeline, instance) for instance in ready]
    return tuple(dict.fromkeys(found)) if all(found) else ()


def limits_mark(max_cost_usd: float, max_tokens: int) -> str:
    """12 hex digits that change with the limits, so that a sweep sees that somebody raised them."""
    return hashlib.sha256(f"{max_cost_usd!r}\x1f{max_tokens}".encode()).hexdigest()[:12]


def _short_of_its_own(state: RunState, pipeline: Pipeline, instance: Instance, *, limit_usd: float) -> str:
    """Short of the node's own budget, or of what that needs beside the reservations of other runners."""
    own_usd = rest_of_node(state, pipeline, instance)
    if own_usd is None:
        return ""
    name = instance_name(instance)
    unfinished = state.unfinished(instance)
    needs = unfinished.stopped_short_of if unfinished else None
    if own_usd <= 0 or (needs is not None and needs.cost_usd > own_usd):
        budget_usd = pipeline.cost_budget_usd(place_of(instance).node) or 0.0
        next_call = f", and its next call needs up to {needs.cost_usd:.4f}" if needs else ""
        return (
            f"budget: this visit of {name} has {own_usd:.2f} left of the {budget_usd:.2f} USD of its node{next_call}; raise "
            "`cost_budget_usd` of the node in `.cogworks/pipeline.toml` or split the issue."
        )
    # Against the rest of the run alone a node takes what there is; against what others hold it waits.
    need_usd = min(own_usd, limit_usd - state.spent.cost_usd)
    left_usd = limit_usd - state.spent.cost_usd - state.reserved_usd
    if round(need_usd - left_usd, 9) <= 0:
        return ""
    return (
        f"budget: {name} may need {need_usd:.2f} USD and {left_usd:.2f} are left while other runners hold "
        f"{state.reserved_usd:.2f}; it goes on when they say what they spent, or raise {budget_key(pipeline)}."
    )


def _short_of_next_call(state: RunState, facts: Facts, pipeline: Pipeline, instance: Instance) -> str:
    unfinished = state.unfinished(instance)
    needs = unfinished.stopped_short_of if unfinished else None
    if needs is None:
        return ""
    limit_usd = max_cost_usd(facts, pipeline)
    tokens = tokens_of(state.spent) + state.reserved_tokens
    committed_usd = state.spent.cost_usd + state.reserved_usd
    again = "or comment `/cogworks retry` where the call has become cheaper, or split the issue."
    # Sums of floats: the ninth digit is where the state rounds too.
    if round(committed_usd + needs.cost_usd, 9) > round(limit_usd, 9):
        return (
            f"budget: {committed_usd:.2f} of {limit_usd:.2f} USD is spent or reserved, and the next call of "
            f"{instance_name(instance)} needs up to {needs.cost_usd:.4f}; raise {budget_key(pipeline)}, {again}"
        )
    if tokens + needs.tokens > facts.max_tokens:
        return (
            f"budget: {tokens} of {facts.max_tokens} tokens are spent or reserved, and the next call of "
            f"{instance_name(instance)} needs up to {needs.tokens}; raise `budgets.pipeline_max_tokens` in "
            f"`.cogworks/config.toml`, {again}"
        )
    return ""
