"""How much a run may still do, and where its money went."""

import hashlib
from collections.abc import Callable, Iterable
from operator import itemgetter

from cogworks.pipeline.elements import MAX_VISITS_PER_RUN, is_routing, place_of
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.position import instance_name
from cogworks.pipeline.spend import Spend, unconfirmed
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import FoldedVisits, Lease, VisitRecord
from cogworks.vocabulary import NodeId, SubItemKey, Value

ROOM_TOKENS = 60_000
"""What a claim sets aside at least: two questions with their answers, so that a visit need not ask for more before each."""


class Grant(Value):
    """What a visit reserves when it is claimed."""

    usd: float
    tokens: int
    is_capped: bool
    """The node has a budget of its own, and this is the rest of it."""


def max_cost_usd(facts: Facts, pipeline: Pipeline) -> float:
    """What the run may cost: the pipeline's own budget, else what `config.toml` says, for the lane or for every item."""
    own = pipeline.settings.cost_budget_usd
    if own is not None:
        return own
    return facts.small_max_cost_usd if _is_small(facts, pipeline) else facts.max_cost_usd


def _is_small(facts: Facts, pipeline: Pipeline) -> bool:
    """Whether the limit of the lane `small` is the one that counts; a repository may call a pipeline of its own so."""
    is_lane = bool(facts.lane) and pipeline.name == "small"
    return is_lane and facts.small_max_cost_usd < facts.max_cost_usd


# The highest first, for the first one that is reached counts.
SHARES = (90, 75, 50)
"""Percent of the budget at which people get a notice."""


def share_spent(state: RunState, facts: Facts, pipeline: Pipeline) -> int:
    """The highest of `SHARES` that is spent, of the money or of the tokens; 0: none of them."""
    spent = state.spent
    share = max(spent.cost_usd / max_cost_usd(facts, pipeline), tokens_of(spent) / facts.max_tokens)
    return next((percent for percent in SHARES if share * 100 >= percent), 0)


def grant(
    state: RunState, facts: Facts, pipeline: Pipeline, instance: Instance, *, window_usd: float
) -> Grant:
    """The reservation of a visit that `affording.shortage` lets pass.

    Args:
        window_usd: what a node without a budget of its own may spend before it says so in the ledger.
    """
    limit_usd = max_cost_usd(facts, pipeline)
    dead = state.lease_of(instance)
    others_usd = state.reserved_usd - (dead.reserved_usd if dead else 0.0)
    # What a dead runner had set aside may be spent: it is booked, and no longer counts as set aside.
    gone = state.spent + dead.reserved if dead else state.spent
    left_usd = max(0.0, limit_usd - gone.cost_usd - others_usd)
    own_usd = rest_of_node(state, pipeline, instance)
    usd = min(window_usd if own_usd is None else own_usd, left_usd)
    others_tokens = state.reserved_tokens - (dead.reserved_tokens if dead else 0)
    left_tokens = max(0, facts.max_tokens - tokens_of(gone) - others_tokens)
    tokens = min(_window_tokens(usd, facts, limit_usd), left_tokens)
    return Grant(usd=round(usd, 9), tokens=tokens, is_capped=own_usd is not None)


def _window_tokens(usd: float, facts: Facts, limit_usd: float) -> int:
    """Of the tokens the same share as of the money: no file says more."""
    share = usd / limit_usd if limit_usd > 0 else 0.0
    return max(int(facts.max_tokens * share), ROOM_TOKENS)


class Held(Value):
    """What a visit that goes on sets aside, and whether that is as much as it needs."""

    usd: float
    tokens: int
    others_usd: float
    others_tokens: int
    """Set aside by other runners of the item."""
    is_enough: bool


def held(
    state: RunState, facts: Facts, pipeline: Pipeline, lease: Lease, *, needs: Spend, window_usd: float
) -> Held:
    """What a visit may set aside from now on: what its calls may cost, and beyond that what a claim would reserve.

    Together with what is spent and what others set aside it is never more than the limits.

    Args:
        state: with what the visit has spent so far.
        lease: as it stands in the state.
        needs: the most that its calls under way may cost.
    """
    spent = state.spent
    others_usd = round(state.reserved_usd - lease.reserved_usd, 9)
    others_tokens = state.reserved_tokens - lease.reserved_tokens
    limit_usd = max_cost_usd(facts, pipeline)
    left_usd = round(max(0.0, limit_usd - spent.cost_usd - others_usd), 9)
    left_tokens = max(0, facts.max_tokens - tokens_of(spent) - others_tokens)
    # What is left of a node's own budget is all that the visit gets: it is never filled up again.
    window = lease.reserved_usd if lease.is_capped else window_usd
    return Held(
        usd=min(max(window, needs.cost_usd), left_usd),
        # Not what the lease has: a call that came to less gives back what it does not need.
        tokens=min(max(_window_tokens(window, facts, limit_usd), tokens_of(needs)), left_tokens),
        others_usd=others_usd,
        others_tokens=others_tokens,
        is_enough=needs.cost_usd <= left_usd and tokens_of(needs) <= left_tokens,
    )


def session_budget(
    state: RunState, facts: Facts, pipeline: Pipeline, instance: Instance
) -> tuple[float, int]:
    """The most dollars and tokens that the visit whose lease is in the state may still spend."""
    own = state.lease_of(instance)
    spent = state.spent
    others_usd = state.reserved_usd - (own.reserved_usd if own else 0.0)
    left_usd = max(0.0, max_cost_usd(facts, pipeline) - spent.cost_usd - others_usd)
    # A node with a budget of its own takes no more than that, however much the run has left.
    if own is not None and own.is_capped:
        left_usd = min(left_usd, own.reserved_usd)
    others_tokens = state.reserved_tokens - (own.reserved_tokens if own else 0)
    return left_usd, max(0, facts.max_tokens - tokens_of(spent) - others_tokens)


def overdrawn(state: RunState, facts: Facts, pipeline: Pipeline, *, unsaid: Spend) -> str:
    """Why a visit may not go on: others spent what it counted on; empty = it may.

    Args:
        state: as last read, with what the others said of theirs.
        unsaid: what this visit has spent beyond what the state says of it.
    """
    spent, limit_usd = state.spent + unsaid, max_cost_usd(facts, pipeline)
    if spent.cost_usd <= limit_usd and tokens_of(spent) <= facts.max_tokens:
        return ""
    return (
        f"budget: the runners of this item have spent {spent.cost_usd:.2f} of {limit_usd:.2f} USD and "
        f"{tokens_of(spent)} of {facts.max_tokens} tokens. Raise {budget_key(facts, pipeline)} or "
        "`budgets.pipeline_max_tokens`, or split the issue."
    )


def too_many_visits(state: RunState) -> str:
    """Why no further visit may begin in this run; empty = one may."""
    # Visits at work and given back will end, and count then.
    visits = state.ended + len(state.leases) + len(state.given_back)
    if visits < MAX_VISITS_PER_RUN:
        return ""
    return (
        f"the run made {visits} visits, and no run may make more than {MAX_VISITS_PER_RUN}, whatever its "
        "pipeline says. Look with `cogworks log` at what repeats. Then split the issue, or comment "
        "`/cogworks restart` to begin anew."
    )


def calls_model(instance: Instance, pipeline: Pipeline) -> bool:
    """Whether a visit asks a model."""
    if is_routing(instance):
        return True
    if not pipeline.has(instance.node):
        return False
    node = pipeline.node(instance.node)
    return node.type == "llm" or (node.type == "spawning" and node.prompt is not None)


def rest_of_node(state: RunState, pipeline: Pipeline, instance: Instance) -> float | None:
    """What is left of the node's own budget for the visit that would be claimed; None = it has none."""
    budget_usd = pipeline.cost_budget_usd(place_of(instance).node)
    if budget_usd is None:
        return None
    dead, unfinished = state.lease_of(instance), state.unfinished(instance)
    # Of a dead runner nobody knows what it spent; who gives a visit back says it.
    spent = dead.spent_at_most if dead else unfinished.spent if unfinished else Spend()
    return max(0.0, round(budget_usd - spent.cost_usd, 9))


def has_own_budgets(pipeline: Pipeline) -> bool:
    """Whether the pipeline limits money besides `config.toml`."""
    settings = pipeline.settings
    limits = [settings.cost_budget_usd, settings.default_cost_budget_usd]
    return any(limit is not None for limit in (*limits, *(node.cost_budget_usd for node in pipeline.nodes)))


def budget_key(facts: Facts, pipeline: Pipeline) -> str:
    """What to raise for the run to cost more."""
    if pipeline.settings.cost_budget_usd is not None:
        return f"`cost_budget_usd` of pipeline {pipeline.name!r} in `.cogworks/pipeline.toml`"
    key = "small_max_cost_dollars" if _is_small(facts, pipeline) else "pipeline_max_cost_dollars"
    return f"`budgets.{key}` in `.cogworks/config.toml`"


def tokens_of(spend: Spend) -> int:
    """What counts against the limit of tokens."""
    return spend.input_tokens + spend.output_tokens


def shortage(state: RunState, facts: Facts, pipeline: Pipeline, instance: Instance) -> str:
    """Why a node may not start for want of money or tokens, and who can change that; empty where it may."""
    limit_usd = max_cost_usd(facts, pipeline)
    tokens = tokens_of(state.spent) + state.reserved_tokens
    committed_usd = state.spent.cost_usd + state.reserved_usd
    # First what stops the whole run, then what stops this node alone.
    if committed_usd >= limit_usd:
        return (
            f"budget: {committed_usd:.2f} of {limit_usd:.2f} USD is spent or reserved; raise "
            f"{budget_key(facts, pipeline)} or split the issue."
        )
    if tokens >= facts.max_tokens:
        return (
            f"budget: {tokens} of {facts.max_tokens} tokens are spent or reserved; raise `budgets.pipeline_max_tokens` "
            "in `.cogworks/config.toml` or split the issue."
        )
    short = _short_of_its_own(state, facts, pipeline, instance)
    return short or _short_of_next_call(state, facts, pipeline, instance)


def shortages(
    state: RunState, facts: Facts, pipeline: Pipeline, ready: Iterable[Instance]
) -> tuple[str, ...]:
    """Why nothing that is ready may start; empty where something may, or where nothing is ready."""
    reasons = [shortage(state, facts, pipeline, instance) for instance in ready]
    return tuple(dict.fromkeys(reasons)) if all(reasons) else ()


def limits_mark(max_cost_usd: float, small_max_cost_usd: float, max_tokens: int) -> str:
    """12 hex digits that change with the limits, so that a sweep sees that somebody raised them."""
    # `repr` of a float is exact: limits that differ never look alike.
    return hashlib.sha256(f"{max_cost_usd!r}\x1f{small_max_cost_usd!r}\x1f{max_tokens}".encode()).hexdigest()[
        :12
    ]


def _short_of_its_own(state: RunState, facts: Facts, pipeline: Pipeline, instance: Instance) -> str:
    """Short of the node's own budget, or of what that needs beside the reservations of other runners."""
    limit_usd = max_cost_usd(facts, pipeline)
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
        f"budget: {name} may need {need_usd:.2f} USD, and {left_usd:.2f} are left while other runners hold "
        f"{state.reserved_usd:.2f}. It goes on when they report what they spent. Or raise "
        f"{budget_key(facts, pipeline)}."
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
            f"{instance_name(instance)} needs up to {needs.cost_usd:.4f}; raise {budget_key(facts, pipeline)}, {again}"
        )
    if tokens + needs.tokens > facts.max_tokens:
        return (
            f"budget: {tokens} of {facts.max_tokens} tokens are spent or reserved, and the next call of "
            f"{instance_name(instance)} needs up to {needs.tokens}; raise `budgets.pipeline_max_tokens` in "
            f"`.cogworks/config.toml`, {again}"
        )
    return ""


class SpendRow(Value):
    """What one node, or one sub-work-item, has cost."""

    node: NodeId | None = None
    sub_item: SubItemKey | None = None
    """None in a row by sub-work-item: the nodes that work on the item as a whole."""
    visits: int
    """Visits that ended; those that went back and were repeated count too."""
    unfinished: int
    """Visits at work or given back."""
    spend: Spend


def by_node(state: RunState) -> tuple[SpendRow, ...]:
    """One row for each node that was ever visited, in the order of the first visit; their sum is `state.spent`."""
    return _grouped(state, lambda each: (each.node, None))


def by_sub_item(state: RunState) -> tuple[SpendRow, ...]:
    """One row for the item as a whole and one for each visited sub-work-item; their sum is `state.spent`."""
    return _grouped(state, lambda each: (None, each.sub_item))


def earlier_line(state: RunState) -> str:
    """What the item cost before its present run."""
    spend = state.earlier.spend
    lost = unconfirmed(spend)
    return f"before this run of the item: ${spend.cost_usd:.4f}" + (f" ({lost})" if lost else "")


def _grouped(
    state: RunState,
    key_of: Callable[[VisitRecord | FoldedVisits | Lease], tuple[NodeId | None, SubItemKey | None]],
) -> tuple[SpendRow, ...]:
    rows: dict[tuple[NodeId | None, SubItemKey | None], SpendRow] = {}
    amounts = [(visit.index, key_of(visit), visit.spend, 1) for visit in state.visits]
    amounts += [(each.indices[0], key_of(each), each.spend, len(each.indices)) for each in state.folded]
    # By index, as the visits were made: folded ones stand apart from the others in the state.
    amounts.sort(key=itemgetter(0))
    amounts += [(lease.index, key_of(lease), lease.spent, 0) for lease in (*state.leases, *state.given_back)]
    for _, key, spend, ended in amounts:
        node, sub_item = key
        row = rows.get(key) or SpendRow(node=node, sub_item=sub_item, visits=0, unfinished=0, spend=Spend())
        rows[key] = row.model_copy(
            update={
                "visits": row.visits + ended,
                "unfinished": row.unfinished + (ended == 0),
                "spend": row.spend + spend,
            }
        )
    return tuple(rows.values())
