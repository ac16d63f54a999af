import pytest
from graphql import GraphQLSchema, parse, validate

from cogworks.github import ledger_store
from tests.published import published_schema


@pytest.fixture(scope="module")
def official() -> GraphQLSchema:
    return published_schema()


@pytest.mark.parametrize(
    "text",
    [
        ledger_store.TIP,
        ledger_store.first_claim(),
        ledger_store.append(0),
        ledger_store.append(3),
        ledger_store.read_back(0),
        ledger_store.read_back(2),
    ],
    ids=["tip", "first-claim", "append", "append-with-echoes", "read-back", "read-back-with-echoes"],
)
def test_every_document_fits_the_published_schema(official: GraphQLSchema, text: str) -> None:
    assert validate(official, parse(text)) == []
