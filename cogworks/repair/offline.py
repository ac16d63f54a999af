"""Stands where a model would: what can be done without one is done, and the first request for a change ends the run."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from cogworks.errors import InvalidReply
from cogworks.repair.proposing import Request
from cogworks.repair.replies import DiffReply

Reply = TypeVar("Reply", bound=BaseModel)


class NobodyAsked(InvalidReply):
    """There is no model, so there is no answer and will be none."""


class Nobody:
    """Answers nothing; obeys `planning.Model` and `proposing.Proposer`."""

    def __init__(self, reason: str) -> None:
        """Args:
        reason: why nobody is asked, for people.
        """
        self._reason = reason

    def ask(
        self, prompt: str, variables: Mapping[str, Any], reply_type: type[Reply], *, purpose: str
    ) -> Reply:
        del variables, reply_type, purpose
        raise NobodyAsked(f"{prompt}: {self._reason}")

    def propose(self, request: Request) -> Sequence[DiffReply]:
        del request
        raise NobodyAsked(f"no model was asked for a change: {self._reason}")
