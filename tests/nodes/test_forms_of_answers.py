"""Every constraint of the form of every answer, broken once, with the whole message; a constraint of a new kind has to get its words here.

These are the messages of an answer that did not even fit its form; what a node makes of one that does is in `test_validations.py`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import pytest

from cogworks.llm.replies import Misfits, read_reply
from cogworks.llm.schemas import full_schema
from cogworks.nodes.registry import REPLIES

Schema = Mapping[str, Any]
Path = tuple[str | int, ...]
TEXTS: Mapping[str, str] = {
    r"^R[0-9]{1,3}$": "R1",
    r"^[A-Z][A-Z0-9]{0,3}$": "A",
    r"^[0-9a-f]{64}$": "a" * 64,
}
"""A text that each pattern takes."""
WRONG: Mapping[str, Any] = {
    "string": 7, "integer": "x", "number": "x", "boolean": "x", "array": "x", "object": "x",
}  # fmt: skip
"""A value that is not of a type."""


class Broken(NamedTuple):
    """An answer that breaks one constraint at one place, and what is said of it."""

    stem: str
    place: str
    constraint: str
    answer: Any
    says: str

    @property
    def name(self) -> str:
        return f"{self.stem}-{self.place}-{self.constraint}"


def sound(node: Schema, definitions: Schema) -> Any:
    """The smallest value that a schema takes, with one entry in every list so that each place can be broken."""
    node = resolved(node, definitions)
    if "enum" in node:
        return node["enum"][0]
    match node["type"]:
        case "object":
            return {name: sound(each, definitions) for name, each in node.get("properties", {}).items()}
        case "array":
            return [sound(node["items"], definitions)]
        case "string":
            return TEXTS.get(node.get("pattern", ""), "x")
        case "boolean":
            return True
        case _:
            return node.get("minimum", 0)


def resolved(node: Schema, definitions: Schema) -> Schema:
    return {**definitions[node["$ref"].rpartition("/")[2]], **node} if "$ref" in node else node


def breaches(node: Schema, value: Any) -> Iterator[tuple[str, Any, str]]:
    """Each constraint of one place: its name, a value that breaks it, and the words for that."""
    known: Mapping[str, Callable[[Any], tuple[Any, str]]] = {
        "type": lambda kind: (WRONG[kind], f"{WRONG[kind]!r} is not of type {kind!r}"),
        "enum": lambda words: ("zzz", f"'zzz' is not one of {list(words)!r}"),
        "pattern": lambda pattern: ("!", f"'!' does not match {pattern!r}"),
        "minLength": lambda _: ("", "'' should be non-empty"),
        "maxLength": lambda most: ("x" * (most + 1), too_long(most)),
        "minItems": lambda _: ([], "[] should be non-empty"),
        "minimum": lambda least: (least - 1, f"{least - 1} is less than the minimum of {least}"),
        "maximum": lambda most: (most + 1, f"{most + 1} is greater than the maximum of {most}"),
        "additionalProperties": lambda _: (
            {**value, "zzz": 1},
            "Additional properties are not allowed ('zzz' was unexpected)",
        ),
    }
    for constraint, limit in node.items():
        if constraint == "required":
            for name in limit:
                left = {key: each for key, each in value.items() if key != name}
                yield f"required {name}", left, f"{name!r} is a required property"
        elif constraint not in (
            "title",
            "description",
            "default",
            "properties",
            "items",
            "$ref",
            "$defs",
            "$schema",
        ):
            wrong, says = known[constraint](limit)
            yield constraint, wrong, says


def too_long(most: int) -> str:
    text = f"'{'x' * (most + 1)}'"
    shown = text if len(text) <= 80 else f"{text[:80]}…"
    return f"{shown} is too long: {most + 1} characters, and {most} are the most"


def all_breaches(stem: str) -> Iterator[Broken]:
    schema = full_schema(REPLIES[stem])
    definitions = schema.get("$defs", {})
    whole = sound(schema, definitions)
    yield from _within(stem, schema, definitions, whole, ())


def _within(stem: str, node: Schema, definitions: Schema, whole: Any, path: Path) -> Iterator[Broken]:
    node = resolved(node, definitions)
    place = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    for constraint, wrong, says in breaches(node, _at(whole, path)):
        yield Broken(stem, place, constraint, _put(whole, path, wrong), f"{place}: {says}")
    for name, each in node.get("properties", {}).items():
        yield from _within(stem, each, definitions, whole, (*path, name))
    if "items" in node:
        yield from _within(stem, node["items"], definitions, whole, (*path, 0))


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _put(whole: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    changed = deepcopy(whole)
    _at(changed, path[:-1])[path[-1]] = value
    return changed


@pytest.mark.parametrize("stem", sorted(REPLIES))
def test_each_broken_constraint_is_told_with_its_place(stem: str) -> None:
    reply_type = REPLIES[stem]
    schema = full_schema(reply_type)
    found = list(all_breaches(stem))

    assert found
    for broken in found:
        verdict = read_reply(json.dumps(broken.answer), schema, reply_type)
        assert isinstance(verdict, Misfits), broken.name
        assert broken.says in verdict.problems, broken.name


@pytest.mark.parametrize("stem", sorted(REPLIES))
def test_what_the_broken_ones_are_made_of_is_sound(stem: str) -> None:
    schema = full_schema(REPLIES[stem])

    verdict = read_reply(json.dumps(sound(schema, schema.get("$defs", {}))), schema, REPLIES[stem])

    assert not isinstance(verdict, Misfits), getattr(verdict, "problems", ())


def test_the_forms_of_planning_are_told_like_this() -> None:
    said = _said("planning")

    assert said == [
        "$: 'sub_work_items' is a required property",
        "$.sub_work_items[0].key: '!' does not match '^[A-Z][A-Z0-9]{0,3}$'",
        f"$.sub_work_items[0].title: '{'x' * 79}… is too long: 81 characters, and 80 are the most",
        "$.sub_work_items[0].title: '' should be non-empty",
        "$.sub_work_items[0].description: '' should be non-empty",
        "$.sub_work_items[0].files: [] should be non-empty",
        "$.sub_work_items[0].test_specification: '' should be non-empty",
        "$.sub_work_items[0].acceptance_criteria: [] should be non-empty",
    ]


def _said(stem: str) -> Sequence[str]:
    told = ("minLength", "maxLength", "minItems", "pattern", "required sub_work_items")
    return [broken.says for broken in all_breaches(stem) if broken.constraint in told]
