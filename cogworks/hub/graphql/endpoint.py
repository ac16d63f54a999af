"""What `POST /graphql` answers."""

from collections.abc import Mapping
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    execute_sync,
    get_operation_ast,
    parse,
)

from cogworks.hub.actions.access import Actor
from cogworks.hub.graphql import answers
from cogworks.hub.graphql.limits import measure, missing_variables, problems
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.schema import official_schema
from cogworks.hub.refusals import RateLimited
from cogworks.hub.world import World


def warm(*, with_extensions: bool = True) -> None:
    """Build the schema now, so that the first request does not wait for it."""
    official_schema(with_extensions=with_extensions)


def execute(
    world: World,
    actor: Actor,
    document: str,
    variables: Mapping[str, Any] | None = None,
    operation_name: str | None = None,
    *,
    with_extensions: bool = True,
) -> dict[str, Any]:
    """Execute one document on behalf of `actor`; the answer is the body of an HTTP 200.

    A refused field is an entry of `errors` with `type`, `path` and `locations`; what else the document asked for is
    in `data`. Mutations run one after the other, each is done or not done, and a failed one stops none that follow.

    Args:
        with_extensions: False for a server without the fields that the published schema lacks.
    """
    schema = official_schema(with_extensions=with_extensions)
    values = dict(variables or {})
    try:
        parsed, faults = _checked(schema, document)
    except GraphQLError as error:
        return answers.of_request_error(error)
    if faults:
        return {"errors": faults}
    operation = get_operation_ast(parsed, operation_name)
    if operation is None:
        return answers.of_request_error(GraphQLError(_no_operation(parsed, operation_name)))
    faults = missing_variables(operation, values)
    if faults:
        return {"errors": faults}
    size = measure(schema, parsed, operation, values)
    if size.excesses:
        return answers.of_excesses(size.excesses)
    try:
        world.limits.spend(actor.caller, "graphql", size.cost)
    except RateLimited as refusal:
        return answers.refusal(refusal)
    request = Request(world=world, actor=actor, measure=size)
    is_query = operation.operation is OperationType.QUERY
    # A query sees one state of the store; mutations take the lock one by one, so that others may come between.
    with world.reading() if is_query else nullcontext():
        result = execute_sync(
            schema, parsed, context_value=request, variable_values=values, operation_name=operation_name
        )
    return answers.of_result(result)


def answer(
    world: World, actor: Actor, body: Mapping[str, Any], *, with_extensions: bool = True
) -> dict[str, Any]:
    """As `execute`, for the JSON object that a client posted: `query`, `variables` and `operationName`."""
    document, variables = body.get("query"), body.get("variables")
    if not isinstance(document, str):
        return {"errors": [{"message": "A query attribute must be specified and must be a string."}]}
    if variables is not None and not isinstance(variables, Mapping):
        return {"errors": [{"message": "Variables must be a JSON object."}]}
    given = body.get("operationName")
    name = given if isinstance(given, str) else None
    return execute(world, actor, document, variables, name, with_extensions=with_extensions)


@lru_cache(maxsize=512)
def _checked(schema: GraphQLSchema, document: str) -> tuple[DocumentNode, list[dict[str, Any]]]:
    """The document and what is wrong with it; clients send few different documents very often."""
    parsed = parse(document)
    return parsed, problems(schema, parsed)


def _no_operation(document: DocumentNode, name: str | None) -> str:
    if name is not None:
        return f'No operation named "{name}"'
    is_any = any(isinstance(definition, OperationDefinitionNode) for definition in document.definitions)
    return (
        "An operation name is required"
        if is_any
        else "A query attribute must be specified and must be a string."
    )
