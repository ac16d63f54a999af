"""One exchange over HTTP: `POST <address>/api/v1/<method>`."""

import ssl
import time
from pathlib import Path

import httpx

from cogworks.bounded_http import bounded, within
from cogworks.domain_services.transport import MAX_MESSAGE_BYTES, ServiceGone, ServiceRefused, ServiceSlow
from cogworks.leaving import masked

PATH = "/api/v1/"
_SHOWN_CHARS = 200


class HttpTransport:
    """A service at an http(s) address; proxies and redirects are not followed, so that nothing leads elsewhere."""

    def __init__(
        self,
        url: str,
        *,
        token: str = "",
        ca_file: Path | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Args:
        url: without the path; `configuration.address_problem` says which are allowed.
        token: sent as a bearer token; empty: none.
        ca_file: certificates to trust instead of the usual ones.
        """
        self._url = url.rstrip("/") + PATH
        self._token = token
        client = httpx.Client(
            headers={"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {token}"} if token else {}),
            verify=_trust(url, ca_file),
            trust_env=False,
            follow_redirects=False,
            transport=transport,
        )
        self._client = bounded(client)

    def exchange(self, method: str, line: bytes, /, *, limit_s: float) -> bytes:
        """As the Protocol says."""
        deadline = time.monotonic() + limit_s
        try:
            with (
                within(limit_s),
                self._client.stream(
                    "POST",
                    self._url + method,
                    content=line,
                    headers={"Content-Type": "application/json"},
                    timeout=limit_s,
                ) as response,
            ):
                body = _body(response, deadline, limit_s)
        except httpx.TimeoutException:
            raise ServiceSlow(f"no answer within {limit_s:g} s") from None
        except httpx.RequestError as error:
            if isinstance(error.__cause__, ssl.SSLError) or "certificate" in str(error).lower():
                raise ServiceRefused(f"the certificate of {self._url} is not trusted: {error}") from error
            reason = masked(str(error), [self._token])
            raise ServiceGone(f"{self._url + method}: {type(error).__name__}: {reason}") from error
        if response.status_code in (401, 403):
            raise ServiceRefused(
                f"{self._url + method} answered {response.status_code}: the token is refused"
            )
        if response.status_code != 200:
            text = masked(body.decode(errors="replace").strip(), [self._token])
            raise ServiceGone(f"{self._url + method} answered {response.status_code}: {text[:_SHOWN_CHARS]}")
        return body.rstrip(b"\r\n") + b"\n"

    def close(self) -> None:
        """Drop the connection."""
        self._client.close()


def _trust(url: str, ca_file: Path | None) -> ssl.SSLContext:
    if url.startswith("https://"):
        return ssl.create_default_context(cafile=ca_file)
    # Reading the certificates of the machine takes tens of milliseconds; plain HTTP needs none, and this trusts none.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _body(response: httpx.Response, deadline: float, limit_s: float) -> bytes:
    if (encoding := response.headers.get("Content-Encoding", "identity")) != "identity":
        # A few compressed bytes could become any number before they are counted.
        raise ServiceGone(f"the answer is compressed ({encoding}), which was not asked for")
    received = bytearray()
    for chunk in response.iter_bytes():
        received += chunk
        if len(received) > MAX_MESSAGE_BYTES:
            raise ServiceGone(f"the answer is longer than {MAX_MESSAGE_BYTES} bytes")
        # httpx limits each read; a service that dribbles must not stretch the whole.
        if time.monotonic() > deadline:
            raise ServiceSlow(f"no complete answer within {limit_s:g} s")
    return bytes(received)
