"""Sends GraphQL documents to GitHub: retries what is safe to retry, waits when asked to, never repeats a write blindly."""

import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from types import TracebackType
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

import httpx

from cogworks import __version__
from cogworks.bounded_http import bounded, certificates, whole, within
from cogworks.errors import CogworksError, PermissionRefused, TryAgainLater, UsageError
from cogworks.github.credentials import TokenSource
from cogworks.github.documents import Answer, BrokenOff, OutcomeUnknown
from cogworks.github.meter import Requests
from cogworks.github.responses import (
    Answered,
    Broken,
    Limited,
    Moved,
    Refused,
    Unauthorised,
    Unsent,
    Verdict,
    judge,
)
from cogworks.leaving import masked
from cogworks.retrying import Again, End, Policy, doubling, retried

MAX_WAIT_S = 600.0
"""The longest time one call may spend waiting for a rate limit; beyond it the step ends and is run again later."""
MAX_REPEATS = 3
"""How often a failed request is sent again where that is safe."""
_TIMEOUT_S = 15.0
WHOLE_S = 120.0
"""Until an answer is whole. GitHub itself gives a query up after ten seconds."""
MAX_ANSWER_BYTES = 100_000_000
"""Unpacked. A git blob has at most 100 MB, and none comes this way that has more than one."""
_MAX_SECONDARY_WAITS = 3
_MAX_REDIRECTS = 5
_SECONDARY_WAIT_S = 60.0
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
_BAD_ADDRESS = (httpx.UnsupportedProtocol, httpx.InvalidURL)


class GraphQLClient:
    """Speaks to one GraphQL endpoint. A context manager; safe to use from several threads."""

    limit_s = WHOLE_S
    """How long one answer may take until it is whole."""

    def __init__(
        self,
        url: str,
        tokens: TokenSource,
        *,
        meter: Requests | None = None,
        transport: httpx.BaseTransport | None = None,
        mutation_pause_s: float = 0.0,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            url: the endpoint, e.g. `https://api.github.com/graphql`.
            mutation_pause_s: least time between two writes; 1 for github.com, 0 elsewhere.
            jitter: 0.0 to 1.0, added to every delay before a retry.
        """
        self.url = url
        self._tokens = tokens
        self._meter = meter if meter is not None else Requests()
        self._mutation_pause_s = mutation_pause_s
        self._sleep = sleep
        self._jitter = jitter
        self._monotonic = monotonic
        self._writing = Lock()
        self._last_write_s: float | None = None
        headers = {
            "User-Agent": f"cogworks/{__version__}",
            "Accept": "application/json",
            "Content-Type": "application/json",
        }
        self._http = bounded(
            httpx.Client(
                transport=transport,
                verify=certificates(),
                timeout=_TIMEOUT_S,
                follow_redirects=False,
                headers=headers,
            )
        )

    def __repr__(self) -> str:
        return f"GraphQLClient({self.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def query(
        self, document: str, variables: Mapping[str, Any], *, cut_short_repeats: int = MAX_REPEATS
    ) -> Answer:
        """Read. Partial answers come back with their errors; the caller judges them by path.

        Args:
            cut_short_repeats: how often to ask again after 502 and 504; fewer where a smaller document is the better answer.

        Raises:
            TryAgainLater: GitHub cannot be reached, is out of order, or wants a longer wait than 10 minutes.
            ResourceLimitsExceeded: the query is too large, or (BrokenOff) GitHub never finished it.
            PermissionRefused: the token is not accepted.
        """
        return self._call(document, variables, is_write=False, cut_short_repeats=cut_short_repeats).answer()

    def mutate(self, document: str, variables: Mapping[str, Any]) -> Answer:
        """Write. Sent again only where GitHub certainly did nothing. Each part may have failed: see `Answer.errors`.

        Raises:
            OutcomeUnknown: it was sent and no answer came; read before repeating it.
            TryAgainLater, PermissionRefused: as for `query`; nothing was written.
        """
        with self._writing:
            self._keep_distance()
            try:
                return self._call(document, variables, is_write=True).answer()
            finally:
                self._last_write_s = self._monotonic()

    def _call(
        self,
        document: str,
        variables: Mapping[str, Any],
        *,
        is_write: bool,
        cut_short_repeats: int = MAX_REPEATS,
    ) -> "_Call":
        return _Call(
            post=self._post,
            tokens=self._tokens,
            sleep=self._sleep,
            jitter=self._jitter,
            url=self.url,
            content=json.dumps({"query": document, "variables": variables}).encode(),
            is_write=is_write,
            cut_short_repeats=cut_short_repeats,
        )

    def _keep_distance(self) -> None:
        if self._last_write_s is None or self._mutation_pause_s <= 0:
            return
        remaining_s = self._last_write_s + self._mutation_pause_s - self._monotonic()
        if remaining_s > 0:
            self._sleep(remaining_s)

    def _post(self, url: str, token: str, content: bytes) -> Verdict:
        """One request. Never raises: every way to fail is a verdict."""
        self._meter.count_graphql()
        headers = {"Authorization": f"Bearer {token}"}
        try:
            with (
                within(self.limit_s),
                self._http.stream("POST", url, content=content, headers=headers) as response,
            ):
                body = whole(response, most_bytes=MAX_ANSWER_BYTES)
        except _BAD_ADDRESS as error:
            return Refused(UsageError(f"{url} is not an address of GitHub's GraphQL API: {error}."))
        except _NEVER_SENT as error:
            return Unsent(f"{url} cannot be reached: {_described(error, token)}")
        except (httpx.HTTPError, httpx.StreamError, httpx.CookieConflict) as error:
            return Broken(f"{url} gave no answer: {_described(error, token)}")
        return judge(response.status_code, response.headers, body, url=url)


def _described(error: Exception, token: str) -> str:
    return masked(f"{type(error).__name__} {error}".strip(), [token])


@dataclass
class _Call:
    """One document until it is answered or given up."""

    post: Callable[[str, str, bytes], Verdict]
    tokens: TokenSource
    sleep: Callable[[float], None]
    jitter: Callable[[], float]
    url: str
    content: bytes = field(repr=False)
    is_write: bool
    cut_short_repeats: int
    token: str = field(default="", repr=False)
    renewed: bool = False
    redirects: int = 0

    def __post_init__(self) -> None:
        pause = doubling(1.0)
        self.failing = Policy(MAX_REPEATS, pause=lambda failures: pause(failures) + self.jitter())

    def answer(self) -> Answer:
        self.token = self.tokens.token()
        return retried(self._tried, sleep=self.sleep)

    def _tried(self) -> Answer:
        """One answer to one request, wherever redirects lead and whichever token it takes."""
        while True:
            match self.post(self.url, self.token, self.content):
                case Answered(answer):
                    return answer
                case Refused(error):
                    raise error
                case Moved(location):
                    self._follow(location)
                case Unauthorised(message):
                    self.token = self._another_token(message)
                case Limited(message, wait_s):
                    raise _limited(message, wait_s)
                case Broken(message) if self.is_write:
                    raise OutcomeUnknown(
                        f"{message}. Whether the write happened is unknown. Run the step again: it looks before it repeats."
                    )
                case Broken(message, is_cut_short=True):
                    raise self._failed(message, self.cut_short_repeats, BrokenOff)
                case Broken(message) | Unsent(message):
                    raise self._failed(message, MAX_REPEATS, TryAgainLater)

    def _follow(self, location: str) -> None:
        target = urljoin(self.url, location)
        self.redirects += 1
        if self.redirects > _MAX_REDIRECTS:
            raise CogworksError(
                f"{self.url} redirects without end, last to {target}; check `GITHUB_GRAPHQL_URL`."
            )
        if urlsplit(target)[:2] != urlsplit(self.url)[:2]:
            # The token is for the host it was given for.
            raise UsageError(
                f"{self.url} redirects to another server, {target}; set `GITHUB_GRAPHQL_URL` to it if it is right."
            )
        self.url = target

    def _another_token(self, message: str) -> str:
        token = None if self.renewed else self.tokens.renewed()
        if token is None:
            raise PermissionRefused(
                f"{message}. The token is not valid or has expired. Set a new one and run the step again."
            )
        self.renewed = True
        return token

    def _failed(self, message: str, repeats: int, final: type[TryAgainLater]) -> Again:
        def error(end: End) -> TryAgainLater:
            times = f", {end.failures} times" if end.failures > 1 else ""
            return final(f"{message}{times}. Nothing was written; run the step again later.")

        return Again(self.failing, error, repeats=repeats)


_LIMITED = Policy(_MAX_SECONDARY_WAITS, pause=doubling(_SECONDARY_WAIT_S), longest_s=MAX_WAIT_S)


def _limited(message: str, wait_s: float | None) -> Again:
    def error(end: End) -> TryAgainLater:
        return TryAgainLater(
            f"{message}. GitHub wants a pause of {end.wait_s:.0f} s. This request wrote nothing. Run the step "
            "again after the pause.",
            retry_after_s=end.wait_s,
        )

    return Again(_LIMITED, error, wait_s=wait_s)
