"""How a result and its errors are written in GitHub's answer."""

from collections.abc import Sequence
from typing import Any

from graphql import ExecutionResult, GraphQLError, SourceLocation, get_location

from cogworks.hub.graphql.limits import Excess
from cogworks.hub.refusals import Refusal, Unprocessable

_NULL_REFUSED = "Cannot return null for non-nullable field"


def of_result(result: ExecutionResult) -> dict[str, Any]:
    """The body for an executed document: `data`, and `errors` where fields failed.

    Raises:
        Exception: a resolver failed in a way that is no refusal; that is a fault of the hub, not an answer.
    """
    body: dict[str, Any] = {"data": result.data}
    if result.errors:
        body["errors"] = [_of_error(error) for error in result.errors]
    return body


def _of_error(error: GraphQLError) -> dict[str, Any]:
    cause = error.original_error
    answer: dict[str, Any] = {}
    message = error.message
    if isinstance(cause, Refusal):
        answer["type"] = cause.graphql_type
        message = cause.detail if isinstance(cause, Unprocessable) else str(cause)
    elif cause is not None and not isinstance(cause, GraphQLError) and not message.startswith(_NULL_REFUSED):
        raise cause
    if error.path is not None:
        answer["path"] = list(error.path)
    answer["locations"] = _places(error.locations or ())
    return {**answer, "message": message}


def of_request_error(error: GraphQLError) -> dict[str, Any]:
    """The body for a document that is not GraphQL, or names no operation that is there."""
    return {"errors": [{"message": error.message, "locations": _places(error.locations or ())}]}


def of_excesses(excesses: Sequence[Excess]) -> dict[str, Any]:
    """The body for a document that asks for too much; nothing of it was executed."""
    return {"data": None, "errors": [_of_excess(excess) for excess in excesses]}


def _of_excess(excess: Excess) -> dict[str, Any]:
    place = excess.node.loc
    locations = [] if place is None else [get_location(place.source, place.start)]
    return {
        "type": excess.type,
        "path": list(excess.path),
        "locations": _places(locations),
        "message": excess.message,
    }


def refusal(cause: Refusal) -> dict[str, Any]:
    """The body for a request that is refused as a whole."""
    return {"errors": [{"type": cause.graphql_type, "message": str(cause)}]}


def _places(locations: Sequence[SourceLocation]) -> list[dict[str, int]]:
    return [{"line": place.line, "column": place.column} for place in locations]
