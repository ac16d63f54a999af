"""One growing conversation: a question, looks at the repository, corrections, and at last an answer; nothing said is ever changed."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from cogworks.errors import InvalidReply
from cogworks.llm.prompts import Prompt, Prompts, as_json, explained
from cogworks.llm.provider import Message, ModelReply, ModelRequest
from cogworks.llm.replies import Fits, Misfits, read_reply, reply_value, schema_problems
from cogworks.llm.schemas import Schema, full_schema
from cogworks.llm.tries import Edits, are_edits, completed, going_on_from, numbers_of

Reply = TypeVar("Reply", bound=BaseModel)
Other = TypeVar("Other", bound=BaseModel)
MAX_LOOKS = 8
"""Of one turn."""
MAX_CONVERSATION_BYTES = 450_000
"""About 150 000 tokens. Beyond it the oldest results of looks are replaced by one line each, but for the last two."""
_KEPT_RESULTS = 2
_CUT = "(What these looks gave was shown here and is cut to make room. Look again if you need it.)"


class Looks(Protocol):
    """Answers what a model wants to see before it decides."""

    @property
    def schema(self) -> Schema:
        """The JSON Schema of one look, without references."""

    @property
    def guide(self) -> str:
        """Which looks there are and what each gives, for the model."""

    def carry_out(self, looks: Sequence[Mapping[str, Any]]) -> str:
        """What came of some looks, in their order; never raises for anything a model can write."""


class Turns(Protocol):
    """How many turns of looks a visit has left."""

    def left(self) -> int: ...
    def use(self) -> None: ...


@dataclass(frozen=True)
class Wanted(Generic[Reply]):
    """The form of an answer."""

    reply_type: type[Reply]
    schema: Schema
    """The full schema of the answer alone."""


def turn_schema(answer: Mapping[str, Any], look: Mapping[str, Any], *others: Mapping[str, Any]) -> Schema:
    """The schema of a turn: looks or the answer; the definitions of the answer move to the top.

    Args:
        others: of further answers that the conversation may ask for later; a schema that stays the same keeps what is cached.
    """
    answers = (answer, *others)
    plain = [
        {key: value for key, value in each.items() if key not in ("$defs", "$schema")} for each in answers
    ]
    definitions = {name: value for each in (*answers, look) for name, value in each.get("$defs", {}).items()}
    return {
        "$schema": answer.get("$schema", ""),
        "$defs": definitions,
        "title": f"{answer.get('title', 'Answer')}OrLooks",
        "type": "object",
        "properties": {
            "looks": {
                "type": "array",
                "items": {key: value for key, value in look.items() if key != "$defs"},
                "maxItems": MAX_LOOKS,
                "description": "What you want to see before you answer, in this order; empty when you answer.",
            },
            "answer": {
                "anyOf": [*plain, {"type": "null"}],
                "description": "Your answer; null while you look.",
            },
        },
        "required": ["looks", "answer"],
        "additionalProperties": False,
    }


@dataclass(frozen=True)
class Turn(Generic[Reply]):
    """What a reply is: looks, an answer, or neither of them."""

    looks: tuple[Mapping[str, Any], ...] = ()
    answer: Reply | None = None
    problems: tuple[str, ...] = ()


def read_turn(
    text: str, wanted: Wanted[Reply], looks: Mapping[str, Any] | None, tries: Sequence[Edits] = ()
) -> Turn[Reply]:
    """What a reply says, with the edits of earlier tries where it names them by number. Never raises.

    An answer that comes without its envelope counts: what is meant is beyond doubt.

    Args:
        looks: the schema of a look; None: there are none to be had.
        tries: the edits of each `try` of the conversation so far.
    """
    if looks is None:
        return _answered(read_reply(text, wanted.schema, wanted.reply_type))
    try:
        value = reply_value(text)
    except ValueError as error:
        return Turn(problems=(f"the reply is not one JSON value: {error}",))
    if not isinstance(value, dict) or not value.keys() & {"looks", "answer"}:
        return _answer_of(value, text, wanted, tries)
    return _enveloped(value, wanted, looks, tries)


def _answer_of(value: object, text: str, wanted: Wanted[Reply], tries: Sequence[Edits]) -> Turn[Reply]:
    """Args:
    text: the value as it was written, where it was not inside of another one.
    """
    if not isinstance(value, dict) or not value.get("tried") or not are_edits(value.get("edits", [])):
        return _answered(read_reply(text, wanted.schema, wanted.reply_type))
    try:
        edits = going_on_from(value["tried"], value.get("edits", []), tries)
    except LookupError as error:
        return Turn(problems=(f"$.tried: {error}",))
    return _answered(read_reply(json.dumps({**value, "edits": edits}), wanted.schema, wanted.reply_type))


def _enveloped(
    value: Mapping[str, Any], wanted: Wanted[Reply], look: Mapping[str, Any], tries: Sequence[Edits]
) -> Turn[Reply]:
    looks, answer = value.get("looks") or [], value.get("answer")
    if not isinstance(looks, list):
        return Turn(problems=("$.looks: has to be a list",))
    if answer is not None and looks:
        return Turn(
            problems=("there are looks and an answer; give one of them: `answer` null, or `looks` empty",)
        )
    if answer is not None:
        return _answer_of(answer, json.dumps(answer), wanted, tries)
    if not looks:
        return Turn(problems=("there is neither a look nor an answer; give one of them",))
    if len(looks) > MAX_LOOKS:
        return Turn(problems=(f"$.looks: {len(looks)} looks, and {MAX_LOOKS} are the most of one turn",))
    problems = tuple(
        f"$.looks[{place}]: {problem}"
        for place, each in enumerate(looks)
        for problem in schema_problems(each, look)
    )
    return Turn(problems=problems) if problems else Turn(looks=tuple(looks))


def _answered(verdict: Fits[Reply] | Misfits) -> Turn[Reply]:
    return Turn(answer=verdict.value) if isinstance(verdict, Fits) else Turn(problems=verdict.problems)


class Conversation(Generic[Reply]):
    """One series of questions about one thing. Not for several threads at once."""

    def __init__(
        self,
        send: Callable[[ModelRequest, str], ModelReply],
        opening: ModelRequest,
        wanted: Wanted[Reply],
        *,
        prompts: Prompts,
        repair_rounds: int,
        looks: Looks | None,
        turns: Turns,
    ) -> None:
        """Args:
        send: what asks the model, given the request and whom it is counted for.
        opening: the question with nothing said yet.
        """
        self._send = send
        self._opening = opening
        self._wanted = wanted
        self._prompts = prompts
        self._repair_rounds = repair_rounds
        self._looks = looks
        self._turns = turns
        self._said: tuple[Message, ...] = opening.messages
        self._results: tuple[int, ...] = ()
        """Places of the results of looks among what was said."""
        self._tries: tuple[Edits, ...] = ()
        """The edits of each `try` so far, those included that it went on from."""

    def fork(self) -> "Conversation[Reply]":
        """Another conversation with the same beginning; what is said in one, the other does not hear."""
        return self._going_on(self._wanted)

    def turned(
        self, prompt: str, variables: Mapping[str, Any], reply_type: type[Other], *, is_known: bool = False
    ) -> "Conversation[Other]":
        """This conversation with a further question, whose answer has a form of its own; it is this one that ends.

        Args:
            prompt: the stem of the question's template; its system section is said with it.
            reply_type: one of those that the conversation was begun with.
            is_known: the same was asked before, so that its system section need not be said again.
        """
        schema = full_schema(reply_type)
        question = self._prompts.render(prompt, {"output_schema": as_json(schema), **variables})
        text = question.user if is_known else f"{question.system.task}\n\n{question.user}"
        if self._looks is not None:
            text = f"{text}\n\n{_left_to_look(self._turns.left())}"
        self._add("user", text)
        return self._going_on(Wanted(reply_type, schema))

    def _going_on(self, wanted: Wanted[Other]) -> "Conversation[Other]":
        other = Conversation(
            self._send, self._opening, wanted, prompts=self._prompts, repair_rounds=self._repair_rounds,
            looks=self._looks, turns=self._turns,
        )  # fmt: skip
        other._said, other._results, other._tries = self._said, self._results, self._tries
        return other

    def tell(self, part: str, variables: Mapping[str, Any]) -> None:
        """Say something before the next answer.

        Args:
            part: the stem of a template part, e.g. `_correction`.
        """
        self._add("user", self._prompts.render_part(part, variables))

    def answer(self, *, purpose: str) -> Reply:
        """The answer, after as many looks as there are turns for, and at most `repair_rounds` corrections of form.

        Raises: InvalidReply when no round fits; what `send` raises.
        """
        looked = repaired = 0
        name = purpose
        while True:
            reply = self._send(self._request(name), purpose)
            self._add("assistant", reply.text if reply.text.strip() else "(empty reply)")
            schema = self._looks.schema if self._looks else None
            turn = read_turn(reply.text, self._wanted, schema, self._tries)
            if turn.answer is not None:
                return turn.answer
            if turn.looks and self._turns.left() > 0 and self._looks is not None:
                looked += 1
                name = f"{purpose}-look{looked}"
                self._turns.use()
                before = len(self._tries)
                asked, self._tries = completed(turn.looks, self._tries)
                self._show(f"{self._looks.carry_out(asked)}{numbers_of(self._tries, before)}")
                continue
            problems = turn.problems or ("there are no turns left to look: answer now with what you know",)
            if repaired == self._repair_rounds:
                raise InvalidReply(never_fitted(purpose, self._opening.model, repaired, problems))
            repaired += 1
            name = f"{purpose}-repair{repaired}"
            listed = "\n".join(f"- {line}" for line in problems)
            self._add("user", self._prompts.render_part("_repair", {"problems": listed}))

    def _show(self, results: str) -> None:
        self._results = (*self._results, len(self._said))
        self._add("user", f"{results}\n\n{_left_to_look(self._turns.left())}")

    def _add(self, role: str, text: str) -> None:
        last = self._said[-1]
        if role == "user":
            text = explained(text, [each.text for each in self._said if each.role == "user"])
        if role == "user" and last.role == "user" and len(self._said) > 1:
            # Providers want the two to take turns; the opening stays as it is, for others may share it.
            message = Message(role="user", text=f"{last.text}\n\n{text}")
            self._said = (*self._said[:-1], message)
            return
        self._said = (*self._said, Message(role="user" if role == "user" else "assistant", text=text))

    def _request(self, purpose: str) -> ModelRequest:
        self._said = shortened(self._said, self._results)
        return self._opening.model_copy(update={"messages": self._said, "purpose": purpose})


def shortened(messages: tuple[Message, ...], results: Sequence[int]) -> tuple[Message, ...]:
    """A conversation that fits: the oldest results of looks are cut to one line until it does, the last two stay."""
    size = sum(len(message.text.encode()) for message in messages)
    kept = list(messages)
    for place in results[:-_KEPT_RESULTS]:
        if size <= MAX_CONVERSATION_BYTES:
            break
        size -= len(kept[place].text.encode()) - len(_CUT)
        kept[place] = Message(role="user", text=_CUT)
    return tuple(kept)


def with_looks(question: Prompt, looks: Looks | None, turns_left: int) -> Prompt:
    """The question together with how to look, where that is possible: how at the beginning, how often at the end."""
    if looks is None or turns_left <= 0:
        return question
    user = f"{question.user}\n\nYou have {turns_left} turn(s) to look."
    return question.model_copy(update={"system": replace(question.system, guide=looks.guide), "user": user})


def _left_to_look(turns: int) -> str:
    if turns:
        return f"You may look in {turns} more turn(s)."
    return "There are no turns left to look. Answer now with what you know."


def never_fitted(purpose: str, model: str, rounds: int, problems: Sequence[str]) -> str:
    """What to say of a question whose replies never had the form that was asked for."""
    listed = "\n".join(f"  - {problem}" for problem in problems)
    return (
        f"{purpose}: no reply of {model} fitted its schema, not even after {rounds} repair round(s). The last one has "
        f"{len(problems)} problem(s):\n{listed}\nRetry, or choose a stronger model under `[llm] model`."
    )
