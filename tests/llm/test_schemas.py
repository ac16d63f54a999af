import json
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from cogworks.errors import ConfigurationError
from cogworks.llm.replies import schema_problems
from cogworks.llm.schemas import full_schema, reduced_schema, schema_text


class Line(BaseModel):
    """One line of an order."""

    article: str = Field(pattern="^[A-Z]+$", description="catalogue code")
    amount: int = Field(default=1, ge=1, le=99)


class Gift(BaseModel):
    kind: Literal["gift"]
    wish: Annotated[str, Field(min_length=1)] | None = None


class Sale(BaseModel):
    kind: Literal["sale"]
    lines: Annotated[list[Line], Field(min_length=2, max_length=9)]


class Order(BaseModel):
    content: Annotated[Gift | Sale, Field(discriminator="kind")]
    due: date
    urgency: Literal["low", "high"] = "low"
    first: Line = Field(description="the main one")


def test_the_full_schema_is_pydantic_s_own_with_its_dialect() -> None:
    assert full_schema(Line) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Line.model_json_schema(),
    }
    assert json.loads(schema_text(Line)) == full_schema(Line)


def test_the_reduced_schema_keeps_the_shape_and_tells_the_rest_in_words() -> None:
    assert reduced_schema(full_schema(Line)) == {
        "title": "Line",
        "description": "One line of an order.",
        "type": "object",
        "properties": {
            "article": {"type": "string", "description": "catalogue code (matching the pattern ^[A-Z]+$)"},
            "amount": {"type": "integer", "description": "(at most 99; at least 1)"},
        },
        "required": ["article", "amount"],
        "additionalProperties": False,
    }


def test_references_are_written_out_and_alternatives_are_any_of() -> None:
    reduced = reduced_schema(full_schema(Order))

    assert "$ref" not in json.dumps(reduced)
    assert "oneOf" not in json.dumps(reduced)
    assert [each["required"] for each in reduced["properties"]["content"]["anyOf"]] == [
        ["kind", "wish"],
        ["kind", "lines"],
    ]
    assert reduced["properties"]["first"]["description"] == "the main one"
    assert reduced["properties"]["due"] == {"type": "string", "format": "date"}


@pytest.mark.parametrize("model", [Line, Gift, Sale, Order], ids=lambda model: model.__name__)
def test_the_vendor_s_own_rewriting_finds_nothing_left_to_rewrite(model: type[BaseModel]) -> None:
    from anthropic import transform_schema

    reduced = reduced_schema(full_schema(model))

    assert transform_schema(json.loads(json.dumps(reduced))) == reduced


@pytest.mark.parametrize(
    "value",
    [
        {"content": {"kind": "gift", "wish": None}, "due": "2026-01-01", "urgency": "high"},
        {
            "content": {"kind": "sale", "lines": [{"article": "A", "amount": 1}] * 2},
            "due": "2026-01-01",
            "urgency": "low",
        },
    ],
    ids=["gift", "sale"],
)
def test_what_fits_the_full_schema_with_all_properties_fits_the_reduced_one(value: dict[str, Any]) -> None:
    whole = {**value, "first": {"article": "B", "amount": 2}}

    assert schema_problems(whole, full_schema(Order)) == ()
    assert schema_problems(whole, reduced_schema(full_schema(Order))) == ()


class Tree(BaseModel):
    children: list["Tree"]


class Loose(BaseModel):
    anything: Any
    table: dict[str, int]
    pair: tuple[int, str]


def test_a_recursive_reply_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'Tree' contains itself"):
        reduced_schema(full_schema(Tree))


def test_every_place_without_a_provider_s_form_is_reported_at_once() -> None:
    with pytest.raises(ConfigurationError) as refused:
        reduced_schema(full_schema(Loose))

    assert refused.value.source == "JSON Schema of Loose"
    assert refused.value.problems == (
        "$.anything: no type; give the field a type that JSON Schema can name",
        "$.table: free-form object; use a list of objects with named fields instead",
        "$.pair: `prefixItems` has no form that providers accept",
    )


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}}, "'#/$defs/b' is not one of"),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "`allOf` with 2 members"),
        ({"type": "string", "not": {"const": "x"}}, "`not` has no form"),
    ],
)
def test_a_schema_written_by_hand_is_checked_too(schema: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        reduced_schema(schema)

    assert problem in str(refused.value)


def test_a_single_all_of_is_merged_and_sets_say_so() -> None:
    schema = {"allOf": [{"type": "array", "items": {"type": "string"}}], "uniqueItems": True, "minItems": 1}

    assert reduced_schema(schema) == {
        "title": "schema",
        "type": "array",
        "items": {"type": "string"},
        "minItems": 1,
        "description": "(without repetition)",
    }
