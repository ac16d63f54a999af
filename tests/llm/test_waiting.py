"""Whoever waits for a model is told so."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from cogworks.errors import TryAgainLater
from cogworks.llm.provider import ModelReply, ModelRequest, Usage
from cogworks.llm.waiting import LONGEST_S, AnnouncingProvider, Heard
from cogworks.telling import During, unknown
from tests.asked import question

REQUEST = question()
REPLY = ModelReply(text="{}", stop_reason="end_turn", usage=Usage(), model="local")


class Answering:
    """Answers, or fails; what is told meanwhile is known to it."""

    def __init__(self, told: list[str], error: Exception | None = None) -> None:
        self.told, self.error = told, error

    def complete(self, request: ModelRequest) -> ModelReply:
        self.told.append("asked")
        if self.error:
            raise self.error
        return REPLY


def into(told: list[str]) -> During:
    @contextmanager
    def during(what: str, limit_s: float, so_far: Callable[[], str] = unknown) -> Iterator[None]:
        told.append(f"{what}, at most {limit_s:.0f} s{so_far()}")
        try:
            yield
        finally:
            told.append(f"over{so_far()}")

    return during


@pytest.mark.parametrize(("left_s", "limit_s"), [(90.0, 90), (None, LONGEST_S)])
def test_a_question_is_told_of_with_its_model_and_its_limit(left_s: float | None, limit_s: float) -> None:
    told: list[str] = []

    reply = AnnouncingProvider(Answering(told), into(told), left_s=lambda: left_s).complete(REQUEST)

    assert reply == REPLY
    assert told == [f"waiting for {REQUEST.model}, at most {limit_s:.0f} s", "asked", "over"]


def test_a_question_that_fails_is_over_as_well() -> None:
    told: list[str] = []
    busy = TryAgainLater("busy")

    with pytest.raises(TryAgainLater, match="busy"):
        AnnouncingProvider(Answering(told, busy), into(told)).complete(REQUEST)

    assert told[-1] == "over"


def test_what_has_come_of_a_reply_is_told_and_forgotten_with_the_next_question() -> None:
    told: list[str] = []
    heard = Heard()
    asking = AnnouncingProvider(Answering(told), into(told), heard=heard)

    asking.complete(REQUEST)
    heard(8000)
    assert heard.words() == "about 2,000 tokens so far"
    asking.complete(REQUEST)

    assert told.count(f"waiting for {REQUEST.model}, at most {LONGEST_S:.0f} s") == 2


def test_before_the_first_word_the_silence_that_ends_the_wait_is_named() -> None:
    heard = Heard(silence_s=300)

    assert heard.words() == "no word yet; 300 s of silence end it"
    heard(8000)
    assert heard.words() == "about 2,000 tokens so far"


def test_while_a_provider_wants_to_be_left_alone_that_is_told_and_how_long() -> None:
    told: list[str] = []
    heard = Heard(silence_s=300, sleep=lambda _: told.append(heard.words()))

    heard.pause(7.4)

    assert told == ["it could not answer; it is asked again after a pause of 7 s"]
    assert heard.words() == "no word yet; 300 s of silence end it"


@pytest.mark.parametrize(
    ("left_s", "words"),
    [(1799.0, "no word yet"), (2400.0, "no word yet"), (2401.0, "no word yet; 2400 s of silence end it")],
)
def test_a_silence_that_the_limit_of_the_wait_comes_before_is_not_named(left_s: float, words: str) -> None:
    told: list[str] = []
    heard = Heard(silence_s=2400)

    AnnouncingProvider(Answering(told), into(told), heard=heard, left_s=lambda: left_s).complete(REQUEST)

    assert told[-1] == f"over{words}"
