"""Which JSON Schema must a reply fit, and which part of it do providers enforce?"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, RootModel

from cogworks.errors import ConfigurationError
from cogworks.vocabulary import Value

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_KEPT = ("type", "enum", "const")
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)
_DROPPED = frozenset({"title", "default", "examples", "discriminator", "deprecated", "$schema", "$defs"})
_STRUCTURE = frozenset(
    {"properties", "required", "additionalProperties", "items", "anyOf", "oneOf", "allOf", "$ref"}
)
_WORDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matching the pattern {}",
    "format": "in the format {}",
}


class Part(Value):
    """A value whose attribute docstrings are shown to the model in the JSON Schema."""

    model_config = ConfigDict(use_attribute_docstrings=True)


DeclaredReply = RootModel[dict[str, Any]]
"""A reply whose form a JSON Schema declares and no type of ours."""


def declared_reply(schema: Mapping[str, Any], *, name: str) -> type[DeclaredReply]:
    """The reply type that stands for a JSON Schema of an object; `name` is its title where it has none."""

    class Declared(DeclaredReply):
        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> Schema:
            return {"title": name, **schema}

    return Declared


def full_schema(model: type[BaseModel]) -> Schema:
    """Everything the reply must fit, as pydantic states it; the gateway checks replies against this one."""
    return {"$schema": DIALECT, **model.model_json_schema(mode="validation")}


def schema_text(model: type[BaseModel]) -> str:
    """The file `schemas/<stem>.json` of a reply model."""
    return json.dumps(full_schema(model), indent=2, ensure_ascii=False) + "\n"


def reduced_schema(schema: Mapping[str, Any]) -> Schema:
    """The form that providers accept for constrained output.

    References are written out, every object is closed and names all its properties as required, alternatives
    are `anyOf`. Constraints that no provider enforces (lengths, ranges, patterns) move into the descriptions,
    where the model reads them. What fits the full schema with all properties present fits this one.

    Raises: ConfigurationError naming every place that has no such form (recursion, free-form objects, tuples).
    """
    name = str(schema.get("title", "schema"))
    reduction = _Reduction(schema.get("$defs", {}))
    reduced = reduction.reduce(schema, at="$", inside=())
    if reduction.problems:
        raise ConfigurationError(f"JSON Schema of {name}", reduction.problems)
    return {"title": name, **reduced}


class _Reduction:
    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self.problems: list[str] = []

    def reduce(self, node: Mapping[str, Any], *, at: str, inside: tuple[str, ...]) -> Schema:
        merged, inside = self._dereferenced(node, at=at, inside=inside)
        reduced: Schema = {key: merged[key] for key in _KEPT if key in merged}
        if "enum" in reduced or "const" in reduced:
            reduced.pop("type", None)
        if "properties" in merged or merged.get("type") == "object":
            reduced |= self._object(merged, at=at, inside=inside)
        if "items" in merged:
            reduced["items"] = self.reduce(merged["items"], at=f"{at}[]", inside=inside)
        alternatives = merged.get("anyOf") or merged.get("oneOf")
        if alternatives:
            reduced["anyOf"] = [self.reduce(each, at=at, inside=inside) for each in alternatives]
        if not reduced:
            self.problems.append(f"{at}: no type; give the field a type that JSON Schema can name")
        self._demote(merged, reduced, at=at)
        return reduced

    def _dereferenced(
        self, node: Mapping[str, Any], *, at: str, inside: tuple[str, ...]
    ) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        only = node.get("allOf", ())
        if len(only) == 1:
            node = {**only[0], **{key: value for key, value in node.items() if key != "allOf"}}
        elif only:
            self.problems.append(f"{at}: `allOf` with {len(only)} members; write the merged object instead")
        if "$ref" not in node:
            return node, inside
        target = str(node["$ref"]).removeprefix("#/$defs/")
        if target in inside:
            self.problems.append(f"{at}: {target!r} contains itself; providers accept no recursive schema")
            return {"type": "object", "properties": {}}, inside
        if target not in self._definitions:
            self.problems.append(f"{at}: {node['$ref']!r} is not one of this schema's `$defs`")
            return {"type": "object", "properties": {}}, inside
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        return self._dereferenced({**self._definitions[target], **siblings}, at=at, inside=(*inside, target))

    def _object(self, node: Mapping[str, Any], *, at: str, inside: tuple[str, ...]) -> Schema:
        if isinstance(node.get("additionalProperties"), Mapping) or "properties" not in node:
            self.problems.append(f"{at}: free-form object; use a list of objects with named fields instead")
        properties = {
            name: self.reduce(value, at=f"{at}.{name}", inside=inside)
            for name, value in node.get("properties", {}).items()
        }
        return {"properties": properties, "required": list(properties), "additionalProperties": False}

    def _demote(self, node: Mapping[str, Any], reduced: Schema, *, at: str) -> None:
        demoted: list[str] = []
        for key, value in node.items():
            if key in _KEPT or key in _DROPPED or key in _STRUCTURE or key == "description":
                continue
            if (key == "format" and value in _FORMATS) or (key == "minItems" and value in {0, 1}):
                reduced[key] = value
            elif key in _WORDS:
                demoted.append("not empty" if (key, value) == ("minLength", 1) else _WORDS[key].format(value))
            elif key == "uniqueItems":
                demoted += ["without repetition"] if value else []
            else:
                self.problems.append(f"{at}: `{key}` has no form that providers accept")
        description = _described(node.get("description", ""), demoted)
        if description:
            reduced["description"] = description


def _described(description: str, demoted: Sequence[str]) -> str:
    constraints = f"({'; '.join(demoted)})" if demoted else ""
    return " ".join(part for part in (description, constraints) if part)
