"""Whatever bytes a service sends, reading them ends in an answer or in a reason."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.answers import Answer, Unusable, read_answer, read_handshake, read_response
from cogworks.domain_services.messages import Request, Response
from cogworks.domain_services.operations import NORMALISE, OPERATIONS, VALIDATE, Operation
from cogworks.leaving import masked

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
ENVELOPE = st.fixed_dictionaries(
    {"request_id": st.just("1"), "status": st.sampled_from(["success", "failure", "error"])},
    optional={"result": JSON, "diagnostics": JSON, "metadata": JSON, "error": JSON},
)


def read(line: bytes, operation: Operation[Any, Any] = VALIDATE, **params: Any) -> object:
    request = Request(request_id="1", method=operation.method, params=params)
    response = read_response(line, request)
    if isinstance(response, Unusable):
        return response
    if operation.method == "handshake":
        return read_handshake(response)
    return read_answer(response, operation, request, service="s")


@given(st.binary(max_size=200) | st.binary(max_size=200).map(lambda line: line + b"\n"))
def test_bytes_never_escape(line: bytes) -> None:
    assert isinstance(read(line), Unusable)


@given(ENVELOPE, st.sampled_from(sorted(OPERATIONS)))
def test_envelopes_never_escape(envelope: dict[str, Any], method: str) -> None:
    found = read(json.dumps(envelope).encode() + b"\n", OPERATIONS[method])

    assert isinstance(found, (Answer, Unusable))


@pytest.mark.parametrize(
    "result",
    ["[" * 5000 + "]" * 5000, '{"x": ' * 5000 + "1" + "}" * 5000, '{"x": ' + "9" * 5000 + "}", '{"x": NaN}'],
    ids=["deep-array", "deep-object", "long-number", "not-a-number"],
)
def test_monstrous_results_are_read_or_refused(result: str) -> None:
    line = f'{{"request_id": "1", "status": "success", "result": {result}}}\n'.encode()

    assert isinstance(read(line), (Answer, Unusable))


def response(**fields: Any) -> bytes:
    return json.dumps({"request_id": "1", "status": "success", **fields}).encode() + b"\n"


def test_a_formatter_answers_only_for_the_files_it_was_asked_about() -> None:
    result = {"files": [{"artifact": "b", "changed": True, "content": "x"}]}

    assert read(response(result=result), NORMALISE, artifacts=["a"]) == Unusable(
        reason="the service formatted files it was not asked about: b"
    )


@pytest.mark.parametrize("file", [{"changed": True}, {"changed": False, "content": "x"}], ids=str)
def test_content_comes_exactly_with_a_change(file: dict[str, Any]) -> None:
    found = read(response(result={"files": [{"artifact": "a", **file}]}), NORMALISE, artifacts=["a"])

    assert isinstance(found, Unusable)
    assert "`content` is there exactly when `changed` is true" in found.reason


def test_files_that_were_not_looked_at_are_noticed_one_by_one() -> None:
    counted = {"counts": {"artifacts": 1, "skipped": 1}}

    whole = read(response(metadata=counted), artifacts=["a", "b"])
    part = read(response(metadata=counted), artifacts=["a", "b", "c"])

    assert isinstance(whole, Answer)
    assert part == Unusable(reason="the service was asked about 3 artifact(s) and looked at 1")


def test_an_error_is_a_response() -> None:
    refused = Request(request_id="1", method="validate")
    error = {"code": "tool_failed", "message": "m"}

    found = read_response(response(status="error", error=error), refused)

    assert isinstance(found, Response)


def test_what_a_service_says_holds_no_secret_and_what_it_names_stays_as_it_is() -> None:
    token = "ghp_" + "a1B2" * 9
    finding = {
        "artifact": f"{token}.py",
        "severity": "warning",
        "category": "novelty",
        "message": f"see {token}",
    }
    file = {"artifact": f"{token}.py", "changed": True, "content": token}
    line = response(
        result={"files": [file], "notes": [f"the key is {token}"], "versions": {token: token}},
        diagnostics=[finding],
        metadata={"tool_versions": {f"tool {token}": "1"}, "counts": {"artifacts": 1}},
        constraint_results=[{"contract": "c", "status": "violated", "actual": [token], "message": token}],
    )

    found = read_response(line, Request(request_id="1", method="normalise"), hidden=masked)

    assert isinstance(found, Response)
    assert found.result == {"files": [file], "notes": ["the key is ***"], "versions": {"***": "***"}}
    assert (found.diagnostics[0].artifact, found.diagnostics[0].message) == (f"{token}.py", "see ***")
    assert (found.metadata.tool_versions, found.metadata.counts) == ({"tool ***": "1"}, {"artifacts": 1})
    assert (found.constraint_results[0].actual, found.constraint_results[0].message) == (["***"], "***")
