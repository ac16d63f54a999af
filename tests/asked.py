"""The one way in which tests make a question to a model."""

from typing import Any

from cogworks.llm.provider import Message, ModelRequest
from cogworks.llm.schemas import full_schema, reduced_schema
from cogworks.nodes.registry import REPLIES

MODEL = "claude-sonnet-5-5"


def question(
    *turns: str,
    system: str = "Be brief.",
    schema: dict[str, Any] | None = None,
    max_output_tokens: int = 100,
    model: str = MODEL,
    purpose: str = "p",
    goes_on: bool = False,
) -> ModelRequest:
    """A question of these turns, the user's first; without any it is `Hallo, Ö!`."""
    said = turns or ("Hallo, Ö!",)
    return ModelRequest(
        model=model,
        system=system,
        messages=tuple(
            Message(role="assistant" if place % 2 else "user", text=text) for place, text in enumerate(said)
        ),
        output_schema={"title": "T", "type": "object"} if schema is None else schema,
        max_output_tokens=max_output_tokens,
        purpose=purpose,
        goes_on=goes_on,
    )


def corrected(system: str = "Be brief.", stem: str = "planning") -> ModelRequest:
    """A question of a node that goes on after a first answer."""
    schema = reduced_schema(full_schema(REPLIES[stem]))
    return question("Plan, Ö!", "{}", "Again.", system=system, schema=schema, purpose=f"{stem}-1")
