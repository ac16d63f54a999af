"""What the status comment says of money: what the item is expected to cost, how far the budget is used up, what is spent."""

from collections.abc import Iterator

from cogworks.pipeline.expected import ShortOfARound, expected_here, short_of_a_round
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.limits import budget_key, max_cost_usd, share_spent
from cogworks.pipeline.spend import Expected, Spend, Sum, unconfirmed
from cogworks.pipeline.state import RunState

_TOKENS_KEY = "`budgets.pipeline_max_tokens` in `.cogworks/config.toml`"


def expected_lines(state: RunState, facts: Facts, pipeline: Pipeline) -> list[str]:
    """What the item is expected to cost, on what that rests, and the most it can cost; said while the run goes on."""
    expected = expected_here(state)
    if state.status != "running" or expected is None:
        return []
    said = " ".join([_told(expected), *_other_lane(state, facts)])
    most = Sum(usd=max_cost_usd(facts, pipeline), tokens=facts.max_tokens)
    return [f"**Expected cost:** {said} It can cost {_amount(most)} at most."]


def budget_lines(state: RunState, facts: Facts, pipeline: Pipeline) -> list[str]:
    """How far the budget is used up, and whether it has no room for another round; said while the run goes on."""
    share, short = share_spent(state, facts, pipeline), short_of_a_round(state, facts, pipeline)
    if state.status != "running" or not (share or short):
        return []
    said = [f"at least {share} % of it is spent"] if share else []
    if short:
        keys = " and ".join(_keys(short, facts, pipeline))
        said.append(f"{_short(short)}; raise {keys}, or a rework may stop half-way")
    return [f"**Budget** (${max_cost_usd(facts, pipeline):.2f}): {'; '.join(said)}."]


def cost_so_far(state: RunState, facts: Facts, pipeline: Pipeline) -> str:
    """What the item has cost, against its limits."""
    spent = state.spent
    tokens = spent.input_tokens + spent.output_tokens
    before = state.earlier.spend
    earlier = f" · ${before.cost_usd:.4f}{_lost(before)} before in this item" if before.cost_usd else ""
    return (
        f"**Cost so far:** ${spent.cost_usd:.4f}{_lost(spent)} of ${max_cost_usd(facts, pipeline):.2f} · {tokens:,} of {facts.max_tokens:,} tokens "
        f"· {spent.model_calls} model calls{earlier}"
    )


def _told(expected: Expected) -> str:
    about, lane = f"about {_amount(expected.whole)}", f"`{expected.pipeline}`"
    # Of one item there is no range.
    if expected.items == 1:
        return f"{about}, as the one item that has ended on {lane} here."
    if expected.items:
        between = f"${expected.lowest_usd:.2f} to ${expected.highest_usd:.2f}"
        return (
            f"{about}, the median of the last {expected.items} items that ended on {lane} here ({between})."
        )
    part = (
        f", and {_amount(expected.part)} for each sub-work-item after the first"
        if expected.part.tokens
        else ""
    )
    return (
        f"{about} where nothing is sent back{part}. No item has ended on {lane} here yet: this rests on {expected.questions} questions "
        f"that show up to {expected.shown_tokens:,} tokens of the repository each, and what a model asks to see besides comes on top."
    )


def _other_lane(state: RunState, facts: Facts) -> Iterator[str]:
    """Before Intake is done nobody knows which of two lanes it will be; what is divided costs what its parts will."""
    if facts.lane == "auto" and not state.kind:
        for each in state.expected:
            if each.pipeline not in (state.pipeline, "large"):
                yield f"Should Intake choose `{each.pipeline}`: about {_amount(each.whole)}."


def _short(short: ShortOfARound) -> str:
    dear = (
        [f"${short.round.usd:.2f}, and ${short.left.usd:.2f} is left"]
        if short.round.usd > short.left.usd
        else []
    )
    if short.round.tokens > short.left.tokens:
        dear.append(f"{short.round.tokens:,} tokens, and {short.left.tokens:,} are left")
    if short.is_expected:
        return f"a round of rework may cost {'; '.join(dear)} beside what the item is expected to cost"
    return f"another round may cost as much as the dearest so far, {'; '.join(dear)}"


def _keys(short: ShortOfARound, facts: Facts, pipeline: Pipeline) -> Iterator[str]:
    if short.round.usd > short.left.usd:
        yield budget_key(facts, pipeline)
    if short.round.tokens > short.left.tokens:
        yield _TOKENS_KEY


def _amount(worth: Sum) -> str:
    return f"${worth.usd:.2f} and {worth.tokens:,} tokens"


def _lost(spend: Spend) -> str:
    lost = unconfirmed(spend)
    return f" ({lost})" if lost else ""
