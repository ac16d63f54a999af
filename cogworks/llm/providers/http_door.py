"""The one way to a model over HTTP: one question, sent again as long as the server asks for patience."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import httpx

from cogworks.errors import CogworksError, ConfigurationError, TryAgainLater
from cogworks.llm.provider import ModelReply
from cogworks.llm.providers.refusals import Refused, no_reply
from cogworks.loopback import is_loopback
from cogworks.masking import masked
from cogworks.retrying import Again, End, Policy, doubling, retried
from cogworks.settings.credentials import cleaned, credential_problem

MAX_ATTEMPTS = 5
MAX_WAIT_S = 30 * 60.0
"""Of waiting altogether before the step gives its place to others."""
MAX_ANSWER_BYTES = 32_000_000
"""Unpacked. The longest reply of any model has less than a tenth of it."""

_BACKOFF_S = doubling(0.5, longest_s=30.0)
_JITTER = 0.25
_REPLY_TIMEOUT_S = 600.0
_SHORTEST_S = 0.01


class Decipher(Protocol):
    """Says what an answer means; never raises."""

    def __call__(
        self, status: int, headers: Mapping[str, str], body: bytes, *, mask: Callable[[str], str]
    ) -> ModelReply | Refused: ...


class HttpDoor:
    """Posts JSON to one address."""

    def __init__(
        self,
        url: httpx.URL,
        *,
        key: str,
        headers: Mapping[str, str],
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
        transport: httpx.BaseTransport | None = None,
        left_s: Callable[[], float | None] = lambda: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Args:
        key: what no message shows; empty: there is none.
        sleep: waits so many seconds.
        jitter: 0.0 to 1.0, drawn anew at every call; shortens a wait by up to a quarter.
        transport: where requests go instead of the network.
        left_s: what is left of the time of whoever asks; nobody waits longer for a reply. None: no limit.
        now: seconds that only run forward.
        """
        self._url = url
        self._secrets = [key] if key else []
        self._sleep = sleep
        self._jitter = jitter
        self._left_s = left_s
        self._now = now
        self._client = httpx.Client(headers=headers, transport=transport, follow_redirects=False)

    @property
    def shown(self) -> str:
        """The address without user and password."""
        return str(self._url.copy_with(userinfo=b""))

    def close(self) -> None:
        """Give the connections back."""
        self._client.close()

    def patiently(self, attempt: Callable[[], ModelReply | Refused]) -> ModelReply:
        """Try until there is a reply, the error is final, five attempts are made or the waits pass 30 minutes."""
        policy = Policy(MAX_ATTEMPTS - 1, pause=self._backoff_s, longest_s=MAX_WAIT_S, left_s=self._left_s)

        def once() -> ModelReply:
            answer = attempt()
            if isinstance(answer, ModelReply):
                return answer
            if not answer.is_retryable:
                raise answer.error
            raise Again(policy, partial(_given_up, answer.error), wait_s=answer.wait_s) from answer.error

        return retried(once, sleep=self._sleep)

    def post(self, body: Mapping[str, Any], decipher: Decipher) -> ModelReply | Refused:
        """Send once."""
        timeout = self._timeout()
        try:
            with self._client.stream("POST", self._url, json=body, timeout=timeout) as response:
                content = self._content(response, timeout.read or _REPLY_TIMEOUT_S)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.CookieConflict, httpx.StreamError) as error:
            return self._failed(error)
        if content is None:
            return no_reply(f"it has more than {MAX_ANSWER_BYTES} bytes", wanted="a reply of bearable size")
        return decipher(response.status_code, response.headers, content, mask=self._masked)

    def _content(self, response: httpx.Response, limit_s: float) -> bytes | None:
        """The whole body, or None when it is too long. A server that sends a byte now and then ends with the limit, too."""
        began_s = self._now()
        content = bytearray()
        for piece in response.iter_bytes():
            content += piece
            if len(content) > MAX_ANSWER_BYTES:
                return None
            if self._now() - began_s > limit_s:
                raise httpx.ReadTimeout(f"the answer was not whole after {limit_s:.0f} s")
        return bytes(content)

    def _masked(self, text: str) -> str:
        """What a server says, without the key that it may quote."""
        return masked(text, self._secrets)

    def _timeout(self) -> httpx.Timeout:
        left_s = self._left_s()
        read_s = _REPLY_TIMEOUT_S if left_s is None else max(_SHORTEST_S, min(_REPLY_TIMEOUT_S, left_s))
        return httpx.Timeout(connect=min(5.0, read_s), read=read_s, write=min(60.0, read_s), pool=5.0)

    def _failed(self, error: Exception) -> Refused:
        found = self._masked(str(error)) or "no details"
        what = f"the model provider at {self.shown} could not be asked: {type(error).__name__}: {found}"
        if isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError)):
            problem = f"{what}. Check the address and the key"
            return Refused(ConfigurationError("COGWORKS_LLM_BASE_URL", [problem]), is_retryable=False)
        later = TryAgainLater(
            f"{what}. Check the network, then run the same step again.",
            is_timeout=isinstance(error, httpx.TimeoutException),
        )
        # After ten minutes without an answer the reply may well be paid for; asking again would pay it again.
        return Refused(later, is_retryable=not isinstance(error, httpx.ReadTimeout))

    def _backoff_s(self, failures: int) -> float:
        return _BACKOFF_S(failures) * (1.0 - _JITTER * self._jitter())


def checked_key(api_key: str) -> str:
    """The key as a header carries it.

    Raises:
        ConfigurationError: no header can carry it; it is not repeated.
    """
    key = cleaned(api_key)
    if problem := credential_problem(key):
        raise ConfigurationError("COGWORKS_LLM_API_KEY", [problem])
    return key


def address(base_url: str, tail: str, *, example: str, variable: str = "COGWORKS_LLM_BASE_URL") -> httpx.URL:
    """Where questions are sent.

    Args:
        tail: the path that is added.
        example: a base URL that would do.
        variable: where the base URL comes from.

    Raises:
        ConfigurationError: the base URL is none, or would carry the key in the clear.
    """
    text = base_url.strip().rstrip("/")
    try:
        base, url = httpx.URL(text), httpx.URL(text + tail)
    except (httpx.InvalidURL, ValueError):
        base = url = httpx.URL("")
    problem = None
    if url.scheme not in {"http", "https"} or not url.host:
        problem = f"is no web address; set it to one like {example}"
    elif url.query or url.fragment:
        problem = "carries a query or a fragment; name only scheme, host and path"
    elif url.scheme == "http" and not is_loopback(url.host):
        https = str(base.copy_with(scheme="https", userinfo=b"")).rstrip("/")
        problem = f"would send the API key unencrypted to {url.host!r}; use {https}"
    if problem is not None:
        raise ConfigurationError(variable, [problem])
    return url


def _given_up(error: CogworksError, end: End) -> CogworksError:
    if end.longest_s is None:
        return error
    message = f"{error} It asks for {end.wait_s:.0f} s, more than the {end.longest_s:.0f} s a step waits."
    return TryAgainLater(message, retry_after_s=end.wait_s)
