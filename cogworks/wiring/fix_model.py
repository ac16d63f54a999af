"""Which model a repair asks, and what it may cost."""

from collections.abc import Mapping
from decimal import Decimal

from cogworks.repair.options import ModelChoice
from cogworks.settings.config import Config, Environment, parse_config
from cogworks.settings.sections import LlmConfig, Price

_OWN = "own-client"
_FREE = Price(input=0, output=0, cache_write=0, cache_read=0)
"""What a client of the caller's own costs is the caller's business."""


def within(config: Config, max_cost_usd: Decimal | None) -> Config:
    """The configuration with a budget of at most so much."""
    budgets, most = config.budgets, config.budgets.pipeline_max_cost_dollars
    if max_cost_usd is None or float(max_cost_usd) >= most:
        return config
    lower = budgets.model_copy(update={"pipeline_max_cost_dollars": float(max_cost_usd)})
    return config.model_copy(update={"budgets": lower})


def config_of(
    choice: ModelChoice, environment: Environment, files: Mapping[str, str], *, is_given: bool
) -> Config | None:
    """The configuration with the model that is named, by the environment first; None when none is.

    Args:
        is_given: whether the caller brings a client of its own, which needs neither a name nor a price.
    """
    text = files.get("config.toml")
    found = parse_config(text) if text is not None else None
    name = environment.llm_model or choice.name or (found.llm.model if found else "")
    if not name:
        return Config(llm=LlmConfig(model=_OWN, prices={_OWN: _FREE})) if is_given else None
    config = found or Config(llm=LlmConfig(model=name))
    update = {"model": name, "provider": choice.provider or config.llm.provider}
    return config.model_copy(update={"llm": config.llm.model_copy(update=update)})
