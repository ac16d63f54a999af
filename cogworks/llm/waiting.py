"""What stands around a provider: how long it has been waited for, and what it counts where the estimate would refuse the call."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from cogworks.llm.budget import Estimate, Price
from cogworks.llm.provider import ModelReply, ModelRequest, Provider, Usage
from cogworks.telling import During

_LEEWAY = 50
"""A provider calls its count an estimate; one part of so many is added to it."""


@runtime_checkable
class Counts(Protocol):
    """A provider that counts the input tokens of a request without answering it."""

    def count(self, request: ModelRequest) -> int | None:
        """None: it could not be asked. Never raises for that."""


def counted_by(provider: Provider, request: ModelRequest) -> int | None:
    """The input tokens of a request as a provider counts them; None where it does not, or could not be asked."""
    return provider.count(request) if isinstance(provider, Counts) else None


def by_count(provider: Provider, request: ModelRequest, price: Price, need: Estimate) -> Estimate | None:
    """What a call needs at most by the provider's count; None where that is not known, or no less than by the estimate."""
    counted = counted_by(provider, request)
    if counted is None:
        return None
    tokens = counted + -(-counted // _LEEWAY)
    # What goes on is written into the provider's cache, which costs more than plain input.
    read = Usage(cache_creation_input_tokens=tokens) if request.goes_on else Usage(input_tokens=tokens)
    usage = read.model_copy(update={"output_tokens": request.max_output_tokens})
    estimate = Estimate(tokens=tokens + request.max_output_tokens, cost_usd=price.cost_of(usage))
    is_less = estimate.tokens < need.tokens or estimate.cost_usd < need.cost_usd
    return estimate if is_less else None


STALL_S = 300.0
"""Without anything of a reply, before it is given up."""


@dataclass(frozen=True)
class Waits:
    """How long one waits for whom, and how."""

    sleep: Callable[[float], None]
    """Waits so many seconds."""
    jitter: Callable[[], float]
    """0.0 to 1.0, drawn anew at every call; shortens a wait by up to a quarter."""
    left_s: Callable[[], float | None] = lambda: None
    """What is left of the caller's time; nobody waits longer for a reply. None: no limit."""
    stall_s: float = STALL_S
    """How long one waits for the next part of a reply; lines that only keep a connection alive are none."""
    heard: Callable[[int], None] = lambda _: None
    """Gets with each part how many bytes the model has said so far."""
    now: Callable[[], float] = time.monotonic
    """Seconds that only run forward."""


LONGEST_S = 3600.0
"""What is said where the caller has no limit of its own."""
_BYTES_PER_TOKEN = 4


class Heard:
    """How much of the reply that is waited for has come, and whether it is asked for at this moment."""

    def __init__(
        self, silence_s: float | None = None, *, sleep: Callable[[float], None] | None = None
    ) -> None:
        """Args:
        silence_s: without a word after which the wait ends, whatever its limit; None: nobody ends it for that.
        sleep: waits so many seconds; None: as the clock does.
        """
        self.said_bytes = 0
        self._silence_s = silence_s
        self._limit_s: float | None = None
        self._sleep = sleep or time.sleep
        self._pause_s: float | None = None

    def begin(self, limit_s: float) -> None:
        """Another reply is waited for, at most so long."""
        self.said_bytes, self._limit_s = 0, limit_s

    def __call__(self, said_bytes: int) -> None:
        self.said_bytes = said_bytes

    def pause(self, seconds: float) -> None:
        """Wait until a provider is asked again that was busy."""
        self._pause_s = seconds
        try:
            self._sleep(seconds)
        finally:
            self._pause_s = None

    def words(self) -> str:
        """Empty where nothing is known."""
        if self._pause_s is not None:
            return f"it could not answer; it is asked again after a pause of {self._pause_s:.0f} s"
        if self.said_bytes:
            return f"about {self.said_bytes // _BYTES_PER_TOKEN:,} tokens so far"
        if self._silence_s is None:
            return ""
        # What comes after the limit of the wait itself never comes.
        is_first = self._limit_s is None or self._silence_s < self._limit_s
        return f"no word yet; {self._silence_s:.0f} s of silence end it" if is_first else "no word yet"


class AnnouncingProvider:
    """Answers as another provider, and announces each question while its answer is waited for."""

    def __init__(
        self,
        provider: Provider,
        during: During,
        *,
        heard: Heard | None = None,
        left_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Args:
        heard: gets what the other provider reports of each part of a reply.
        """
        self._provider = provider
        self._during = during
        self._heard = heard or Heard()
        self._left_s = left_s

    def complete(self, request: ModelRequest) -> ModelReply:
        """As the other provider does, its waits for a server that is busy included."""
        left_s = self._left_s()
        limit_s = LONGEST_S if left_s is None else left_s
        self._heard.begin(limit_s)
        with self._during(f"waiting for {request.model}", limit_s, self._heard.words):
            return self._provider.complete(request)

    def count(self, request: ModelRequest) -> int | None:
        """As the other provider does; a count is no question."""
        return counted_by(self._provider, request)
