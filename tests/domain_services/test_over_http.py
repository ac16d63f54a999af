"""The client over HTTP: what each failure of the way there becomes."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import respx

from cogworks.domain_services.client import ServiceClient
from cogworks.domain_services.configuration import ServiceConfig
from cogworks.domain_services.limits import Limits
from cogworks.domain_services.messages import ErrorCode
from cogworks.domain_services.opening import open_transport
from cogworks.domain_services.over_wire import HttpTransport
from cogworks.domain_services.transport import MAX_MESSAGE_BYTES, ServiceFailed

HANDSHAKE = {
    "name": "far",
    "service_version": "1",
    "api_version": "1.0",
    "domain": "test",
    "capabilities": ["validate"],
}


def enveloped(request: httpx.Request) -> httpx.Response:
    asked = json.loads(request.content)
    return httpx.Response(
        200, json={"request_id": asked["request_id"], "status": "success", "result": HANDSHAKE}
    )


@pytest.fixture
def far() -> respx.MockRouter:
    """A service at the far end, which has the endpoints that a test gives it and no other."""
    return respx.MockRouter(base_url="http://127.0.0.1:1/api/v1")


def client(far: respx.MockRouter, limits: Limits | None = None) -> ServiceClient:
    return ServiceClient(
        lambda: HttpTransport("http://127.0.0.1:1", token="t0k", transport=httpx.MockTransport(far.handler)),
        name="far",
        limits=limits or Limits(attempts=2),
        sleep=lambda _: None,
    )


def test_each_method_has_its_address_and_the_token_goes_along(far: respx.MockRouter) -> None:
    handshake = far.post("/handshake", headers={"Authorization": "Bearer t0k"}).mock(side_effect=enveloped)

    with client(far) as asking:
        assert asking.handshake().name == "far"

    assert handshake.call_count == 1


def _every_request_error(
    kind: type[httpx.RequestError] = httpx.RequestError,
) -> Iterator[type[httpx.RequestError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _every_request_error(narrower)


EVERY_REQUEST_ERROR = sorted(set(_every_request_error()), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("error", EVERY_REQUEST_ERROR)
def test_no_error_of_the_library_escapes(far: respx.MockRouter, error: type[httpx.RequestError]) -> None:
    far.post("/handshake").mock(side_effect=error)

    with client(far) as asking, pytest.raises(ServiceFailed) as caught:
        asking.handshake()

    slow = issubclass(error, httpx.TimeoutException)
    assert caught.value.code is (ErrorCode.TIMEOUT if slow else None)


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (
            httpx.Response(500, text="sorry"),
            "failed at handshake 2 times; last: http://127.0.0.1:1/api/v1/handshake answered 500: sorry",
        ),
        (httpx.Response(500, text="no such token: t0k."), "answered 500: no such token: ***."),
        (httpx.Response(302, headers={"Location": "https://elsewhere"}), "answered 302"),
        (httpx.Response(401), "does not let us in: http://127.0.0.1:1/api/v1/handshake answered 401"),
        (httpx.Response(200, content=b"a" * (MAX_MESSAGE_BYTES + 1)), "longer than 16777216 bytes"),
        (
            httpx.Response(200, headers={"Content-Encoding": "br"}, content=b""),
            "the answer is compressed (br)",
        ),
        (httpx.Response(200, content=b"\xff"), "does not fit the schema"),
        (httpx.Response(200, content=b""), "does not fit the schema"),
    ],
    ids=["500", "quoted", "redirect", "token", "oversized", "compressed", "not-utf-8", "empty"],
)
def test_what_is_no_answer_is_named(far: respx.MockRouter, response: httpx.Response, words: str) -> None:
    far.post("/handshake").mock(return_value=response)

    with client(far) as asking, pytest.raises(ServiceFailed) as caught:
        asking.handshake()

    assert words in str(caught.value)


def test_a_token_that_is_not_set_is_asked_for_by_name() -> None:
    config = ServiceConfig(name="far", url="https://x", token_env="COGWORKS_SERVICE_FAR")
    far = ServiceClient(lambda: open_transport(config, {}), name="far", sleep=lambda _: None)

    with far, pytest.raises(ServiceFailed, match="the variable COGWORKS_SERVICE_FAR is not set"):
        far.handshake()


def test_certificates_that_are_not_there_are_named(tmp_path: Path) -> None:
    config = ServiceConfig(name="far", url="https://localhost", ca_file=str(tmp_path / "ca.pem"))
    far = ServiceClient(lambda: open_transport(config, {}), name="far", sleep=lambda _: None)

    with far, pytest.raises(ServiceFailed, match="correct `ca_file`"):
        far.handshake()
