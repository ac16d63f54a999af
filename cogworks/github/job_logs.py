"""The end of the log of a job of GitHub Actions, from the storage that GitHub names for a minute."""

import re
from collections import deque
from urllib.parse import urljoin, urlsplit

import httpx

from cogworks import __version__
from cogworks.bounded_http import bounded, within
from cogworks.github.credentials import TokenSource
from cogworks.github.meter import Requests

MAX_BYTES = 20_000_000
"""Of a log that is read to its end; a longer one is not told."""
KEPT_BYTES = 64_000
_TIMEOUT_S = 15.0
_WHOLE_S = 60.0
"""Until a log was read."""
"""Of the whole log, however slowly it comes."""
_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ", re.MULTILINE)
_ERROR = "##[error]"


class JobLogs:
    """Reads logs of one repository. What cannot be read is no failure: the checks say something without it."""

    def __init__(
        self,
        rest_url: str,
        tokens: TokenSource,
        repository: str,
        *,
        meter: Requests,
        transport: httpx.BaseTransport | None = None,
        limit_s: float = _WHOLE_S,
    ) -> None:
        """
        Args:
            rest_url: e.g. `https://api.github.com`.
            repository: owner/name
        """
        self._root = f"{rest_url}/repos/{repository}/actions/jobs"
        self._tokens = tokens
        self._meter = meter
        self._transport = transport
        self._limit_s = limit_s

    def tail(self, job_id: int) -> str:
        """The end of a log up to the last error in it, without times; empty where it is gone or may not be read."""
        headers = {"User-Agent": f"cogworks/{__version__}"}
        try:
            client = httpx.Client(
                transport=self._transport, timeout=_TIMEOUT_S, follow_redirects=False, headers=headers
            )
            with bounded(client) as http, within(self._limit_s):
                address = self._address(http, job_id)
                return _readable(self._read(http, address)) if address else ""
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError):
            return ""

    def _address(self, http: httpx.Client, job_id: int) -> str:
        asked = f"{self._root}/{job_id}/logs"
        self._meter.count_rest()
        headers = {"Authorization": f"Bearer {self._tokens.token()}"}
        # What it says besides is not read.
        with http.stream("GET", asked, headers=headers) as answer:
            pass
        place = answer.headers.get("location", "") if answer.is_redirect else ""
        address = urljoin(asked, place) if place else ""
        # The storage is elsewhere and gets no token; it is never less private than where its address came from.
        is_private = urlsplit(address).scheme == "https" or urlsplit(asked).scheme == "http"
        return address if is_private else ""

    def _read(self, http: httpx.Client, address: str) -> bytes:
        self._meter.count_rest()
        kept: deque[bytes] = deque()
        seen = size = 0
        with http.stream("GET", address) as answer:
            if answer.status_code != httpx.codes.OK:
                return b""
            for chunk in answer.iter_bytes():
                kept.append(chunk)
                seen, size = seen + len(chunk), size + len(chunk)
                while size - len(kept[0]) >= KEPT_BYTES:
                    size -= len(kept.popleft())
                # The middle of a log is taken for its end by whoever reads it.
                if seen >= MAX_BYTES:
                    return b""
        return b"".join(kept)[-KEPT_BYTES:]


def _readable(raw: bytes) -> str:
    text = _STAMP.sub("", raw.decode("utf-8", "replace"))
    # What comes after the last error cleans up.
    before, error, rest = text.rpartition(_ERROR)
    return before + error + rest.partition("\n")[0] if error else text
