"""Which function answers which field, and which GraphQL type a value of the hub is."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cogworks.hub.graphql.request import Request
from cogworks.hub.records import Event, Issue, User
from cogworks.hub.refusals import Forbidden, Refusal

S = TypeVar("S")
F = TypeVar("F", bound=Callable[..., object])

Answer = Callable[..., object]
"""Called with the value the field is read from, the request, and the field's arguments by their snake_case names."""
Readers = Mapping[str, Callable[[S, Request], object]]
"""Field -> how it is read from a value of class `S`."""
InputFields = dict[str, Any]
"""The `input` of a mutation: snake_case names; what the client left out is absent."""


@dataclass(slots=True)
class Table:
    """The fields that one module answers."""

    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)

    def plain(
        self, types: str, source: type[S], readers: Mapping[str, Callable[[S, Request], object]]
    ) -> None:
        """Answer fields without arguments.

        Args:
            types: names of GraphQL types, separated by blanks.
            source: the class of the value the fields are read from.
        """
        del source  # it only tells the type checker what the readers read
        self.all_of(types, readers)

    def all_of(self, types: str, readers: Mapping[str, Callable[[Any, Request], object]]) -> None:
        """As `plain`, for readers whose type was declared where they were written (`Readers`)."""
        for type_name in types.split():
            for name, reader in readers.items():
                self._add(type_name, name, reader)

    def field(self, types: str, name: str) -> Callable[[F], F]:
        """Answer one field of some types (separated by blanks) with the decorated function."""

        def register(function: F) -> F:
            for type_name in types.split():
                self._add(type_name, name, function)
            return function

        return register

    def mutation(
        self, name: str
    ) -> Callable[[Callable[[Request, InputFields], Mapping[str, object]]], Answer]:
        """Answer one mutation with a function of the request and the mutation's input, which returns the payload."""

        def register(function: Callable[[Request, InputFields], Mapping[str, object]]) -> Answer:
            def answer(_root: object, request: Request, **arguments: Any) -> Mapping[str, object]:
                fields: InputFields = arguments["input"]
                request.forget()
                try:
                    payload = function(request, fields)
                except Refusal as refusal:
                    raise _worded(refusal, request, name) from refusal
                request.forget()
                return {"clientMutationId": fields.get("client_mutation_id"), **payload}

            self._add("Mutation", name, answer)
            return answer

        return register

    def _add(self, type_name: str, name: str, answer: Answer) -> None:
        if (type_name, name) in self.answers:
            raise ValueError(f"{type_name}.{name} is answered twice")
        self.answers[type_name, name] = answer

    def __iter__(self) -> Iterator[tuple[tuple[str, str], Answer]]:
        return iter(self.answers.items())


def _worded(refusal: Refusal, request: Request, mutation: str) -> Refusal:
    """The refusal in GraphQL's words where REST's say less: a missing role names person and mutation."""
    if isinstance(refusal, Forbidden) and str(refusal).startswith("Must have"):
        name = mutation[0].upper() + mutation[1:]
        return Forbidden(
            f"{request.actor.caller} does not have the correct permissions to execute `{name}`: {refusal}"
        )
    return refusal


_EVENT_TYPES = {"renamed": "RenamedTitleEvent"}
"""Kinds of events whose type is not named after them."""


def typename(value: Any) -> str:
    """GraphQL's name of the concrete type of a record or git object."""
    if isinstance(value, User):
        return value.kind
    if isinstance(value, Issue):
        return "Issue" if value.pull is None else "PullRequest"
    if isinstance(value, Event):
        return event_type(value.kind)
    return str(value.type_name)


def event_type(kind: str) -> str:
    """`labeled` -> `LabeledEvent`, `head_ref_deleted` -> `HeadRefDeletedEvent`."""
    return _EVENT_TYPES.get(kind) or "".join(part.capitalize() for part in kind.split("_")) + "Event"


def item_type(type_name: str) -> str:
    """The name under which `timelineItems(itemTypes:)` selects a type: `LabeledEvent` -> `LABELED_EVENT`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type_name).upper()
