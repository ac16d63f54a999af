"""Whether a node may start: what it needs, what the run has left, and what has to change where that is too little."""

import hashlib
from collections.abc import Iterable

from cogworks.pipeline.graph import Instance
from cogworks.pipeline.position import Facts, instance_name
from cogworks.pipeline.state import RunState


def shortage(state: RunState, facts: Facts, instance: Instance) -> str:
    """Why a node may not start for want of money or tokens, and who can change that; empty where it may."""
    spent = state.spent
    tokens = spent.input_tokens + spent.output_tokens
    committed_usd = spent.cost_usd + state.reserved_usd
    if committed_usd >= facts.max_cost_usd:
        return (
            f"budget: {committed_usd:.2f} of {facts.max_cost_usd:.2f} USD is spent or reserved; raise "
            "`budgets.pipeline_max_cost_dollars` in `.cogworks/config.toml` or split the issue."
        )
    if tokens >= facts.max_tokens:
        return (
            f"budget: {tokens} of {facts.max_tokens} tokens are spent; raise `budgets.pipeline_max_tokens` "
            "in `.cogworks/config.toml` or split the issue."
        )
    return _short_of_next_call(state, facts, instance, committed_usd, tokens)


def shortages(state: RunState, facts: Facts, ready: Iterable[Instance]) -> tuple[str, ...]:
    """Why nothing that is ready may start; empty where something may, or where nothing is ready."""
    found = [shortage(state, facts, instance) for instance in ready]
    return tuple(dict.fromkeys(found)) if all(found) else ()


def limits_mark(max_cost_usd: float, max_tokens: int) -> str:
    """12 hex digits that change with the limits, so that a sweep sees that somebody raised them."""
    return hashlib.sha256(f"{max_cost_usd!r}\x1f{max_tokens}".encode()).hexdigest()[:12]


def _short_of_next_call(
    state: RunState, facts: Facts, instance: Instance, committed_usd: float, tokens: int
) -> str:
    unfinished = state.unfinished(instance)
    needs = unfinished.stopped_short_of if unfinished else None
    if needs is None:
        return ""
    again = "or comment `/cogworks retry` where the call has become cheaper, or split the issue."
    # Sums of floats: the ninth digit is where the state rounds too.
    if round(committed_usd + needs.cost_usd, 9) > round(facts.max_cost_usd, 9):
        return (
            f"budget: {committed_usd:.2f} of {facts.max_cost_usd:.2f} USD is spent or reserved, and the next call of "
            f"{instance_name(instance)} needs up to {needs.cost_usd:.4f}; raise `budgets.pipeline_max_cost_dollars` in "
            f"`.cogworks/config.toml`, {again}"
        )
    if tokens + needs.tokens > facts.max_tokens:
        return (
            f"budget: {tokens} of {facts.max_tokens} tokens are spent, and the next call of {instance_name(instance)} "
            f"needs up to {needs.tokens}; raise `budgets.pipeline_max_tokens` in `.cogworks/config.toml`, {again}"
        )
    return ""
