"""Does an answer satisfy the official description of GitHub's REST interface?"""

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import jsonschema

DESCRIPTION = Path(__file__).parents[1] / "data" / "github" / "github-openapi-subset.json"


class OfficialDescription:
    """The OpenAPI subset as JSON Schemas, one for each operation and status."""

    @cached_property
    def document(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(DESCRIPTION.read_text())
        return loaded

    @cached_property
    def schemas(self) -> dict[str, Any]:
        return {name: json_schema(schema) for name, schema in self.document["components"]["schemas"].items()}

    def has(self, method: str, path: str) -> bool:
        return method.lower() in self.document["paths"].get(path, {})

    def problems(self, method: str, path: str, status: int, body: Any) -> list[str]:
        """What is wrong with the answer; a status that is not described counts, unless it is an error."""
        responses = self.document["paths"][path][method.lower()]["responses"]
        if str(status) not in responses:
            return [] if status >= 400 else [f"status {status} is not among {sorted(responses)}"]
        content = self._resolved(responses[str(status)]).get("content", {})
        if "application/json" not in content:
            return [] if body is None else ["a body where none is described"]
        schema = {
            **json_schema(content["application/json"]["schema"]),
            "components": {"schemas": self.schemas},
        }
        errors = jsonschema.Draft202012Validator(schema).iter_errors(body)
        return [f"{error.json_path}: {error.message[:300]}" for error in errors]

    def _resolved(self, response: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in response:
            return response
        found: dict[str, Any] = self.document["components"]["responses"][response["$ref"].rpartition("/")[2]]
        return found


def json_schema(schema: Any) -> Any:
    """OpenAPI 3.0 as JSON Schema: `nullable` becomes a type, and overlapping alternatives may overlap."""
    if isinstance(schema, list):
        return [json_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    # The description's alternatives are supersets of each other: an issue event fits several kinds of event.
    result = {("anyOf" if name == "oneOf" else name): json_schema(part) for name, part in schema.items()}
    if result.pop("nullable", False) is True:
        return {"anyOf": [result, {"type": "null"}]}
    return result
