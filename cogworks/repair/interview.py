"""All questions of one repair as one growing conversation, in which nothing is said twice."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from cogworks.canonical import canonical_text
from cogworks.errors import InvalidReply
from cogworks.llm.conversation import Conversation, Looks
from cogworks.llm.gateway import Gateway, LookLimits
from cogworks.repair.replies import PATCH_REPLIES

Reply = TypeVar("Reply", bound=BaseModel)
MAX_UNUSABLE = 2
"""Questions running without a usable answer, after which no further one is paid for."""
_PARTS = ("failures", "tests", "windows", "evidence", "kept", "reasons")
"""Variables of questions that are lists of things; each of them is sent once."""
_WHOLE = ("suspects",)
"""Those that are sent again whenever anything in them has changed: their order says something."""


class ModelUnusable(InvalidReply):
    """The model was asked twice running and nothing it said could be used."""


class Interview:
    """Asks about one repair; obeys `cogworks.repair.planning.Model`. Not for several threads at once."""

    def __init__(self, gateway: Gateway, looks: Looks, limits: LookLimits) -> None:
        """Args:
        looks: who shows more of the repository before an answer.
        limits: of all looks of the repair together.
        """
        self._gateway = gateway
        self._looks = looks
        self._limits = limits
        self._talk: Conversation[Any] | None = None
        self._sent: set[str] = set()
        self._asked: set[str] = set()
        self._unusable = 0
        self._problem = ""
        """What was wrong with the last unusable answer."""

    def ask(
        self, prompt: str, variables: Mapping[str, Any], reply_type: type[Reply], *, purpose: str
    ) -> Reply:
        """The answer to a further question. Probes are asked about in a conversation of their own.

        Raises: InvalidReply when nothing usable comes, ModelUnusable when nothing will; BudgetReached before a call that
        could cost too much.
        """
        if self._unusable >= MAX_UNUSABLE:
            raise ModelUnusable(
                f"{prompt}: not asked, since {MAX_UNUSABLE} questions running had no usable answer; the last: {self._problem}"
            )
        try:
            reply = self._answer(prompt, variables, reply_type, purpose)
        except InvalidReply as error:
            self._unusable += 1
            self._problem = str(error)
            if self._unusable < MAX_UNUSABLE:
                raise
            raise ModelUnusable(str(error)) from error
        self._unusable = 0
        return reply

    def _answer(
        self, prompt: str, variables: Mapping[str, Any], reply_type: type[Reply], purpose: str
    ) -> Reply:
        if prompt not in PATCH_REPLIES:
            return self._gateway.ask(prompt, variables, reply_type, purpose=purpose)
        if self._talk is None:
            others = [each for each in PATCH_REPLIES.values() if each is not reply_type]
            talk = self._gateway.converse(
                prompt,
                self._news(variables),
                reply_type,
                looks=self._looks,
                limits=self._limits,
                others=others,
            )
        else:
            talk = self._talk.turned(
                prompt, self._news(variables), reply_type, is_known=prompt in self._asked
            )
        self._asked.add(prompt)
        self._talk = talk
        return talk.answer(purpose=purpose)

    def _news(self, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The variables without what was sent before."""
        news = dict(variables)
        for name in _PARTS:
            if name in news:
                news[name] = [each for each in news[name] if self._is_new(name, each)]
        for name in _WHOLE:
            if name in news and not self._is_new(name, news[name]):
                news[name] = []
        return news

    def _is_new(self, name: str, value: Any) -> bool:
        key = f"{name} {canonical_text(value)}"
        is_new = key not in self._sent
        self._sent.add(key)
        return is_new
