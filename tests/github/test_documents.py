from collections.abc import Iterator, Mapping, Sequence

import pytest
from graphql import (
    DefinitionNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    Visitor,
    extend_schema,
    parse,
    validate,
    visit,
)

from cogworks.github.documents import SHAPES, Operation, compose, document, read_work_item
from cogworks.github.ledger_log import folders_document
from cogworks.github.ledgers import issues_document
from cogworks.github.permissions import permission_document
from cogworks.upkeep.item import EXISTING
from cogworks.vocabulary import IssueNumber, Login
from tests.published import SCHEMAS, published_schema


@pytest.fixture(scope="module")
def official() -> GraphQLSchema:
    return published_schema()


@pytest.fixture(scope="module")
def extended(official: GraphQLSchema) -> GraphQLSchema:
    return extend_schema(
        official, parse((SCHEMAS / "github-extensions.graphql").read_text("utf-8")), assume_valid=True
    )


NAMES = sorted(path.stem for path in (SCHEMAS.parents[1] / "github" / "documents").glob("*.graphql"))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "fragments"])
def test_every_document_fits_the_published_schema(official: GraphQLSchema, name: str) -> None:
    assert validate(official, parse(document(name))) == []


def test_the_documents_of_a_check_and_of_archiving_fit_the_published_schema(official: GraphQLSchema) -> None:
    for text in (folders_document(8), issues_document([IssueNumber(1), IssueNumber(42)]), EXISTING):
        assert validate(official, parse(text)) == []


@pytest.mark.parametrize("name", ["read-item-work", "more-sub-issues"])
def test_what_lists_sub_issues_can_ask_for_dependencies(extended: GraphQLSchema, name: str) -> None:
    text = document(name, with_dependencies=True)

    assert validate(extended, parse(text)) == []
    assert "blockedBy" in text


def test_the_two_halves_of_the_read_ask_for_what_the_whole_one_does() -> None:
    whole, core, work = (
        parse(document(name, with_dependencies=True))
        for name in ("read-work-item", "read-item-core", "read-item-work")
    )

    assert _fragment_names(whole) == (_fragment_names(core) | _fragment_names(work)) - {"Moment"}


def _fragment_names(parsed: DocumentNode) -> set[str]:
    return {node.name.value for node in parsed.definitions if isinstance(node, FragmentDefinitionNode)}


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
    defaults = _defaults(definitions)
    fragments = {node.name.value: node for node in definitions if isinstance(node, FragmentDefinitionNode)}

    def count(selection_set: SelectionSetNode | None, parents: int) -> Iterator[int]:
        for node in selection_set.selections if selection_set else ():
            if isinstance(node, FragmentSpreadNode):
                yield from count(fragments[node.name.value].selection_set, parents)
            elif isinstance(node, InlineFragmentNode):
                yield from count(node.selection_set, parents)
            elif isinstance(node, FieldNode):
                size = _page_size(node, defaults)
                yield parents if size else 0
                yield from count(node.selection_set, parents * (size or 1))

    return sum(
        sum(count(node.selection_set, 1)) for node in definitions if isinstance(node, OperationDefinitionNode)
    )


def _page_size(node: FieldNode, defaults: Mapping[str, int]) -> int | None:
    for argument in node.arguments or ():
        if argument.name.value in ("first", "last"):
            if isinstance(argument.value, IntValueNode):
                return int(argument.value.value)
            assert isinstance(argument.value, VariableNode)
            return defaults[argument.value.name.value]
    return None


def _defaults(definitions: Sequence[DefinitionNode]) -> dict[str, int]:
    return {
        variable.variable.name.value: int(variable.default_value.value)
        for node in definitions
        if isinstance(node, OperationDefinitionNode)
        for variable in node.variable_definitions or ()
        if isinstance(variable.default_value, IntValueNode)
    }


@pytest.mark.parametrize("name", [name for name in NAMES if name != "fragments"])
def test_every_connection_asks_for_one_to_a_hundred_entries(name: str) -> None:
    parsed = parse(document(name, with_dependencies=True))
    defaults, sizes = _defaults(parsed.definitions), list[int]()

    class Sizes(Visitor):
        def enter_field(self, node: FieldNode, *_: object) -> None:
            size = _page_size(node, defaults)
            if size is not None:
                sizes.append(size)

    visit(parsed, Sizes())

    assert sizes or name in ("examine", "viewer")
    assert all(1 <= size <= 100 for size in sizes)
