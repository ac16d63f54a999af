"""How long a service may take and how often it is asked.

When is a service not worth asking any more?
"""

from collections.abc import Mapping
from typing import Self

from pydantic import Field

from cogworks.domain_services.operations import (
    HANDSHAKE_LIMIT_S,
    OPERATIONS,
    PREPARE_LIMIT_S,
    TEST_LIMIT_S,
    USUAL_LIMIT_S,
)
from cogworks.vocabulary import Value

USUAL_LIMIT = 3


class Breaker(Value):
    """Counts calls that failed one after another; each had its retries already.

    An open breaker stays open for as long as the client lives, which is one step: the next step asks afresh.
    """

    limit: int = USUAL_LIMIT
    failures: int = 0
    last: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the service is left alone."""
        return self.failures >= self.limit

    def failed(self, reason: str) -> Self:
        """After one more call that failed."""
        return self.model_copy(update={"failures": self.failures + 1, "last": reason})

    def answered(self) -> Self:
        """After a call that was answered, be it with a refusal."""
        return self.model_copy(update={"failures": 0, "last": ""})


TEST_METHODS = ("simulate", "coverage", "trace", "beside")
"""The operations that run tests."""
_SHORTEST_S = 0.01


def within(limit_s: float, left_s: float | None) -> float:
    """A limit, or what is left where that is less; never zero, which a socket takes for something else."""
    return limit_s if left_s is None else max(_SHORTEST_S, min(limit_s, left_s))


class Limits(Value):
    """Seconds for each operation, attempts, and consecutive failures until the service is left alone."""

    start_s: float = 30.0
    """Until a started process accepts a connection."""
    handshake_s: float = HANDSHAKE_LIMIT_S
    simulate_s: float = TEST_LIMIT_S
    """Of everything that runs tests."""
    prepare_s: float = PREPARE_LIMIT_S
    other_s: float = USUAL_LIMIT_S
    methods: Mapping[str, float] = Field(default_factory=dict)
    """Method -> seconds, where it differs."""
    grace_s: float = 30.0
    """Beyond the time of a test run, for the service to report what it has."""
    attempts: int = 3
    """Every operation is idempotent, so an answer that was lost may be asked for again."""
    pause_s: float = 0.5
    """Before the second attempt; doubled before each further one."""
    breaker_failures: int = USUAL_LIMIT

    def of(self, method: str) -> float:
        """How long the operation itself may take."""
        if method in self.methods:
            return self.methods[method]
        if method == "handshake":
            return self.handshake_s
        if method == "prepare":
            return self.prepare_s
        return self.simulate_s if method in TEST_METHODS else self.other_s

    def wait_s(self, method: str) -> float:
        """How long to wait for the answer."""
        return self.of(method) + (self.grace_s if runs_tests(method) or method == "prepare" else 0.0)


def runs_tests(method: str) -> bool:
    """Whether the operation carries a time limit of its own in its parameters."""
    return method in TEST_METHODS and method in OPERATIONS
