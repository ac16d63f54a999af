from collections.abc import Iterator
from pathlib import Path

import pytest
from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    Visitor,
    build_ast_schema,
    extend_schema,
    parse,
    validate,
    visit,
)

from cogworks.github.documents import document, read_work_item
from cogworks.github.mutations import SHAPES, Operation, compose
from cogworks.github.permissions import permission_document
from cogworks.vocabulary import Login

SCHEMAS = Path(__file__).parents[2] / "cogworks" / "hub" / "schema"


@pytest.fixture(scope="module")
def official() -> GraphQLSchema:
    return build_ast_schema(parse((SCHEMAS / "github-schema.graphql").read_text("utf-8")), assume_valid=True)


@pytest.fixture(scope="module")
def extended(official: GraphQLSchema) -> GraphQLSchema:
    return extend_schema(
        official, parse((SCHEMAS / "github-extensions.graphql").read_text("utf-8")), assume_valid=True
    )


@pytest.mark.parametrize("name", ["read-work-item", "re-read", "thread", "more-branches", "pull-requests"])
def test_every_document_fits_the_published_schema(official: GraphQLSchema, name: str) -> None:
    assert validate(official, parse(document(name))) == []


def test_the_read_without_dependencies_fits_an_older_github(official: GraphQLSchema) -> None:
    assert validate(official, parse(read_work_item(with_dependencies=False))) == []


def test_the_read_with_dependencies_fits_github_as_it_is_now(extended: GraphQLSchema) -> None:
    text = read_work_item(with_dependencies=True)

    assert validate(extended, parse(text)) == []
    assert "blockedBy" in text


def test_a_document_of_all_writes_fits_the_schema(extended: GraphQLSchema) -> None:
    text, variables = compose([Operation(f"e{place}", mutation, {}) for place, mutation in enumerate(SHAPES)])

    assert validate(extended, parse(text)) == []
    assert list(variables) == [f"e{place}" for place in range(len(SHAPES))]


def test_the_permission_document_fits_the_schema(official: GraphQLSchema) -> None:
    text, variables = permission_document("o/r", [Login("ann"), Login("bob")])

    assert validate(official, parse(text)) == []
    assert variables == {"owner": "o", "name": "r", "l0": "ann", "l1": "bob"}


def test_the_read_costs_three_points_and_two_without_dependencies() -> None:
    """GitHub counts one request per connection and parent, and divides by a hundred."""
    points = [
        round(_connection_requests(read_work_item(with_dependencies=asked)) / 100) for asked in (True, False)
    ]

    assert points == [3, 2]


def _connection_requests(text: str) -> int:
    definitions = parse(text).definitions
    fragments = {node.name.value: node for node in definitions if isinstance(node, FragmentDefinitionNode)}

    def count(selection_set: SelectionSetNode | None, parents: int) -> Iterator[int]:
        for node in selection_set.selections if selection_set else ():
            if isinstance(node, FragmentSpreadNode):
                yield from count(fragments[node.name.value].selection_set, parents)
            elif isinstance(node, InlineFragmentNode):
                yield from count(node.selection_set, parents)
            elif isinstance(node, FieldNode):
                size = _page_size(node)
                yield parents if size else 0
                yield from count(node.selection_set, parents * (size or 1))

    return sum(
        sum(count(node.selection_set, 1)) for node in definitions if isinstance(node, OperationDefinitionNode)
    )


def _page_size(node: FieldNode) -> int | None:
    for argument in node.arguments or ():
        if argument.name.value in ("first", "last") and isinstance(argument.value, IntValueNode):
            return int(argument.value.value)
    return None


def test_every_connection_asks_for_one_to_a_hundred_entries() -> None:
    sizes: list[int] = []

    class Sizes(Visitor):
        def enter_field(self, node: FieldNode, *_: object) -> None:
            size = _page_size(node)
            if size is not None:
                sizes.append(size)

    for name in ("read-work-item", "re-read", "thread", "more-branches"):
        visit(parse(document(name)), Sizes())

    assert sizes
    assert all(1 <= size <= 100 for size in sizes)
