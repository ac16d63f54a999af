"""How does one question become one typed reply, within its budget?"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel, Field

from cogworks.canonical import canonical_text, sha256
from cogworks.errors import BudgetReached, InvalidReply, TryAgainLater
from cogworks.llm.budget import (
    Account,
    Budget,
    Dollars,
    Estimate,
    Price,
    PriceList,
    Secures,
    Tokens,
    estimate,
)
from cogworks.llm.conversation import Conversation, Looks, Wanted, never_fitted, turn_schema, with_looks
from cogworks.llm.prompts import Prompt, Prompts, as_json, explained, marks
from cogworks.llm.provider import BrokenReply, Message, ModelReply, ModelRequest, Provider, Usage
from cogworks.llm.replies import (
    MAX_CONTINUATIONS,
    Fits,
    can_go_on,
    continuation,
    joined,
    read_reply,
    refuse_unfinished,
)
from cogworks.llm.schemas import Schema, full_schema, reduced_schema
from cogworks.llm.waiting import by_count
from cogworks.vocabulary import Value

Reply = TypeVar("Reply", bound=BaseModel)


STREAM_TRIES = 3
"""How often a question is asked whose reply breaks off after it began; each time is a call within the budget."""


class ModelSettings(Value):
    """Which model answers, and how much it may say."""

    model: str
    fallback_model: str = ""
    """Who is asked from then on where the model is overloaded; empty: nobody."""
    max_output_tokens: int = Field(default=16_000, gt=0)
    """Thinking counts too."""
    repair_rounds: int = Field(default=2, ge=0, le=2)
    """How often a reply that does not fit is sent back; every round is a paid call."""


class PromptManifest(Value):
    """What a prompt was made of: enough to prove later which words were sent."""

    template: str
    template_sha256: str
    system_sha256: str
    messages_sha256: str
    """Of the canonical JSON of the whole conversation."""
    schema_sha256: str
    shown: tuple[dict[str, Any], ...] = ()
    """The files of the repository in the first prompt of a conversation: path, level, tokens, score and reasons of each."""
    contaminated: tuple[str, ...] = ()
    """Texts in the conversation that give orders to a model: what each is, and the kinds of orders."""


class ReplyRecord(Value):
    """One paid reply, as the ledger keeps it."""

    request_key: str
    purpose: str
    """As asked, with `-repair<n>` in a repair round."""
    reply: ModelReply
    cost_usd: Dollars
    manifest: PromptManifest


class Meter(Value):
    """What asking has cost."""

    calls: Tokens = 0
    """Paid calls, repair rounds included."""
    reused: Tokens = 0
    """Replies taken from an earlier attempt, at no cost."""
    input_tokens: Tokens = 0
    """Cached input included."""
    output_tokens: Tokens = 0
    cost_usd: Dollars = Decimal(0)

    def __add__(self, other: "Meter") -> "Meter":
        return Meter(
            calls=self.calls + other.calls,
            reused=self.reused + other.reused,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
        )

    @classmethod
    def of_call(cls, usage: Usage, cost_usd: Decimal) -> "Meter":
        """One paid call."""
        return cls(
            calls=1, input_tokens=usage.total_input, output_tokens=usage.output_tokens, cost_usd=cost_usd
        )


@dataclass(frozen=True)
class LookLimits:
    """What the looks of one visit may take together."""

    max_turns: int
    max_input_tokens: int
    """Of the whole visit; beyond it nobody may look any more."""


NO_LOOKS = LookLimits(0, 0)


class Gateway:
    """Asks the model; the node's `Asks`. Several threads may ask at once, each in a conversation of its own."""

    def __init__(
        self,
        provider: Provider,
        prompts: Prompts,
        settings: ModelSettings,
        *,
        prices: PriceList,
        budget: Budget,
        secure: Secures = lambda *_: None,
        memory: Mapping[str, ModelReply] | None = None,
        on_reply: Callable[[ReplyRecord], None] = lambda _: None,
    ) -> None:
        """Args:
            secure: as for `Account`.
            memory: request key -> reply already paid for by an earlier attempt of this visit.
            on_reply: called after every paid reply and before it is judged, so that a crash pays it only once;
                what it raises ends the question.

        Raises: ConfigurationError when a model has no price.
        """
        self._provider = provider
        self._prompts = prompts
        self._settings = settings
        models = (settings.model, settings.fallback_model)
        self._prices = {model: prices.price_of(model) for model in models if model}
        self._is_overloaded = False
        self._account = Account(budget, secure=secure)
        self._books = threading.RLock()
        self._memory = memory or {}
        self._on_reply = on_reply
        self._meters: dict[str, Meter] = {}
        self.input_read = 0
        """Input tokens of this visit, those of replayed replies included."""
        self.turns_used = 0
        """Turns of looks in this visit, those of replayed replies included."""

    @property
    def model(self) -> str:
        """Who is asked."""
        return self._settings.model

    @property
    def budget(self) -> Budget:
        """What is left now."""
        return self._account.budget

    @property
    def meter(self) -> Meter:
        """What all questions have cost."""
        return sum(self._meters.values(), Meter())

    def digest(self, prompt: str) -> str:
        """What names the words of a template; see `Prompts.digest`."""
        return self._prompts.digest(prompt)

    def ask(
        self, prompt: str, variables: Mapping[str, Any], reply_type: type[Reply], *, purpose: str
    ) -> Reply:
        """One question, repaired at most `repair_rounds` times.

        Args:
            prompt: stem of a template; it may also use `output_schema`, the full JSON Schema as text.
            purpose: names records and files; stable between runs, unique within the run.

        Raises: InvalidReply when no round fits or the model stopped early; BudgetReached before a call that
        could exceed the budget; ConfigurationError for a faulty template or reply type; what the provider raises.
        """
        schema = full_schema(reply_type)
        question = self._prompts.render(prompt, {"output_schema": as_json(schema), **variables})
        request = self._request(question, reduced_schema(schema), purpose)
        problems: tuple[str, ...] = ()
        for repair in range(1, self._settings.repair_rounds + 2):
            reply = self._whole(request, question, asked_for=purpose)
            verdict = read_reply(reply.text, schema, reply_type)
            if isinstance(verdict, Fits):
                return verdict.value
            problems = verdict.problems
            request = self._repair_of(request, reply.text, problems, purpose=f"{purpose}-repair{repair}")
        raise InvalidReply(
            never_fitted(purpose, self._settings.model, self._settings.repair_rounds, problems)
        )

    def converse(
        self,
        prompt: str,
        variables: Mapping[str, Any],
        reply_type: type[Reply],
        *,
        looks: Looks | None = None,
        limits: LookLimits = NO_LOOKS,
        shown: Sequence[Mapping[str, Any]] = (),
        others: Sequence[type[BaseModel]] = (),
    ) -> Conversation[Reply]:
        """A conversation that begins with a question; nobody is asked yet.

        Args:
            prompt, variables: as for `ask`.
            looks: who shows more of the repository; None: nobody.
            limits: of all looks of the visit together.
            shown: what of the repository the question shows, for the record of each reply.
            others: forms of answers to further questions of the same conversation, which needs somebody who looks.

        Raises: ConfigurationError for a faulty template or reply type.
        """
        schema = full_schema(reply_type)
        question = self._prompts.render(prompt, {"output_schema": as_json(schema), **variables})
        turns = _Turns(self, limits)
        # Without a turn left the question says so; the form of a series stays one.
        looks = looks if turns.left() or others else None
        form = turn_schema(schema, looks.schema, *map(full_schema, others)) if looks else schema
        question = with_looks(question, looks, turns.left())
        opening = self._request(question, reduced_schema(form), prompt, goes_on=True)
        opening = opening.model_copy(update={"shown": tuple(dict(each) for each in shown)})

        def send(request: ModelRequest, asked_for: str) -> ModelReply:
            return self._whole(request, question, asked_for=asked_for)

        return Conversation(
            send,
            opening,
            Wanted(reply_type, schema),
            prompts=self._prompts,
            repair_rounds=self._settings.repair_rounds,
            looks=looks,
            turns=turns,
        )

    def _request(
        self, question: Prompt, schema: Schema, purpose: str, *, goes_on: bool = False
    ) -> ModelRequest:
        return ModelRequest(
            model=self._settings.model,
            system=question.system.text,
            messages=(Message(role="user", text=question.user),),
            goes_on=goes_on,
            output_schema=schema,
            max_output_tokens=self._settings.max_output_tokens,
            purpose=purpose,
        )

    def _repair_of(
        self, request: ModelRequest, text: str, problems: tuple[str, ...], *, purpose: str
    ) -> ModelRequest:
        complaint = self._prompts.render_part(
            "_repair", {"problems": "\n".join(f"- {line}" for line in problems)}
        )
        # Providers refuse an empty turn, and an empty reply is one of the things to repair.
        reply = Message(role="assistant", text=text if text.strip() else "(empty reply)")
        question = explained(complaint, [each.text for each in request.messages if each.role == "user"])
        messages = (*request.messages, reply, Message(role="user", text=question))
        return request.model_copy(update={"messages": messages, "purpose": purpose})

    def _whole(self, request: ModelRequest, question: Prompt, *, asked_for: str) -> ModelReply:
        """A finished reply, gone on with where it reached its length limit."""
        reply = self._answer(request, question, asked_for=asked_for)
        text, place = reply.text, 0
        while can_go_on(reply) and place < MAX_CONTINUATIONS:
            place += 1
            reply = self._answer(continuation(request, text, place), question, asked_for=asked_for)
            text = joined(text, reply.text)
        refuse_unfinished(reply, request)
        return reply.model_copy(update={"text": text})

    def _answer(self, request: ModelRequest, question: Prompt, *, asked_for: str) -> ModelReply:
        """The reply that is paid for already, or that of the model, or that of the fallback where it is overloaded."""
        other = request.model_copy(update={"model": self._settings.fallback_model or request.model})
        known = self._memory.get(request.key) or self._memory.get(other.key)
        if known is not None:
            with self._books:
                self._count(asked_for, Meter(reused=1))
                self.input_read += known.usage.total_input
            return known
        if self._is_overloaded:
            return self._bought(other, question, asked_for=asked_for)
        try:
            return self._bought(request, question, asked_for=asked_for)
        except TryAgainLater as error:
            if not error.is_overload or other == request:
                raise
        self._is_overloaded = True
        return self._bought(other, question, asked_for=asked_for)

    def _bought(self, request: ModelRequest, question: Prompt, *, asked_for: str) -> ModelReply:
        tries = 0
        while True:
            tries += 1
            reply, cost_usd, broken = self._pay(request)
            self._book(reply, cost_usd, request, question, asked_for=asked_for)
            if broken is None:
                return reply
            if tries == STREAM_TRIES or not broken.is_retryable:
                raise broken.error from broken

    def _book(
        self, reply: ModelReply, cost_usd: Decimal, request: ModelRequest, question: Prompt, *, asked_for: str
    ) -> None:
        record = ReplyRecord(
            request_key=request.key,
            purpose=request.purpose,
            reply=reply,
            cost_usd=cost_usd,
            manifest=_manifest(request, question),
        )
        # One after the other: the keeper of the records numbers them.
        with self._books:
            self.input_read += reply.usage.total_input
            self._count(asked_for, Meter.of_call(reply.usage, cost_usd))
            self._on_reply(record)

    def _pay(self, request: ModelRequest) -> tuple[ModelReply, Decimal, BrokenReply | None]:
        """The reply, or the part of it that came, and what that cost."""
        price = self._prices[request.model]
        need = self._reserved(request, price)
        broken: BrokenReply | None = None
        try:
            reply = self._provider.complete(request)
        except BrokenReply as error:
            reply, broken = error.partial, error
        except BaseException:
            self._account.release(need)
            raise
        cost_usd = price.cost_of(reply.usage)
        self._account.settle(need, cost_usd, reply.usage.total_input + reply.usage.output_tokens)
        return reply, cost_usd, broken

    def _reserved(self, request: ModelRequest, price: Price) -> Estimate:
        """What is set aside for a call: by the estimate, or by the provider's count where that alone fits."""
        need = estimate(request, price)
        try:
            self._account.reserve(need, purpose=request.purpose)
        except BudgetReached:
            if (counted := by_count(self._provider, request, price, need)) is None:
                raise
            need = counted
            self._account.reserve(need, purpose=request.purpose)
        return need

    def _count(self, purpose: str, cost: Meter) -> None:
        self._meters[purpose] = self._meters.get(purpose, Meter()) + cost


def _manifest(request: ModelRequest, question: Prompt) -> PromptManifest:
    messages = [message.model_dump(mode="json") for message in request.messages]
    return PromptManifest(
        template=question.source,
        template_sha256=question.template_sha256,
        system_sha256=sha256(request.system),
        messages_sha256=sha256(canonical_text(messages)),
        schema_sha256=sha256(canonical_text(request.output_schema)),
        shown=request.shown if len(request.messages) == 1 else (),
        contaminated=marks(message.text for message in request.messages if message.role == "user"),
    )


class _Turns:
    """What is left of a visit's looks. Tokens of replayed replies count like paid ones, so that a take-over decides the same."""

    def __init__(self, gateway: Gateway, limits: LookLimits) -> None:
        self._gateway = gateway
        self._limits = limits

    def left(self) -> int:
        if self._gateway.input_read >= self._limits.max_input_tokens:
            return 0
        return max(0, self._limits.max_turns - self._gateway.turns_used)

    def use(self) -> None:
        self._gateway.turns_used += 1
