"""The published form of the Extension API: one JSON Schema per message, and the capability profiles."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from cogworks.domain_services.messages import Message, Request, Response
from cogworks.domain_services.operations import ALL, OPERATIONS
from cogworks.vocabulary import Value

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Profile(Value):
    """What a service of some kind is expected to offer; read by people and by the conformance suite, never at run time."""

    title: str
    description: str
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


PROFILES: Mapping[str, Profile] = {
    "code": Profile(
        title="A programming language",
        description="Checks and tests what Code Generation writes; the node does without what is optional.",
        required=("validate", "simulate"),
        optional=(
            "normalise",
            "review_rules",
            "validate_deps",
            "extract_interfaces",
            "dependency_graph",
        ),
    ),
    "repair": Profile(
        title="A programming language whose faults can be localised",
        description="What localisation and probing ask beyond `code`; each signal that is missing is named in the result.",
        required=("validate", "simulate", "index", "call_graph", "coverage", "trace", "signatures"),
        optional=(
            "normalise",
            "review_rules",
            "validate_deps",
            "extract_interfaces",
            "dependency_graph",
            "instrument",
        ),
    ),
    "firmware": Profile(
        title="Firmware",
        description="Code that meets hardware at interfaces of the registry.",
        required=("validate", "simulate", "extract_interfaces"),
        optional=("normalise", "review_rules", "validate_deps", "dependency_graph"),
    ),
    "review": Profile(
        title="Rules only",
        description="A secondary service that looks at files and runs nothing, e.g. a checker of licences.",
        required=("validate",),
        optional=("review_rules",),
    ),
}


def schema_files() -> dict[str, str]:
    """The files of `schemas/extension-api/`, by name: the envelopes, and two for each method."""
    models: dict[str, type[BaseModel]] = {"request": Request, "response": Response}
    for operation in ALL:
        models[f"{operation.method}.params"] = operation.params
        models[f"{operation.method}.result"] = operation.result
    return {f"{name}.json": _text(_schema(model)) for name, model in models.items()}


def profile_files() -> dict[str, str]:
    """The files of `schemas/capability-profiles/`, by name."""
    return {f"{name}.json": _text(profile.model_dump(mode="json")) for name, profile in PROFILES.items()}


def response_schema(method: str) -> dict[str, Any]:
    """What a response to this method must fit when it is not an error: the envelope with the method's result."""
    schema = _schema(Response)
    if method not in OPERATIONS:
        return schema
    result = _schema(OPERATIONS[method].result)
    definitions = {**schema.get("$defs", {}), **result.pop("$defs", {})}
    result.pop("$schema")
    properties = {**schema["properties"], "result": result}
    return {**schema, "properties": properties, "$defs": definitions}


def _schema(model: type[Message] | type[BaseModel]) -> dict[str, Any]:
    return {"$schema": DIALECT, **model.model_json_schema(mode="validation")}


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
