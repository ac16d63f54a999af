from typing import Any

import pytest
from graphql import OperationDefinitionNode, parse
from hypothesis import given
from hypothesis import strategies as st

from cogworks.hub.graphql.limits import Measure, measure
from cogworks.hub.graphql.schema import official_schema


def measured(document: str, **variables: Any) -> Measure:
    parsed = parse(document)
    operation = parsed.definitions[0]
    assert isinstance(operation, OperationDefinitionNode)
    return measure(official_schema(with_extensions=True), parsed, operation, variables)


def repository(selection: str) -> str:
    return f'{{ repository(owner: "o", name: "n") {{ {selection} }} }}'


@pytest.mark.parametrize(
    ("selection", "nodes", "requests", "cost"),
    [
        ("id", 0, 0, 1),
        ("issues(first: 50) { totalCount }", 50, 1, 1),
        ("issues(first: 50) { nodes { labels(first: 60) { totalCount } } }", 50 + 3000, 51, 1),
        ("issues(last: 100) { nodes { labels(first: 1) { totalCount } comments(first: 2) { totalCount } } }", 400, 201, 2),
        ("issues(first: 50) @skip(if: true) { totalCount }", 0, 0, 1),
        ("...F } } fragment F on Repository { issues(first: 7) { totalCount }", 7, 1, 1),
        ("... on Repository { issues(first: 7) { totalCount } }", 7, 1, 1),
    ],
    ids=["no-connection", "one", "nested", "two-below", "skipped", "fragment", "inline-fragment"],
)  # fmt: skip
def test_what_a_document_asks_for_when_every_page_is_full(
    selection: str, nodes: int, requests: int, cost: int
) -> None:
    document = repository(selection)
    document = document.removesuffix(" } }") + " }" if "fragment F" in document else document

    found = measured(document)

    assert (found.nodes, found.connection_requests, found.cost, found.excesses) == (nodes, requests, cost, ())


@given(outer=st.integers(1, 100), inner=st.integers(1, 100))
def test_the_cost_is_the_formula_of_githubs_documentation(outer: int, inner: int) -> None:
    document = repository("issues(first: $a) { nodes { comments(last: $b) { nodes { id } } } }")

    found = measured(f"query($a: Int!, $b: Int!) {document}", a=outer, b=inner)

    assert found.nodes == outer + outer * inner
    assert found.cost == max(1, round((1 + outer) / 100))


@pytest.mark.parametrize(
    ("arguments", "type_", "message"),
    [
        ("", "MISSING_PAGINATION_BOUNDARIES", "You must provide a `first` or `last` value to properly paginate the `issues` connection."),
        ("(first: 101)", "EXCESSIVE_PAGINATION", "Requesting 101 records on the `issues` connection exceeds the `first` limit of 100 records."),
        ("(last: 500)", "EXCESSIVE_PAGINATION", "Requesting 500 records on the `issues` connection exceeds the `last` limit of 100 records."),
        ("(first: 0)", "INVALID_PAGINATION", "`first` on the `issues` connection must be at least 1 and at most 100; 0 was given."),
    ],
    ids=["missing", "first-too-large", "last-too-large", "zero"],
)  # fmt: skip
def test_a_connection_needs_a_page_size_from_one_to_a_hundred(
    arguments: str, type_: str, message: str
) -> None:
    (excess,) = measured(repository(f"all: issues{arguments} {{ totalCount }}")).excesses

    assert (excess.type, excess.message, excess.path) == (type_, message, ("repository", "all"))


@given(size=st.integers(-5, 200))
def test_a_page_size_is_accepted_exactly_from_one_to_a_hundred(size: int) -> None:
    document = 'query($n: Int) { repository(owner: "o", name: "n") { issues(first: $n) { totalCount } } }'

    assert (measured(document, n=size).excesses == ()) is (1 <= size <= 100)


def test_a_default_of_a_variable_counts_as_its_value() -> None:
    document = (
        'query($n: Int = 30) { repository(owner: "o", name: "n") { issues(first: $n) { totalCount } } }'
    )

    assert measured(document).nodes == 30
    assert measured(document, n=20).nodes == 20


def test_more_than_half_a_million_possible_nodes_are_refused_once() -> None:
    deep = "issues(first: 100) { nodes { comments(first: 100) { nodes { reactions(first: 100) { nodes { id } } } } } }"

    (excess,) = measured(repository(deep)).excesses

    assert excess.type == "MAX_NODE_LIMIT_EXCEEDED"
    assert excess.message == (
        "By the time this query traverses to the reactions connection, it is requesting up to 1,000,000 possible "
        "nodes which exceeds the maximum limit of 500,000."
    )
