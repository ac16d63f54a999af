"""What GitHub's schema has and the hub has not: it is said, never played."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    get_named_type,
    is_leaf_type,
)

from cogworks.hub.graphql.catalogue import ANSWERS
from cogworks.hub.graphql.limits import is_connection
from cogworks.hub.graphql.schema import ABSENT, official_schema
from cogworks.hub.refusals import NotImplementedHere
from tests.hub.graphql_world import Hub, mutation, running_hub

SAMPLES: dict[str, object] = {
    "Int": 1, "Float": 1.0, "Boolean": True, "BigInt": "1", "DateTime": "2026-03-01T00:00:00Z", "Date": "2026-03-01",
    "URI": "http://127.0.0.1/", "GitObjectID": "0" * 40, "GitTimestamp": "2026-03-01T00:00:00Z", "Base64String": "",
}  # fmt: skip
COMMON = frozenset({"nodes", "edges", "pageInfo", "totalCount", "node", "cursor"})
"""What every page and every edge answers."""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub(Path(tmp_path_factory.mktemp("absent"))) as running:
        yield running


def root_fields(name: str) -> dict[str, GraphQLField]:
    owner = official_schema(with_extensions=True).type_map[name]
    assert isinstance(owner, GraphQLObjectType)
    fields: dict[str, GraphQLField] = owner.fields
    return fields


def sample(kind: GraphQLInputType) -> Any:
    """A value that the type allows, with no more in it than is required."""
    if isinstance(kind, GraphQLNonNull):
        return sample(kind.of_type)
    if isinstance(kind, GraphQLList):
        return [sample(kind.of_type)]
    if isinstance(kind, GraphQLEnumType):
        return next(iter(kind.values))
    if isinstance(kind, GraphQLInputObjectType):
        return {
            name: sample(field.type)
            for name, field in kind.fields.items()
            if isinstance(field.type, GraphQLNonNull)
        }
    return SAMPLES.get(kind.name, "nothing")


def test_every_mutation_of_the_schema_is_implemented_or_says_that_it_is_not(hub: Hub) -> None:
    said = {
        name: hub.answer(mutation(name, "__typename"), input=sample(field.args["input"].type))
        for name, field in root_fields("Mutation").items()
    }
    missing = {name: answer for name, answer in said.items() if ("Mutation", name) not in ANSWERS}

    assert len(said) > 240
    for answer in missing.values():
        assert answer["errors"][0].pop("locations")
    assert missing == {
        name: {
            "data": {name: None},
            "errors": [
                {
                    "type": "NOT_IMPLEMENTED",
                    "path": [name],
                    "message": f"The hub does not implement the mutation '{name}'.",
                }
            ],
        }
        for name in missing
    }
    # Those that are there look for what was named, and find nothing.
    assert {
        name
        for name in said.keys() - missing.keys()
        if any(error["type"] == "NOT_IMPLEMENTED" for error in said[name].get("errors", ()))
    } == set()


def asking(name: str, field: GraphQLField) -> tuple[str, dict[str, Any]]:
    """A query for one root field, and its variables."""
    needed = {
        word: argument.type
        for word, argument in field.args.items()
        if isinstance(argument.type, GraphQLNonNull)
    }
    declared = ", ".join(f"${word}: {kind}" for word, kind in needed.items())
    given = [f"{word}: ${word}" for word in needed] + ["first: 1"] * ("first" in field.args)
    document = f"query({declared})" if declared else "query"
    below = "" if is_leaf_type(get_named_type(field.type)) else " { __typename }"
    arguments = f"({', '.join(given)})" if given else ""
    return f"{document} {{ {name}{arguments}{below} }}", {word: sample(kind) for word, kind in needed.items()}


def test_a_query_that_nobody_answers_says_so(hub: Hub) -> None:
    fields = {name: field for name, field in root_fields("Query").items() if ("Query", name) not in ANSWERS}
    asked = {name: asking(name, field) for name, field in fields.items()}

    said = {name: hub.errors(document, **variables) for name, (document, variables) in asked.items()}

    assert said
    assert {
        name: [(error["type"], error["path"], error["message"]) for error in errors]
        for name, errors in said.items()
    } == {
        name: [("NOT_IMPLEMENTED", [name], f"The hub does not implement the field '{name}' of 'Query'.")]
        for name in said
    }


def unanswered() -> Iterator[tuple[str, str, GraphQLField]]:
    """Every field of every object that no table names and that is not said to be absent."""
    for owner in official_schema(with_extensions=True).type_map.values():
        if not isinstance(owner, GraphQLObjectType) or owner.name.startswith("__"):
            continue
        common = COMMON if owner.name.endswith(("Connection", "Edge")) else frozenset()
        for name, field in owner.fields.items():
            known = name in common or (owner.name, name) in ANSWERS or (owner.name, name) in ABSENT
            if not known and owner.name != "Mutation":
                yield owner.name, name, field


def said_by(field: GraphQLField) -> object:
    """What the field's resolver says to a source that knows nothing of it."""
    assert field.resolve is not None
    try:
        return field.resolve(object(), None)  # it looks at neither
    except NotImplementedHere as refusal:
        return str(refusal)


def test_no_field_is_null_or_empty_because_nobody_answers_it() -> None:
    silent = {
        (type_name, name)
        for type_name, name, field in unanswered()
        if said_by(field) != f"The hub does not implement the field '{name}' of '{type_name}'."
    }

    assert silent == set()


def test_what_no_hub_has_is_a_field_of_the_schema_that_may_be_empty() -> None:
    def may_be_empty(field: GraphQLField) -> bool:
        inner = field.type.of_type if isinstance(field.type, GraphQLNonNull) else None
        return inner is None or is_connection(field) or isinstance(inner, GraphQLList)

    wrong = {
        (type_name, name)
        for type_name, name in ABSENT
        if not may_be_empty(root_fields(type_name)[name]) or (type_name, name) in ANSWERS
    }

    assert wrong == set()
