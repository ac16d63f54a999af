"""The one way to a model over HTTP: one question, sent again as long as the server asks for patience."""

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import httpx

from cogworks.bounded_http import authorities_for, bounded, within
from cogworks.errors import CogworksError, ConfigurationError, TryAgainLater
from cogworks.leaving import masked
from cogworks.llm.provider import BrokenReply, ModelReply
from cogworks.llm.providers.events import Assembly, Event, Events
from cogworks.llm.providers.refusals import Mask, Refused, no_reply, without
from cogworks.llm.waiting import Waits
from cogworks.loopback import is_loopback
from cogworks.retrying import Again, End, Policy, doubling, retried
from cogworks.settings.credentials import cleaned, credential_problem

MAX_ATTEMPTS = 5
MAX_WAIT_S = 30 * 60.0
"""Of waiting altogether before the step gives its place to others."""
MAX_ANSWER_BYTES = 32_000_000
"""Unpacked. The longest reply of any model has less than a tenth of it."""

MAX_STREAM_BYTES = 256_000_000
"""Of a stream, which is not kept: for each token it takes up to a few hundred bytes."""
MAX_EVENT_BYTES = 4_000_000
BRIEFLY_S = 10.0
"""For an answer that one can do without."""

_BACKOFF_S = doubling(0.5, longest_s=30.0)
_JITTER = 0.25
_STREAM_TYPE = "text/event-stream"
_SHORTEST_S = 0.01
_OURS = ("the answer was not whole", "nothing of the reply came")
"""How the reasons begin for which we ended a wait ourselves."""


class Decipher(Protocol):
    """Says what an answer means; never raises."""

    def __call__(
        self, status: int, headers: Mapping[str, str], body: bytes, *, mask: Mask
    ) -> ModelReply | Refused: ...


class StreamReader(Protocol):
    """Puts events together of the bytes of a stream."""

    @property
    def pending_bytes(self) -> int:
        """Of an event that has not ended yet."""

    def after(self, piece: bytes) -> Iterator[Event]:
        """The events that end with this piece; ValueError: it is no such stream."""


class Permit:
    """Whether a server may be asked: where it asked one caller to wait, all of them do."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._opens_s = -math.inf
        self._lock = threading.Lock()

    def close_for(self, wait_s: float) -> None:
        """Nobody begins to ask for so many seconds."""
        with self._lock:
            self._opens_s = max(self._opens_s, self._now() + wait_s)

    def left_s(self) -> float:
        """How long the next question has to wait."""
        with self._lock:
            return max(0.0, self._opens_s - self._now())


class HttpDoor:
    """Posts JSON to one address, and reads the answer whole or as a stream of events."""

    def __init__(
        self,
        url: httpx.URL,
        *,
        key: str,
        headers: Mapping[str, str],
        waits: Waits,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Args:
        key: what no message shows; empty: there is none.
        transport: where requests go instead of the network.
        """
        self._url = url
        self._secrets = {key} if key else set[str]()
        self._streams: Mapping[str, Callable[[], StreamReader]] = {_STREAM_TYPE: Events}
        self._waits = waits
        self._permit = Permit(waits.now)
        verify = authorities_for(url)
        client = httpx.Client(headers=headers, transport=transport, follow_redirects=False, verify=verify)
        self._client = bounded(client)

    def sign(
        self, auth: httpx.Auth, *, streams: "Mapping[str, Callable[[], StreamReader]] | None" = None
    ) -> None:
        """Sign every request from now on.

        Args:
            streams: further kinds of streams and who reads them.
        """
        self._client.auth = auth
        self._streams = {**self._streams, **(streams or {})}

    def hide(self, secret: str) -> None:
        """Show no message with this text from now on."""
        if secret:
            self._secrets.add(secret)

    @property
    def shown(self) -> str:
        """The address without user and password."""
        return str(self._url.copy_with(userinfo=b""))

    def close(self) -> None:
        """Give the connections back."""
        self._client.close()

    def patiently(self, attempt: Callable[[], ModelReply | Refused]) -> ModelReply:
        """Try until there is a reply, the error is final, five attempts are made or the waits pass 30 minutes.

        A reply that broke off after it began is no reason to try again here: it is paid for, so the caller counts it first.
        """
        policy = Policy(
            MAX_ATTEMPTS - 1, pause=self._backoff_s, longest_s=MAX_WAIT_S, left_s=self._waits.left_s
        )
        self._await_permit()

        def once() -> ModelReply:
            answer = without(attempt(), self._secrets)
            if isinstance(answer, ModelReply):
                return answer
            if answer.partial is not None:
                raise BrokenReply(answer.error, answer.partial, is_retryable=answer.is_retryable)
            if not answer.is_retryable:
                raise answer.error
            if answer.wait_s is not None:
                self._permit.close_for(answer.wait_s)
            raise Again(policy, partial(_given_up, answer.error), wait_s=answer.wait_s) from answer.error

        return retried(once, sleep=self._waits.sleep)

    def _await_permit(self) -> None:
        wait_s, left_s = self._permit.left_s(), self._waits.left_s()
        if wait_s > MAX_WAIT_S or (left_s is not None and 0 < left_s <= wait_s):
            raise TryAgainLater(
                f"the model provider at {self.shown} asked to wait {wait_s:.0f} s. Run the same step again after "
                "that.",
                retry_after_s=wait_s,
            )
        if wait_s > 0:
            self._waits.sleep(wait_s)

    def post(
        self,
        body: Mapping[str, Any],
        decipher: Decipher,
        assembly: Callable[[Mask], Assembly],
        *,
        url: httpx.URL | None = None,
    ) -> ModelReply | Refused:
        """Send once.

        Args:
            assembly: begins a reply that comes as a stream; a server is free not to send one.
            url: another address of the same server.
        """
        growing = assembly(self._masked)
        left_s = self._waits.left_s()
        timeout = self._timeout(left_s)
        try:
            with self._opened(url or self._url, body, timeout) as response:
                reader = self._streams.get(_kind_of(response))
                if response.status_code == 200 and reader is not None:
                    return _with_what_came(self._streamed(response, reader(), growing, left_s), growing)
                content = self._content(response, timeout.read or self._waits.stall_s)
        except httpx.ReadTimeout as error:
            return _with_what_came(self._silent(error, timeout.read or self._waits.stall_s), growing)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.CookieConflict, httpx.StreamError) as error:
            return _with_what_came(self._failed(error), growing)
        if content is None:
            return no_reply(f"it has more than {MAX_ANSWER_BYTES} bytes", wanted="a reply of bearable size")
        return decipher(response.status_code, response.headers, content, mask=self._masked)

    @contextmanager
    def _opened(
        self, url: httpx.URL, body: Mapping[str, Any], timeout: httpx.Timeout
    ) -> Iterator[httpx.Response]:
        """The answer once its head is there, which a server may not dribble either."""
        with ExitStack() as opened:
            with within(timeout.read or self._waits.stall_s):
                response = opened.enter_context(self._client.stream("POST", url, json=body, timeout=timeout))
            yield response

    def briefly(self, body: Mapping[str, Any], *, url: httpx.URL) -> bytes | None:
        """Send once and wait a few seconds; None where nothing of use came back.

        Args:
            url: another address of the same server.
        """
        left_s = self._waits.left_s()
        limit_s = BRIEFLY_S if left_s is None else max(_SHORTEST_S, min(BRIEFLY_S, left_s))
        if self._permit.left_s() > 0:
            return None
        try:
            with self._opened(url, body, httpx.Timeout(limit_s)) as response:
                return self._content(response, limit_s) if response.status_code == 200 else None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.CookieConflict, httpx.StreamError):
            return None

    def _streamed(
        self, response: httpx.Response, events: StreamReader, growing: Assembly, left_s: float | None
    ) -> ModelReply | Refused:
        """The reply that the events of a stream make up."""
        size = 0
        began_s = heard_s = self._waits.now()
        for piece in response.iter_bytes():
            size += len(piece)
            grown = _grown(growing, events.after(piece))
            if isinstance(grown, Refused):
                return grown
            if grown:
                heard_s = self._waits.now()
                self._waits.heard(growing.said_bytes)
            if growing.is_over:
                break
            is_too_long = growing.said_bytes > MAX_ANSWER_BYTES or size > MAX_STREAM_BYTES
            if is_too_long or events.pending_bytes > MAX_EVENT_BYTES:
                return no_reply("its stream has no end", wanted="a reply of bearable size")
            self._refuse_late(began_s, heard_s, left_s)
        return growing.reply()

    def _refuse_late(self, began_s: float, heard_s: float, left_s: float | None) -> None:
        now_s = self._waits.now()
        if left_s is not None and now_s - began_s > left_s:
            raise httpx.ReadTimeout(f"the answer was not whole after {left_s:.0f} s")
        if now_s - heard_s > self._waits.stall_s:
            raise httpx.ReadTimeout(f"nothing of the reply came for {self._waits.stall_s:.0f} s")

    def _content(self, response: httpx.Response, limit_s: float) -> bytes | None:
        """The whole body, or None when it is too long. A server that sends a byte now and then ends with the limit, too."""
        began_s = self._waits.now()
        content = bytearray()
        for piece in response.iter_bytes():
            content += piece
            if len(content) > MAX_ANSWER_BYTES:
                return None
            if self._waits.now() - began_s > limit_s:
                raise httpx.ReadTimeout(f"the answer was not whole after {limit_s:.0f} s")
        return bytes(content)

    def _masked(self, text: str) -> str:
        """What a server says, without the key that it may quote."""
        return masked(text, self._secrets)

    def _timeout(self, left_s: float | None) -> httpx.Timeout:
        read_s = self._waits.stall_s if left_s is None else max(_SHORTEST_S, min(self._waits.stall_s, left_s))
        return httpx.Timeout(connect=min(5.0, read_s), read=read_s, write=min(60.0, read_s), pool=5.0)

    def _silent(self, error: httpx.ReadTimeout, read_s: float) -> Refused:
        """After so long without an answer the reply may well be paid for; asking again at once would pay it again."""
        reason = str(error)
        what = reason if reason.startswith(_OURS) else f"nothing came for {read_s:.0f} s"
        later = TryAgainLater(
            f"the model provider at {self.shown} gave no answer in time: {what}. Run the same step again. For a "
            "model that thinks for longer, raise `stall_timeout_s` under `[llm]`, or the time limit of its "
            "node.",
            is_timeout=True,
        )
        return Refused(later, is_retryable=False)

    def _failed(self, error: Exception) -> Refused:
        details = self._masked(str(error)) or "no details"
        what = f"the model provider at {self.shown} could not be asked: {type(error).__name__}: {details}"
        if isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError)):
            problem = f"{what}. Check the address and the key"
            return Refused(ConfigurationError("COGWORKS_LLM_BASE_URL", [problem]), is_retryable=False)
        later = TryAgainLater(
            f"{what}. Check the network, then run the same step again.",
            is_timeout=isinstance(error, httpx.TimeoutException),
        )
        return Refused(later, is_retryable=True)

    def _backoff_s(self, failures: int) -> float:
        return _BACKOFF_S(failures) * (1.0 - _JITTER * self._waits.jitter())


def _kind_of(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def _grown(growing: Assembly, events: Iterator[Event]) -> bool | Refused:
    """Whether some events brought something of the reply, or why the stream is none."""
    is_news = False
    try:
        for event in events:
            added = growing.add(event)
            if isinstance(added, Refused):
                return added
            is_news = is_news or added
            if growing.is_over:
                break
    except ValueError:
        return no_reply("its stream cannot be read", wanted="a stream of events")
    return is_news


def _with_what_came(answer: ModelReply | Refused, growing: Assembly) -> ModelReply | Refused:
    """A refusal together with the part of the reply that is paid for."""
    return answer if isinstance(answer, ModelReply) else replace(answer, partial=growing.so_far())


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
    is_overload = isinstance(error, TryAgainLater) and error.is_overload
    return TryAgainLater(message, retry_after_s=end.wait_s, is_overload=is_overload)
