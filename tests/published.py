"""GitHub's published schema, parsed once for all tests of a process; whoever changes it makes another one of it."""

import gc
from functools import cache
from pathlib import Path

from graphql import GraphQLSchema, build_schema

SCHEMAS = Path(__file__).parents[1] / "cogworks" / "hub" / "schema"


@cache
def published_schema() -> GraphQLSchema:
    # Nothing of it is garbage, and looking for some in between doubles the time.
    gc.disable()
    try:
        text = (SCHEMAS / "github-schema.graphql").read_text("utf-8")
        return build_schema(text, assume_valid=True, no_location=True)
    finally:
        gc.enable()
