"""The part of the composition root that speaks to a model: provider, prompts, prices and budget of one visit."""

import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from cogworks.errors import UsageError
from cogworks.leaving import in_log_of_actions, secrets_of
from cogworks.llm.budget import Budget, Price, PriceList, Secures, shipped_prices
from cogworks.llm.gateway import Gateway, ModelSettings, ReplyRecord
from cogworks.llm.opening import opening_of
from cogworks.llm.promptlog import PromptLog, line_of
from cogworks.llm.prompts import shipped_prompts
from cogworks.llm.provider import ModelReply, Provider
from cogworks.llm.repository_files import prompts_in
from cogworks.llm.waiting import AnnouncingProvider, Heard, Waits
from cogworks.llm.withholding import Withholding
from cogworks.settings.config import Config, Environment, child_environment
from cogworks.settings.providers import IN_ONE_PIECE
from cogworks.settings.sections import Price as ConfiguredPrice
from cogworks.telling import During
from cogworks.tools.records import redactor_of

if TYPE_CHECKING:
    # A repair of a checkout makes no visit and need not load what one does.
    from cogworks.engine.ports import SessionOrder
    from cogworks.packs.choosing import FrozenPacks

_FREE = ConfiguredPrice(input=0, output=0, cache_write=0, cache_read=0)


def gateway_for(order: "SessionOrder", provider: Provider) -> Gateway:
    """Asks the model within what is left of the budget; what it was asked is kept where `[audit] prompts` wants it."""
    budget = Budget(limit_usd=_exact(order.budget_usd), limit_tokens=order.budget_tokens)
    provider = withholding(provider)
    audit, on_reply = order.config.audit, order.on_reply
    if audit.prompts == "full":
        redact = redactor_of(child_environment()).text
        log = PromptLog(provider, is_full=True, max_tokens=audit.max_prompt_tokens, redact=redact)
        provider, on_reply = log, _keeping(log, order)
    return _gateway(
        order.config,
        order.files,
        provider,
        budget,
        memory=order.memory,
        on_reply=on_reply,
        packs=order.task.packs,
        secure=order.secure,
    )


def withholding(provider: Provider) -> Provider:
    """The provider, whose replies hold no secret, this machine's included, before anybody keeps or uses them."""
    return Withholding(provider, secrets_of(child_environment()))


def _keeping(log: PromptLog, order: "SessionOrder") -> Callable[[ReplyRecord], None]:
    """Keeps the words of each paid question beside its reply, under the request's own name: none is overwritten."""

    def keep(record: ReplyRecord) -> None:
        order.keep(f"prompt-{record.request_key[:16]}.json", line_of(log.records[-1]))
        order.on_reply(record)

    return keep


def gateway_of(config: Config, files: Mapping[str, str], provider: Provider) -> Gateway:
    """Asks the model within the whole budget of one work item.

    Args:
        files: those below `.cogworks`; their prompts go before the built-in ones.
    """
    budgets = config.budgets
    budget = Budget(
        limit_usd=_exact(budgets.pipeline_max_cost_dollars), limit_tokens=budgets.pipeline_max_tokens
    )
    return _gateway(config, files, provider, budget)


def _gateway(
    config: Config,
    files: Mapping[str, str],
    provider: Provider,
    budget: Budget,
    *,
    memory: Mapping[str, ModelReply] | None = None,
    on_reply: Callable[[ReplyRecord], None] = lambda _: None,
    packs: "FrozenPacks | None" = None,
    secure: Secures = lambda *_: None,
) -> Gateway:
    llm = config.llm
    return Gateway(
        provider,
        shipped_prompts(prompts_in(files), knowledge=_knowledge(packs)),
        ModelSettings(
            model=llm.model, fallback_model=llm.fallback_model, max_output_tokens=llm.max_output_tokens
        ),
        prices=prices_of(config),
        budget=budget,
        secure=secure,
        memory=memory,
        on_reply=on_reply,
    )


def _knowledge(packs: "FrozenPacks | None") -> str:
    if packs is None:
        return ""
    from cogworks.packs.telling import knowledge

    return knowledge(packs)


def check_model(config: Config, files: Mapping[str, str], environment: Environment) -> None:
    """Open what every model node opens, and close it again."""
    with open_provider(config, environment):
        shipped_prompts(prompts_in(files))
        prices = prices_of(priced(config, environment))
        for model in config.llm.named:
            prices.price_of(model)


def priced(config: Config, environment: Environment) -> Config:
    """The same configuration, in which models of this machine cost nothing unless they have a price.

    Raises:
        ConfigurationError: the address of the provider cannot be used.
    """
    llm = config.llm
    free = {model: _FREE for model in llm.named if model not in prices_of(config).models}
    if not free or not opening_of(asked(config, environment)).is_local(environment):
        return config
    return config.model_copy(update={"llm": llm.model_copy(update={"prices": {**llm.prices, **free}})})


def asked(config: Config, environment: Environment) -> str:
    """The provider that is asked: the environment's goes first."""
    return environment.llm_provider or config.llm.provider


def prices_of(config: Config) -> PriceList:
    """The built-in prices with the configured ones before them."""
    configured = {
        model: Price.model_validate({name: _exact(usd) for name, usd in price.model_dump().items()})
        for model, price in config.llm.prices.items()
    }
    return shipped_prices().with_configured(configured)


def silence_of(config: Config, environment: Environment) -> float | None:
    """After how many seconds without a word of its server a question ends; None: a reply comes as a whole."""
    return None if asked(config, environment) in IN_ONE_PIECE else config.llm.stall_timeout_s


def announced_while_waiting(during: During) -> Callable[..., AbstractContextManager[Provider]]:
    """As `open_provider`; each question is announced to people while its answer is waited for."""

    @contextmanager
    def opened(
        config: Config, environment: Environment, *, left_s: Callable[[], float | None] = lambda: None
    ) -> Iterator[Provider]:
        heard = Heard(silence_of(config, environment))
        with open_provider(config, environment, left_s=left_s, heard=heard) as provider:
            yield AnnouncingProvider(provider, during, heard=heard, left_s=left_s)

    return opened


@contextmanager
def open_provider(
    config: Config,
    environment: Environment,
    *,
    left_s: Callable[[], float | None] = lambda: None,
    heard: Heard | None = None,
) -> Iterator[Provider]:
    """The provider that environment and configuration name, recorded where `COGWORKS_CASSETTE_MODE` wants it.

    Args:
        left_s: how long its replies may take at this moment; None: as long as they take.
        heard: gets how many bytes have come of the reply that is waited for, where the provider streams it, and waits where the
            provider is busy.

    Raises:
        PermissionRefused: its key is missing.
        ConfigurationError: its key or its address cannot be used.
        UsageError: there is no such provider, or nothing can be recorded.
    """
    name, heard = asked(config, environment), heard or Heard()
    waits = Waits(heard.pause, random.random, left_s, config.llm.stall_timeout_s, heard)

    def ask() -> AbstractContextManager[Provider]:
        # What is recorded needs neither a key nor the library of the provider.
        return opening_of(name).open(config.llm, environment, waits)

    match environment.cassette_mode:
        case "":
            with ask() as provider:
                yield provider
        case "record":
            from cogworks.llm.providers.cassette import RecordingProvider

            folder = _recorded_into(environment, name)
            with ask() as provider:
                yield RecordingProvider(provider, folder, redact=redactor_of(child_environment()).text)
        case "replay-or-record":
            from cogworks.llm.providers.cassette import ReplayingProvider

            folder = _recorded_into(environment, name)
            with ExitStack() as stack:
                redact = redactor_of(child_environment()).text
                yield ReplayingProvider(
                    lambda: stack.enter_context(ask()), folder, redact=redact, say=_on_standard_error
                )
        case other:
            raise UsageError(
                f"`COGWORKS_CASSETTE_MODE` is {other!r}; set it to record, replay or replay-or-record."
            )


def _on_standard_error(text: str) -> None:
    sys.stderr.write(f"{in_log_of_actions(text)}\n")


def _recorded_into(environment: Environment, provider: str) -> Path:
    """Where replies are recorded. Raises: UsageError when nobody would be asked, or no place is named."""
    mode = environment.cassette_mode
    if provider == "cassette":
        raise UsageError(
            f"`COGWORKS_CASSETTE_MODE` is {mode!r}, and there is nobody to ask: the provider is `cassette`. Name the one "
            "whose replies are to be recorded in `COGWORKS_LLM_PROVIDER`."
        )
    if not environment.cassette_dir:
        raise UsageError(
            f"`COGWORKS_CASSETTE_MODE` is {mode!r}; name the directory to record into in `COGWORKS_CASSETTE_DIR`."
        )
    if os.pathsep in environment.cassette_dir:
        raise UsageError(
            f"`COGWORKS_CASSETTE_MODE` is {mode!r}, and `COGWORKS_CASSETTE_DIR` names several; name the one to record into."
        )
    return Path(environment.cassette_dir)


def _exact(amount: float) -> Decimal:
    return Decimal(str(amount))
