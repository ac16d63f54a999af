"""The few things only GitHub's REST API can do, through PyGithub: ledger root, labels, permissions, checks."""

import base64
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import github as pygithub
import requests
import urllib3

from cogworks import __version__
from cogworks.errors import CogworksError, TryAgainLater, UsageError
from cogworks.forge.effects import ReportCheck
from cogworks.github.credentials import TokenSource
from cogworks.github.documents import OutcomeUnknown
from cogworks.github.meter import Requests
from cogworks.github.rest_bodies import WHOLE_S
from cogworks.github.rest_failures import AlreadyExists, failure, parsed
from cogworks.retrying import Again, Policy, doubling, retried
from cogworks.unexpected import expecting
from cogworks.vocabulary import BranchName, CommitOid, Login

_UNANSWERED = (
    requests.exceptions.RequestException,
    urllib3.exceptions.HTTPError,
    urllib3.exceptions.ProxySchemeUnsupported,
)
_TIMEOUT_S = 15
_MAX_WAIT_S = 600.0
_NEW = Policy(2, pause=doubling(1.0))
_ROOT_MESSAGE = "cogworks: ledger begin [skip ci]\n\nskip-checks: true"
_ROOT_README = """# Ledgers

Every branch `cogworks/ledger/<issue>` starts here and keeps the state and the history of one work item of cogworks:
`git log -p` shows both. Nothing of the repository's own files is on these branches. Do not edit or merge them.
"""


class RestClient:
    """Speaks to one repository through REST; every request is counted. A context manager."""

    def __init__(
        self,
        rest_url: str,
        tokens: TokenSource,
        repository: str,
        *,
        meter: Requests | None = None,
        backoff_s: float = 0.5,
        sleep: Callable[[float], None] = time.sleep,
        limit_s: float = WHOLE_S,
    ) -> None:
        """
        Args:
            rest_url: e.g. `https://api.github.com`.
            repository: owner/name
            backoff_s: the first pause before a failed read is repeated; each further one is twice as long.
            limit_s: how long the body of one answer may take until it is whole.
        """
        self._url = rest_url
        self._tokens = tokens
        self._root = f"/repos/{repository}"
        self._meter = meter if meter is not None else Requests()
        self._backoff_s = backoff_s
        self._limit_s = limit_s
        self._sleep = sleep
        self._api = self._connected(tokens.token())

    def _connected(self, token: str) -> pygithub.Github:
        # Only reads are repeated: with its defaults PyGithub would write again after a lost answer.
        retry = _CountingRetry(
            total=3,
            backoff_factor=self._backoff_s,
            allowed_methods={"GET", "HEAD"},
            max_rate_limit_wait=_MAX_WAIT_S,
        )
        retry.meter, retry.limit_s = self._meter, self._limit_s
        return pygithub.Github(
            auth=pygithub.Auth.Token(token),
            base_url=self._url,
            lazy=True,
            per_page=100,
            timeout=_TIMEOUT_S,
            user_agent=f"cogworks/{__version__}",
            seconds_between_requests=None,
            seconds_between_writes=None,
            retry=retry,
        )

    def __repr__(self) -> str:
        return f"RestClient({self._url + self._root!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._api.close()

    def create_ledger_root(self, branch: BranchName) -> CommitOid:
        """The parentless commit every ledger starts from, made unless it exists; its oid.

        Raises:
            PermissionRefused: the token may not, or a rule of the repository forbids to create the branch.
            OutcomeUnknown: no answer; calling it again is safe.
        """
        file = {"path": "README.md", "mode": "100644", "type": "blob", "content": _ROOT_README}
        tree = self._call("POST", "/git/trees", {"tree": [file]})["sha"]
        commit = self._call("POST", "/git/commits", {"message": _ROOT_MESSAGE, "tree": tree, "parents": []})[
            "sha"
        ]
        try:
            self._call("POST", "/git/refs", {"ref": f"refs/heads/{branch}", "sha": commit})
        except AlreadyExists:
            ref = self._call_for_new(f"/git/ref/{quote(f'heads/{branch}')}")
            return CommitOid(ref["object"]["sha"])
        return CommitOid(commit)

    def read_blob(self, oid: str) -> bytes:
        """The whole content of a git blob, whatever its size up to GitHub's 100 MB.

        Raises:
            UnexpectedAnswer: it came in no known encoding.
        """
        with expecting(f"blob {oid}"):
            blob = self._call("GET", f"/git/blobs/{quote(oid, safe='')}")
            if blob["encoding"] != "base64":
                return str(blob["content"]).encode()
            return base64.b64decode(blob["content"])

    def ensure_label(self, name: str, color: str, description: str) -> str:
        """Create the label unless it exists; its node id."""
        try:
            label = self._call("POST", "/labels", {"name": name, "color": color, "description": description})
        except AlreadyExists:
            label = self._call_for_new(f"/labels/{quote(name, safe='')}")
        with expecting(f"label {name}"):
            return str(label["node_id"])

    def own_permissions(self) -> Mapping[str, bool]:
        """What the token's owner may do here, in GitHub's words (`pull`, `push`, `admin`, …); empty when it is not said."""
        with expecting("repository"):
            permissions: Mapping[str, bool] = self._call("GET", "").get("permissions") or {}
            return permissions

    def actions_may_open_pull_requests(self) -> bool:
        """Whether workflows may open pull requests with their own token; an administrator's switch.

        Raises:
            PermissionRefused: the token may not read that.
        """
        with expecting("workflow permissions"):
            return bool(
                self._call("GET", "/actions/permissions/workflow")["can_approve_pull_request_reviews"]
            )

    def rules_of(self, branch: str) -> tuple[str, ...]:
        """The kinds of rules that hold for a branch of this name, there or not, e.g. `creation`; sorted."""
        with expecting("rules"):
            rules = self._call("GET", f"/rules/branches/{quote(branch, safe='')}?per_page=100")
            return tuple(sorted({str(rule["type"]) for rule in rules}))

    def permission_of(self, login: Login) -> str:
        """`admin`, `maintain`, `write`, `triage`, `read` or `none`: what somebody may do in the repository."""
        try:
            reply = self._call("GET", f"/collaborators/{quote(login, safe='')}/permission")
        except UsageError:
            return "none"
        with expecting("permission"):
            return str(reply.get("role_name") or reply["permission"])

    def report_check(self, check: ReportCheck) -> None:
        """Make a check run unless one of the same visit is there; obeys `checks.CheckSource`.

        Raises:
            PermissionRefused: the token lacks `checks: write`.
            OutcomeUnknown: no answer; calling it again looks first.
        """
        name, head = quote(check.name, safe=""), quote(check.head, safe="")
        with expecting("check runs"):
            there = self._call("GET", f"/commits/{head}/check-runs?check_name={name}&filter=all&per_page=100")
            if any(run.get("external_id") == check.visit_key for run in there["check_runs"]):
                return
        run = {
            "name": check.name,
            "head_sha": check.head,
            "status": "completed",
            "conclusion": check.conclusion,
            "external_id": check.visit_key,
            "output": {"title": check.title, "summary": check.summary},
        }
        self._call("POST", "/check-runs", run)

    def _call_for_new(self, path: str) -> Any:
        """Read something that was made a moment ago: a replica may not have it yet, so a 404 is asked twice more."""

        def attempt() -> Any:
            try:
                return self._call("GET", path)
            except UsageError as error:
                raise Again(_NEW, error) from error

        return retried(attempt, sleep=self._sleep)

    def _call(self, verb: str, path: str, payload: Mapping[str, Any] | None = None) -> Any:
        """One request; the parsed body.

        Raises: what `rest_failures.failure` says, and OutcomeUnknown for a write without an answer.
        """
        is_write = verb not in ("GET", "HEAD")
        status, headers, body = self._request(verb, path, payload)
        if status == 401 and (token := self._tokens.renewed()) is not None:
            self._api.close()
            self._api = self._connected(token)
            status, headers, body = self._request(verb, path, payload)
        if 200 <= status < 300:
            return parsed(body)
        raise failure(f"{verb} {self._url}{self._root}{path}", status, body, headers, is_write=is_write)

    def _request(
        self, verb: str, path: str, payload: Mapping[str, Any] | None
    ) -> tuple[int, Mapping[str, str], str]:
        self._meter.count_rest()
        with mapped_errors(f"{verb} {self._url}{self._root}{path}", is_write=verb not in ("GET", "HEAD")):
            return self._api.requester.requestJson(verb, self._root + path, input=payload)


@contextmanager
def mapped_errors(call: str, *, is_write: bool) -> Iterator[None]:
    """Turns everything PyGithub and the library below it raise into errors of ours; no message of theirs holds the token."""
    try:
        yield
    except pygithub.RateLimitExceededExceedsMaxWait as error:
        raise TryAgainLater(
            f"{call}: the rate limit wants a pause of {error.wait} s; run the step again after that.",
            retry_after_s=error.wait,
        ) from error
    except pygithub.GithubException as error:
        body = error.data if isinstance(error.data, str) else json.dumps(error.data, default=str)
        headers = {name.lower(): value for name, value in (error.headers or {}).items()}
        raise failure(call, error.status, body, headers, is_write=is_write) from error
    except _UNANSWERED as error:
        raise _unanswered(call, error, is_write=is_write) from error
    except (pygithub.BadAttributeException, RuntimeError) as error:
        # RuntimeError: PyGithub was redirected to another host, another protocol or in a circle.
        raise CogworksError(f"{call}: {error}. Check `GITHUB_API_URL`.") from error


def _unanswered(call: str, error: Exception, *, is_write: bool) -> CogworksError:
    what = f"{call} gave no answer: {type(error).__name__}"
    if isinstance(error, ValueError) and not isinstance(error, requests.exceptions.JSONDecodeError):
        return UsageError(f"{what} {error}. Check `GITHUB_API_URL`.")
    if is_write and not isinstance(error, requests.exceptions.ConnectTimeout):
        return OutcomeUnknown(
            f"{what}. Whether it was done is unknown. Run the step again: it looks before it repeats."
        )
    return TryAgainLater(f"{what}. GitHub cannot be reached; run the step again later.")


class _CountingRetry(pygithub.GithubRetry):
    """PyGithub's rules for repeating, counting what they add."""

    meter: Requests | None = None
    limit_s: float = WHOLE_S

    def new(self, **changes: Any) -> Self:
        retry = super().new(**changes)
        retry.meter, retry.limit_s = self.meter, self.limit_s
        if self.meter is not None and not retry.is_exhausted():
            self.meter.count_rest()
        return retry
