import pytest
from graphql import GraphQLSchema, parse, validate

from cogworks.ledger import documents
from tests.published import published_schema


@pytest.fixture(scope="module")
def official() -> GraphQLSchema:
    return published_schema()


@pytest.mark.parametrize(
    "text",
    [
        documents.TIP,
        documents.first_claim(),
        documents.append(0),
        documents.append(3),
        documents.read_back(0),
        documents.read_back(2),
    ],
    ids=["tip", "first-claim", "append", "append-with-echoes", "read-back", "read-back-with-echoes"],
)
def test_every_document_fits_the_published_schema(official: GraphQLSchema, text: str) -> None:
    assert validate(official, parse(text)) == []
