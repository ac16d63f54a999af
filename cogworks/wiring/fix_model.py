"""Which model a repair asks, what that may cost, and why none is asked."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from typing import NamedTuple

from cogworks.errors import PermissionRefused
from cogworks.llm.gateway import Gateway, LookLimits
from cogworks.llm.promptlog import PromptLog
from cogworks.llm.provider import Provider
from cogworks.llm.waiting import AnnouncingProvider, Heard
from cogworks.repair.options import ModelChoice
from cogworks.settings.config import CONFIG_FILE, Config, Environment, child_environment, parse_config
from cogworks.settings.sections import LlmConfig, Price
from cogworks.telling import During
from cogworks.tools.records import redactor_of
from cogworks.wiring.fix_order import Order
from cogworks.wiring.model import gateway_of, open_provider, priced, silence_of, withholding

_NODE = "code_generation"
"""Whose limits a repair has: it asks for code as well."""
NO_MODEL = (
    'no model is named. Give `--config FILE` with\n\n[codegen.model]\nname = "claude-sonnet-5-5"\n\nor set '
    f"`COGWORKS_LLM_MODEL`, or commit a `{CONFIG_FILE}` that says it under `[llm]`."
)
_OWN = "own-client"
_FREE = Price(input=0, output=0, cache_write=0, cache_read=0)
"""What a client of the caller's own costs is the caller's business."""


class Unasked(NamedTuple):
    """Why a repair goes without a model."""

    reason: str
    refusal: PermissionRefused | None = None
    """What kept the model that is configured from being asked."""


class Asked(NamedTuple):
    """The model of a repair, and what it was asked."""

    gateway: Gateway
    log: PromptLog
    limits: LookLimits
    """Of all looks of the repair."""


@contextmanager
def open_model(
    order: Order,
    environment: Environment,
    files: Mapping[str, str],
    provider: Provider | None,
    during: During,
) -> Iterator[Asked | Unasked]:
    """Who is asked, or why nobody is."""
    config = config_of(order.options.model, environment, files, is_given=provider is not None)
    if order.is_offline or config is None:
        yield Unasked("offline mode: no model will be called." if order.is_offline else NO_MODEL)
        return
    with ExitStack() as opened:
        if provider is None:
            try:
                heard = Heard(silence_of(config, environment))
                model = opened.enter_context(open_provider(config, environment, heard=heard))
                provider = AnnouncingProvider(model, during, heard=heard)
                config = priced(config, environment)
            except PermissionRefused as error:
                yield Unasked(str(error), error)
                return
        logging = order.options.logging
        log = PromptLog(
            withholding(provider),
            is_full=logging.prompts == "full",
            max_tokens=logging.max_prompt_tokens,
            redact=redactor_of(child_environment()).text,
        )
        sight = config.sight
        limits = LookLimits(max_turns=sight.turns(_NODE), max_input_tokens=sight.max_tokens)
        yield Asked(gateway_of(within(config, order.max_cost_usd), files, log), log, limits)


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
    parsed = parse_config(text) if text is not None else None
    name = environment.llm_model or choice.name or (parsed.llm.model if parsed else "")
    if not name:
        return Config(llm=LlmConfig(model=_OWN, prices={_OWN: _FREE})) if is_given else None
    config = parsed or Config(llm=LlmConfig(model=name))
    update = {"model": name, "provider": choice.provider or config.llm.provider}
    return config.model_copy(update={"llm": config.llm.model_copy(update=update)})
