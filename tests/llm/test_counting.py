"""A provider's own count is asked for where the estimate alone would refuse a call, and nowhere else."""

import time
from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest

from cogworks.errors import BudgetReached
from cogworks.llm.budget import Budget, shipped_prices
from cogworks.llm.gateway import Gateway, ModelSettings
from cogworks.llm.promptlog import PromptLog
from cogworks.llm.prompts import shipped_prompts
from cogworks.llm.provider import Provider
from cogworks.llm.providers import http_door
from cogworks.llm.providers.anthropic import AnthropicProvider
from cogworks.llm.waiting import AnnouncingProvider
from cogworks.telling import in_silence
from tests.llm.test_gateway import Number
from tests.model_server import Answer, ModelServer, replied

QUESTION = {"number": "Pick a number.\n--- user ---\n{{ text }}\n"}
LONG = "word " * 3_000
"""About 3000 tokens, 5000 by the estimate."""
COUNT = Answer(200, b'{"input_tokens": 3100}')
FOUND = replied('{"value": 7}')


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def ask(
    server: ModelServer,
    *,
    tokens: int,
    wrapped: Callable[[Provider], Provider] = lambda each: each,
    usd: str = "9",
) -> int:
    with AnthropicProvider("k", sleep=lambda _: None, jitter=float, base_url=server.url) as provider:
        gateway = Gateway(
            wrapped(provider),
            shipped_prompts(QUESTION),
            ModelSettings(model="claude-sonnet-5-5", max_output_tokens=1_000),
            prices=shipped_prices(),
            budget=Budget(limit_tokens=tokens, limit_usd=Decimal(usd)),
        )
        found = gateway.ask("number", {"text": LONG}, Number, purpose="p")
        assert gateway.budget.reserved_tokens == 0
        return found.value


def paths(server: ModelServer) -> list[str]:
    return [seen.path for seen in server.seen]


def test_a_call_that_fits_by_the_estimate_costs_no_request_more(server: ModelServer) -> None:
    server.answers(FOUND)

    assert ask(server, tokens=20_000) == 7
    assert paths(server) == ["/v1/messages"]


@pytest.mark.parametrize(
    "wrapped",
    [lambda each: each, PromptLog, lambda each: AnnouncingProvider(each, in_silence)],
    ids=["plain", "log", "told"],
)
def test_a_call_that_fits_only_by_the_count_is_made(
    server: ModelServer, wrapped: Callable[[Provider], Provider]
) -> None:
    server.answers(COUNT, FOUND)

    assert ask(server, tokens=5_000, wrapped=wrapped) == 7
    assert paths(server) == ["/v1/messages/count_tokens", "/v1/messages"]
    counted, asked = (seen.body for seen in server.seen)
    assert counted == {name: value for name, value in asked.items() if name not in {"max_tokens", "stream"}}


def test_dollars_are_counted_as_well(server: ModelServer) -> None:
    # 3162 tokens at 2 and 1000 at 10 dollars per million are 0.016324.
    server.answers(COUNT, FOUND, COUNT)

    assert ask(server, tokens=90_000, usd="0.016324") == 7
    with pytest.raises(BudgetReached, match=r"this call needs up to 0\.016324"):
        ask(server, tokens=90_000, usd="0.016323")


def test_a_call_that_does_not_fit_by_the_count_either_is_refused_with_what_it_needs(
    server: ModelServer,
) -> None:
    server.answers(COUNT)

    with pytest.raises(BudgetReached, match="this call needs up to 4162"):
        ask(server, tokens=4_161)
    assert paths(server) == ["/v1/messages/count_tokens"]


def late(_: object) -> Answer:
    time.sleep(0.4)
    return COUNT


@pytest.mark.parametrize(
    "answer",
    [
        Answer(500, b"{}"),
        Answer(404, b"no"),
        Answer(200, b"no"),
        Answer(200, b'{"input_tokens": -1}'),
        None,
        late,
    ],
    ids=["500", "404", "no-json", "negative", "hang-up", "late"],
)
def test_where_nobody_counts_the_estimate_decides(
    server: ModelServer, answer: Answer | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_door, "BRIEFLY_S", 0.2)
    server.answers(answer)

    with pytest.raises(BudgetReached, match="this call needs up to"):
        ask(server, tokens=5_000)
    assert paths(server) == ["/v1/messages/count_tokens"]
