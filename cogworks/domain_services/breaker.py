"""When is a service not worth asking any more?"""

from typing import Self

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
