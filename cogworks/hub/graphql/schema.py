"""GitHub's schema with every field wired to what answers it."""

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import Any

from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    GraphQLUnionType,
    build_schema,
)
from graphql.pyutils import camel_to_snake

from cogworks.hub.graphql import scalars
from cogworks.hub.graphql.catalogue import ANSWERS
from cogworks.hub.graphql.connections import Connection, connect
from cogworks.hub.graphql.kinds import typename
from cogworks.hub.graphql.limits import is_connection
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.tables import Answer
from cogworks.hub.refusals import Refusal

Info = GraphQLResolveInfo[Request]


class NoAnswer(Refusal):
    """A field that must not be null and of which the hub knows nothing."""

    graphql_type = "NOT_IMPLEMENTED"


@cache
def official_schema(*, with_extensions: bool) -> GraphQLSchema:
    """The wired schema; built once per process, in about half a second.

    Args:
        with_extensions: whether the fields are there that github.com has and older GitHub Enterprise Servers lack.
    """
    folder = resources.files("cogworks.hub") / "schema"
    text = (folder / "github-schema.graphql").read_text(encoding="utf-8")
    if with_extensions:
        text += (folder / "github-extensions.graphql").read_text(encoding="utf-8")
    with _without_collections():
        schema = build_schema(text, assume_valid=True, no_location=True)
        scalars.install(schema)
        wire(schema, ANSWERS)
    return schema


@contextmanager
def _without_collections() -> Iterator[None]:
    """Nothing of a schema is garbage, and looking for some in between would take as long as building it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def wire(schema: GraphQLSchema, known: Mapping[tuple[str, str], Answer]) -> None:
    """Give every field of `schema` its resolver; a field that nothing is known of gets the policy of `_absent`."""
    for named in schema.type_map.values():
        if named.name.startswith("__"):
            continue
        if isinstance(named, GraphQLObjectType):
            for name, field in named.fields.items():
                answer = known.get((named.name, name)) or _shared(named.name, name)
                field.resolve = _absent(named.name, name, field) if answer is None else _resolver(answer)
        if isinstance(named, GraphQLObjectType | GraphQLInterfaceType):
            _snake_case(argument for field in named.fields.values() for argument in field.args.items())
        elif isinstance(named, GraphQLInputObjectType):
            _snake_case(named.fields.items())
        if isinstance(named, GraphQLInterfaceType | GraphQLUnionType):
            named.resolve_type = _resolve_type


_PAGES: Mapping[str, Mapping[str, Answer]] = {
    "Connection": {
        "nodes": lambda page, _: page.nodes,
        "edges": lambda page, _: page.edges,
        "pageInfo": lambda page, _: page.page_info,
        "totalCount": lambda page, _: len(page.items),
    },
    "Edge": {"node": lambda edge, _: edge.node, "cursor": lambda edge, _: edge.cursor},
}
"""What all connections and their edges have in common."""


def _shared(type_name: str, name: str) -> Answer | None:
    """How a field is answered that means the same on every connection or edge."""
    return next((fields.get(name) for suffix, fields in _PAGES.items() if type_name.endswith(suffix)), None)


def _resolve_type(value: Any, _info: Info, _abstract: Any) -> str:
    return typename(value)


def _snake_case(named: Iterable[tuple[str, Any]]) -> None:
    for name, argument in named:
        argument.out_name = camel_to_snake(name)


def _resolver(answer: Answer) -> Any:
    def resolve(source: Any, info: Info, **arguments: Any) -> object:
        return answer(source, info.context, **arguments)

    return resolve


def _absent(type_name: str, name: str, field: GraphQLField) -> Any:
    """How a field is answered that no table names.

    From a payload: what it holds under that name. Otherwise an empty page or list where one is due, null where
    null is allowed, and an error that names the field where it is not: never a value that was made up.
    """
    is_required = isinstance(field.type, GraphQLNonNull)
    inner = field.type.of_type if isinstance(field.type, GraphQLNonNull) else field.type
    # At the root there is nothing that a page could be empty of: an unanswered search is not "nothing found".
    is_page = is_required and is_connection(field) and type_name != "Query"
    is_list = is_required and isinstance(inner, GraphQLList)

    def resolve(source: Any, _info: Info, **arguments: Any) -> object:
        if isinstance(source, Mapping) and name in source:
            return source[name]
        if is_page:
            return _empty(arguments)
        if is_list:
            return []
        if is_required:
            raise NoAnswer(
                f"The hub keeps no data for the field '{name}' of '{type_name}', which may not be null."
            )
        return None

    return resolve


def _empty(arguments: dict[str, Any]) -> Connection[object]:
    nothing: tuple[object, ...] = ()
    return connect(nothing, arguments, key=id)
