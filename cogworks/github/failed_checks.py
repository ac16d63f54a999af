"""What failed checks say: summaries, remarks in files, and the end of the log of a job of GitHub Actions."""

import re
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

import httpx

from cogworks import __version__
from cogworks.bounded_http import bounded, certificates, within
from cogworks.forge.facts import FailedCheck, Remarked
from cogworks.forge.snapshot import Snapshot
from cogworks.forge.unmergeable import MAX_CHECKS, Failing
from cogworks.github.credentials import TokenSource
from cogworks.github.documents import Answer, as_error, document, is_forbidden
from cogworks.github.meter import Requests
from cogworks.github.pulls import check_seen
from cogworks.unexpected import Node, each, expecting

_JOB = re.compile(r"/actions/runs/\d+/job/(?P<job>\d{1,19})(?:[/?#]|$)")
_LEVELS: Mapping[str, int] = {"FAILURE": 0, "WARNING": 1}

ReadsLog = Callable[[int], str]
"""The end of the log of a job; empty where it cannot be read."""


class Queries(Protocol):
    """GitHub, as far as it is read."""

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer: ...


def read_failed_checks(
    client: Queries, snapshot: Snapshot, failing: Failing, log_of: ReadsLog
) -> tuple[FailedCheck, ...]:
    """What the checks say that failed at a head, in their order; one request, and one for each log.

    Raises:
        CogworksError: they cannot be read.
    """
    owner, _, name = snapshot.repository.name_with_owner.partition("/")
    pull = failing.pull
    ids = [check.node_id for check in failing.checks]
    variables = {"owner": owner, "name": name, "base": pull.base_oid, "ids": ids}
    answer = client.query(document("failed-checks"), variables)
    for problem in answer.errors:
        # Without what fails on the base, and without what is gone since, the rest can be reported.
        if not (problem.type == "NOT_FOUND" or is_forbidden(problem)):
            raise as_error(problem, doing=f"read the checks of {pull.url}")
    with expecting("nodes"):
        on_base = _failed_names(answer.data.get("repository") or {})
        nodes = [node for node in answer.data.get("nodes") or () if node]
        failed = [_failed_check(node, on_base) for node in nodes]
        jobs = [_job_of(node) for node in nodes]
    with_log = [place for place, check in enumerate(failed) if not check.fails_on_base][:MAX_CHECKS]
    return tuple(
        check.model_copy(update={"log_tail": log_of(job)})
        if place in with_log and (job := jobs[place]) is not None
        else check
        for place, check in enumerate(failed)
    )


def _failed_names(repository: Node) -> frozenset[str]:
    rollup = (repository.get("object") or {}).get("statusCheckRollup") or {}
    nodes = (rollup.get("contexts") or {}).get("nodes") or []
    return frozenset(check.name for check in each(nodes, "contexts.nodes", check_seen) if check.is_failed)


def _failed_check(node: Node, on_base: frozenset[str]) -> FailedCheck:
    if node["__typename"] == "StatusContext":
        name = node["context"]
        return FailedCheck(name=name, summary=node["description"] or "", fails_on_base=name in on_base)
    listed = (node.get("annotations") or {}).get("nodes") or ()
    worst = sorted(listed, key=lambda entry: _LEVELS.get(entry["annotationLevel"], 2))
    return FailedCheck(
        name=node["name"],
        summary="\n".join(filter(None, [node["title"], node["summary"]])),
        remarks=each(worst, "annotations.nodes", _remarked),
        fails_on_base=node["name"] in on_base,
    )


def _remarked(node: Node) -> Remarked:
    text = ": ".join(filter(None, [node["title"], node["message"]]))
    return Remarked(path=node["path"], line=node["location"]["start"]["line"], text=text)


def _job_of(node: Node) -> int | None:
    match = _JOB.search(node.get("detailsUrl") or "")
    return int(match["job"]) if match else None


MAX_BYTES = 20_000_000
"""Of a log that is read to its end; a longer one is not shown."""
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
                transport=self._transport,
                verify=certificates(),
                timeout=_TIMEOUT_S,
                follow_redirects=False,
                headers=headers,
            )
            with bounded(client) as http, within(self._limit_s):
                address = self._address(http, job_id)
                return _readable(self._read(http, address)) if address else ""
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError):
            return ""

    def _address(self, http: httpx.Client, job_id: int) -> str:
        log_url = f"{self._root}/{job_id}/logs"
        self._meter.count_rest()
        headers = {"Authorization": f"Bearer {self._tokens.token()}"}
        # What it says besides is not read.
        with http.stream("GET", log_url, headers=headers) as answer:
            pass
        place = answer.headers.get("location", "") if answer.is_redirect else ""
        address = urljoin(log_url, place) if place else ""
        # The storage is elsewhere and gets no token; it is never less private than where its address came from.
        is_private = urlsplit(address).scheme == "https" or urlsplit(log_url).scheme == "http"
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
                # A reader takes the middle of a log for its end.
                if seen >= MAX_BYTES:
                    return b""
        return b"".join(kept)[-KEPT_BYTES:]


def _readable(raw: bytes) -> str:
    text = _STAMP.sub("", raw.decode("utf-8", "replace"))
    # What comes after the last error cleans up.
    before, error, rest = text.rpartition(_ERROR)
    return before + error + rest.partition("\n")[0] if error else text
