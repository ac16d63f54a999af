"""The provider `anthropic`: one question over HTTPS, sent again as long as the server asks for patience."""

from collections.abc import Callable
from typing import Self

import httpx

from cogworks.credential_rules import cleaned, credential_problem
from cogworks.errors import CogworksError, ConfigurationError, TryAgainLater
from cogworks.llm.anthropic_wire import Refused, decipher, request_body, request_headers
from cogworks.llm.provider import ModelReply, ModelRequest
from cogworks.loopback import is_loopback
from cogworks.masking import masked

BASE_URL = "https://api.anthropic.com"
MAX_ATTEMPTS = 5
MAX_WAIT_S = 30 * 60.0
"""Of waiting altogether before the step gives its place to others."""

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_JITTER = 0.25
_REPLY_TIMEOUT_S = 600.0
_SHORTEST_S = 0.01


class AnthropicProvider:
    """Speaks the Messages API; see `Provider` for what it raises. Close it, or use it in a `with` statement."""

    def __init__(
        self,
        api_key: str,
        *,
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
        base_url: str = BASE_URL,
        transport: httpx.BaseTransport | None = None,
        left_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Args:
            sleep: waits so many seconds.
            jitter: 0.0 to 1.0, drawn anew at every call; shortens a wait by up to a quarter.
            base_url: scheme, host and an optional path; `/v1/messages` is added.
            transport: where requests go instead of the network.
            left_s: what is left of the time of whoever asks; nobody waits longer for a reply. None: no limit.

        Raises: ConfigurationError for a key no header can carry or a base URL that is none; neither is repeated in it.
        """
        self._key = _checked_key(api_key)
        self._url = endpoint(base_url)
        self._sleep = sleep
        self._left_s = left_s
        self._jitter = jitter
        self._client = httpx.Client(
            headers=request_headers(self._key),
            transport=transport,
            follow_redirects=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"AnthropicProvider(url={_shown(self._url)!r})"

    def close(self) -> None:
        """Give the connections back."""
        self._client.close()

    def complete(self, request: ModelRequest) -> ModelReply:
        """Send until there is a reply, the error is final, five attempts are made or the waits pass 30 minutes."""
        waited_s = 0.0
        attempt = 0
        while True:
            attempt += 1
            answer = self._send(request)
            if isinstance(answer, ModelReply):
                return answer
            wait_s = answer.wait_s if answer.wait_s is not None else self._backoff_s(attempt)
            if not answer.is_retryable or attempt == MAX_ATTEMPTS:
                raise answer.error
            if waited_s + wait_s > MAX_WAIT_S:
                raise _too_long(answer.error, wait_s, MAX_WAIT_S) from answer.error
            left_s = self._left_s()
            if left_s is not None and wait_s >= left_s:
                raise _too_long(answer.error, wait_s, left_s) from answer.error
            self._sleep(wait_s)
            waited_s += wait_s

    def _send(self, request: ModelRequest) -> ModelReply | Refused:
        try:
            response = self._client.post(self._url, json=request_body(request), timeout=self._timeout())
        except (httpx.HTTPError, httpx.InvalidURL, httpx.CookieConflict, httpx.StreamError) as error:
            return self._failed(error)
        return decipher(response.status_code, response.headers, response.content, mask=self._masked)

    def _masked(self, text: str) -> str:
        """What a server says, without the key that it may quote."""
        return masked(text, [self._key])

    def _timeout(self) -> httpx.Timeout:
        left_s = self._left_s()
        read_s = _REPLY_TIMEOUT_S if left_s is None else max(_SHORTEST_S, min(_REPLY_TIMEOUT_S, left_s))
        return httpx.Timeout(connect=min(5.0, read_s), read=read_s, write=min(60.0, read_s), pool=5.0)

    def _failed(self, error: Exception) -> Refused:
        found = self._masked(str(error)) or "no details"
        what = (
            f"the model provider at {_shown(self._url)} could not be asked: {type(error).__name__}: {found}"
        )
        if isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError)):
            problem = f"{what}. Check the address and the key"
            return Refused(ConfigurationError("COGWORKS_LLM_BASE_URL", [problem]), is_retryable=False)
        later = TryAgainLater(
            f"{what}. Check the network, then run the same step again.",
            is_timeout=isinstance(error, httpx.TimeoutException),
        )
        # After ten minutes without an answer the reply may well be paid for; asking again would pay it again.
        return Refused(later, is_retryable=not isinstance(error, httpx.ReadTimeout))

    def _backoff_s(self, attempt: int) -> float:
        longest = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0 ** (attempt - 1))
        return longest * (1.0 - _JITTER * self._jitter())


def _too_long(error: CogworksError, wait_s: float, longest_s: float) -> TryAgainLater:
    message = f"{error} It asks for {wait_s:.0f} s, more than the {longest_s:.0f} s a step waits."
    return TryAgainLater(message, retry_after_s=wait_s)


def _checked_key(api_key: str) -> str:
    key = cleaned(api_key)
    if problem := credential_problem(key):
        raise ConfigurationError("COGWORKS_LLM_API_KEY", [problem])
    return key


def endpoint(base_url: str) -> httpx.URL:
    """Where questions are sent.

    Raises:
        ConfigurationError: the base URL is none, or would carry the key in the clear.
    """
    try:
        url = httpx.URL(base_url.strip().rstrip("/") + "/v1/messages")
    except (httpx.InvalidURL, ValueError):
        url = httpx.URL("")
    problem = None
    if url.scheme not in {"http", "https"} or not url.host:
        problem = f"is no web address; set it to one like {BASE_URL}"
    elif url.query or url.fragment:
        problem = "carries a query or a fragment; name only scheme, host and path"
    elif url.scheme == "http" and not is_loopback(url.host):
        https = url.copy_with(scheme="https", userinfo=b"", path=url.path.removesuffix("/v1/messages"))
        problem = f"would send the API key unencrypted to {url.host!r}; use {https}"
    if problem is not None:
        raise ConfigurationError("COGWORKS_LLM_BASE_URL", [problem])
    return url


def _shown(url: httpx.URL) -> str:
    return str(url.copy_with(userinfo=b""))
