from pathlib import Path

import pytest
from graphql import GraphQLSchema, build_ast_schema, parse, validate

from cogworks.ledger import documents

SCHEMA = Path(__file__).parents[2] / "cogworks" / "hub" / "schema" / "github-schema.graphql"


@pytest.fixture(scope="module")
def official() -> GraphQLSchema:
    return build_ast_schema(parse(SCHEMA.read_text("utf-8")), assume_valid=True)


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
