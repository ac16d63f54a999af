"""How does an answer that reached its length limit come to its end? Pure.

A schema that binds a reply makes each begin anew, and models accept no answer that somebody began for them; so the rest is
asked for by a further turn without a schema, and the whole text is judged.
"""

import re

from cogworks.llm.provider import Message, ModelReply, ModelRequest

MAX_CONTINUATIONS = 3
CUT = "max_tokens"
_GO_ON = (
    "Your answer reached its length limit and was cut off. Go on exactly where it ends, in the middle of a word if need be. "
    "Repeat nothing, begin nothing anew, and put nothing before or after it: what you wrote and what you write now are "
    "read as one text."
)
_FENCED = re.compile(r"\s*```\w*\r?\n(?P<text>.*?)(\n?```\s*)?", re.DOTALL)


def can_go_on(reply: ModelReply) -> bool:
    """Whether the rest of a reply can be asked for; one that only thought has nothing to go on from."""
    return reply.stop_reason == CUT and bool(reply.text.strip())


def continuation(request: ModelRequest, said: str, place: int) -> ModelRequest:
    """The request for what comes behind `said`.

    Args:
        place: how often the answer was cut, from 1.
    """
    turns = (Message(role="assistant", text=said), Message(role="user", text=_GO_ON))
    return request.model_copy(
        update={
            "messages": (*request.messages, *turns),
            "output_schema": {},
            "purpose": f"{request.purpose}-more{place}",
        }
    )


def joined(said: str, more: str) -> str:
    """One text of two. A fence around the rest is left out: no JSON goes on with one and a line break."""
    fenced = _FENCED.fullmatch(more)
    return said + (fenced["text"] if fenced else more)
