"""The published schemas: exported, in step with the models, and as strict as the client."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cogworks.cli.conformance import PROFILE_NAMES
from cogworks.domain_services.answers import Unusable, read_answer, read_response
from cogworks.domain_services.messages import Request
from cogworks.domain_services.operations import (
    ALL,
    OPERATIONS,
    PROFILES,
    SIMULATE,
    profile_files,
    response_schema,
    schema_files,
)

SCHEMAS = Path(__file__).parents[2] / "schemas"


def test_the_exported_files_are_those_of_the_models() -> None:
    for folder, wanted in (("extension-api", schema_files()), ("capability-profiles", profile_files())):
        found = {path.name: path.read_text() for path in (SCHEMAS / folder).iterdir()}
        assert found == wanted, "run scripts/export-schemas"


@pytest.mark.parametrize("name", sorted(schema_files()))
def test_every_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(json.loads(schema_files()[name]))


def test_every_method_has_its_own_schema_and_the_extra_ones_are_marked() -> None:
    assert [operation.method for operation in ALL if not operation.is_extra] == [
        "handshake",
        "validate",
        "normalise",
        "review_rules",
        "simulate",
        "validate_deps",
        "extract_interfaces",
        "dependency_graph",
    ]
    assert [operation.method for operation in ALL if operation.is_extra] == [
        "index",
        "call_graph",
        "coverage",
        "trace",
        "instrument",
        "beside",
        "signatures",
        "prepare",
    ]


def test_the_conformance_command_offers_every_profile() -> None:
    assert list(PROFILE_NAMES) == sorted(PROFILES)


def test_profiles_name_only_methods_that_exist() -> None:
    assert {each for profile in PROFILES.values() for each in profile.required + profile.optional} <= set(
        OPERATIONS
    )


GOOD: dict[str, Any] = {
    "request_id": "1",
    "status": "success",
    "result": {"cases": [{"id": "t", "outcome": "passed"}]},
}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"later": {"minor": 1}},
        {"request_id": 1},
        {"status": "splendid"},
        {"result": {"cases": "none"}},
        {"result": {"cases": [{"id": "t", "outcome": "passed"}], "timed_out": "no"}},
        {"result": {"cases": [{"id": "t", "outcome": "passed", "later": 1}]}},
        {"metadata": {"duration_ms": "12"}},
        {"diagnostics": [{"artifact": "a"}]},
        {"diagnostics": [{"artifact": "a", "severity": "grave", "category": "c", "message": "m"}]},
        {"constraint_results": [{"contract": "c", "status": "kept"}]},
    ],
    ids=str,
)
def test_the_client_refuses_exactly_what_the_schema_refuses(change: dict[str, Any]) -> None:
    document = {**GOOD, **change}
    request = Request(request_id="1", method="simulate")

    fits = Draft202012Validator(response_schema("simulate")).is_valid(document)
    response = read_response(json.dumps(document).encode() + b"\n", request)
    answer = (
        response if isinstance(response, Unusable) else read_answer(response, SIMULATE, request, service="s")
    )

    assert fits is (not isinstance(answer, Unusable))
