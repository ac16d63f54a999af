"""What a run is expected to cost: looked up once, before its first model call, and said before it begins where that leaves no
room for a round of rework."""

from collections.abc import Sequence
from dataclasses import replace

from cogworks.engine.consider import Considered
from cogworks.engine.ports import StepPorts
from cogworks.llm.budget import PriceList
from cogworks.llm.provider import Usage
from cogworks.nodes.shown import SHARES
from cogworks.pipeline.decision import Run
from cogworks.pipeline.elements import Node
from cogworks.pipeline.expected import asking_nodes, from_history, from_questions
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.limits import calls_model
from cogworks.pipeline.worth import Expected, ItemCost, Sum
from cogworks.settings.config import Config

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
