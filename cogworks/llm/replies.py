"""Does a reply fit what was asked for, what exactly is wrong with it, and how does a cut one come to its end?"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from cogworks.canonical import canonical_text
from cogworks.errors import InvalidReply
from cogworks.llm.provider import Message, ModelReply, ModelRequest

if TYPE_CHECKING:
    import jsonschema

MAX_PROBLEMS = 20
"""So many are shown to the model at once; a reply with more is wrong in kind, not in detail."""
MAX_PROBLEM_CHARS = 300
MAX_SHOWN_CHARS = 80
"""Of a value that does not fit."""

_BLANK = " \t\r\n\ufeff"
_FENCED = re.compile(r"(?P<fence>```+|~~~+)[A-Za-z0-9]*[ \t]*\r?\n(?P<text>.*)\n[ \t]*(?P=fence)", re.DOTALL)
_NUL, _BACKSLASH = "\\u0000", "\\\\"
"""In JSON."""

Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True)
class Fits(Generic[Reply]):
    """The typed reply."""

    value: Reply


@dataclass(frozen=True)
class Misfits:
    """Every problem found, in the reply's own order, each one line."""

    problems: tuple[str, ...]


def read_reply(text: str, schema: Mapping[str, Any], reply_type: type[Reply]) -> Fits[Reply] | Misfits:
    """Check a reply against its JSON Schema first, then against the typed model. Never raises.

    What `reply_value` leaves out does no harm; whatever else is wrong is a problem to report.
    """
    try:
        value = reply_value(text)
    except ValueError as error:
        return Misfits((f"the reply is not one JSON value: {error}",))
    problems = schema_problems(value, schema)
    if problems:
        return Misfits(problems)
    try:
        return Fits(reply_type.model_validate_json(canonical_text(value)))
    except ValidationError as error:
        return Misfits(_limited(_model_problems(error)))


def reply_value(text: str) -> Any:
    """The value of a reply, around which blanks, a byte order mark, and one fence around the whole may stand.

    Prose around it is a problem: nobody could say which of its values was meant.

    Raises: ValueError when it holds NUL, and as `parse_json`.
    """
    bare = text.strip(_BLANK)
    fenced = _FENCED.fullmatch(bare)
    value = parse_json(fenced["text"].strip(_BLANK) if fenced else bare)
    # Behind a backslash that stands for itself, the same letters are what source code says of NUL.
    if _NUL in canonical_text(value).replace(_BACKSLASH, ""):
        raise ValueError("it holds NUL, which no text has")
    return value


def parse_json(text: str) -> Any:
    """The value of a JSON text.

    Raises: ValueError when it is not JSON, holds NaN, an infinity or half a surrogate pair, names a key twice
    or is nested too deeply to read.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object)
        canonical_text(value).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it holds half a surrogate pair, which is no character") from None
    return value


def schema_problems(value: object, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Where a value does not fit a JSON Schema, in the order of the value's fields; empty when it fits."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema)
    errors = sorted(
        validator.iter_errors(value), key=lambda error: [str(step) for step in error.absolute_path]
    )
    return _limited(f"{error.json_path}: {_problem(error)}" for error in errors)


def _problem(error: "jsonschema.ValidationError") -> str:
    """What is wrong with a value; a long one is cut, for what is said of it stands behind it."""
    shown = repr(error.instance)
    if not error.message.startswith(shown):
        return str(error.message)
    rest = error.message.removeprefix(shown)
    if error.validator == "maxLength":
        rest += f": {len(str(error.instance))} characters, and {error.validator_value} are the most"
    return f"{shown if len(shown) <= MAX_SHOWN_CHARS else f'{shown[:MAX_SHOWN_CHARS]}…'}{rest}"


def _model_problems(error: ValidationError) -> Iterable[str]:
    for each in error.errors(include_url=False, include_context=False):
        yield f"{_json_path(each['loc'])}: {each['msg']}"


def _json_path(steps: Iterable[int | str]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)


def _limited(problems: Iterable[str]) -> tuple[str, ...]:
    listed = [" ".join(problem.split()) for problem in problems]
    short = [line if len(line) <= MAX_PROBLEM_CHARS else f"{line[:MAX_PROBLEM_CHARS]}…" for line in listed]
    more = len(short) - MAX_PROBLEMS
    return (*short[:MAX_PROBLEMS], f"and {more} more") if more > 0 else tuple(short)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"key {twice[0]!r} stands twice in one object")
    return value


MAX_CONTINUATIONS = 3
CUT = "max_tokens"
FINISHED = frozenset({"end_turn", "stop_sequence"})
"""Stop reasons after which the text is whole."""
_GO_ON = (
    "Your answer reached its length limit and was cut off. Go on exactly where it ends, in the middle of a word if need be. "
    "Repeat nothing, begin nothing anew, and put nothing before or after it: what you wrote and what you write now are "
    "read as one text."
)
_FENCED_MORE = re.compile(r"\s*```\w*\r?\n(?P<text>.*?)(\n?```\s*)?", re.DOTALL)


def can_go_on(reply: ModelReply) -> bool:
    """Whether the rest of a reply can be asked for; one that only thought has nothing to go on from."""
    return reply.stop_reason == CUT and bool(reply.text.strip())


def continuation(request: ModelRequest, reply: str, place: int) -> ModelRequest:
    """The request for what comes behind `reply`.

    Args:
        place: how often the answer was cut, from 1.
    """
    turns = (Message(role="assistant", text=reply), Message(role="user", text=_GO_ON))
    return request.model_copy(
        update={
            "messages": (*request.messages, *turns),
            "output_schema": {},
            "purpose": f"{request.purpose}-more{place}",
        }
    )


def joined(reply: str, more: str) -> str:
    """One text of two. A fence around the rest is left out: no JSON goes on with one and a line break."""
    fenced = _FENCED_MORE.fullmatch(more)
    return reply + (fenced["text"] if fenced else more)


def refuse_unfinished(reply: ModelReply, request: ModelRequest) -> None:
    """Raise `InvalidReply` where a reply is no finished answer, with what to do about it."""
    if reply.stop_reason in FINISHED:
        return
    if reply.stop_reason == CUT:
        why = (
            f"reached {request.max_output_tokens} output tokens and could not be brought to an end; raise "
            "`[llm] max_output_tokens` or split the issue"
        )
    elif reply.stop_reason == "refusal":
        why = "declined to answer; look at the issue's text, reword it and retry"
    elif reply.stop_reason == "model_context_window_exceeded":
        why = "filled its context window; split the issue or choose a model with a larger window"
    else:
        why = f"stopped with {reply.stop_reason!r} instead of finishing; retry, or choose another model"
    raise InvalidReply(f"{request.purpose}: {reply.model} {why}. The call is paid for and counted.")
