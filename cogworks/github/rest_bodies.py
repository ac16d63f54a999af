"""What PyGithub reads of answers: as a stream, to an end in time and in bytes."""

import time
from collections.abc import ItemsView
from typing import Any

import requests
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester

WHOLE_S = 120.0
"""Until a body is whole."""
MAX_BYTES = 200_000_000
"""Unpacked. The largest git blob has 100 MB, in base64 a third more."""
_PIECE_BYTES = 65_536


class _Read:
    """An answer whose body was read, in the form in which PyGithub looks at it."""

    def __init__(self, response: requests.Response, *, limit_s: float) -> None:
        self.status = response.status_code
        self.headers = response.headers
        with response:
            self._body = _body(response, limit_s)
        self._encoding = response.encoding or "utf-8"

    def getheaders(self) -> ItemsView[str, str]:
        return self.headers.items()

    def read(self) -> str:
        try:
            return self._body.decode(self._encoding, "replace")
        except LookupError:
            return self._body.decode("utf-8", "replace")


def _body(response: requests.Response, limit_s: float) -> bytes:
    ends_s = time.monotonic() + limit_s
    content = bytearray()
    # Whoever asks for a whole piece waits for it, however slowly it comes.
    while piece := response.raw.read1(_PIECE_BYTES, decode_content=True):
        content += piece
        if len(content) > MAX_BYTES:
            raise requests.exceptions.ContentDecodingError(f"the answer has more than {MAX_BYTES} bytes")
        if time.monotonic() > ends_s:
            raise requests.exceptions.ReadTimeout(f"the answer was not whole after {limit_s:g} s")
    return bytes(content)


class _Http(HTTPRequestsConnectionClass):
    def getresponse(self) -> Any:
        self.session.stream = True
        return _Read(super().getresponse().response, limit_s=_limit_of(self.retry))


class _Https(HTTPSRequestsConnectionClass):
    def getresponse(self) -> Any:
        self.session.stream = True
        return _Read(super().getresponse().response, limit_s=_limit_of(self.retry))


def _limit_of(retry: object) -> float:
    return float(getattr(retry, "limit_s", WHOLE_S))


Requester.injectConnectionClasses(_Http, _Https)
