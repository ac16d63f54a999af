"""Speaks for a GitHub App: an installation token, kept on disk until a minute before it ends."""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
from pydantic import Field, ValidationError

from cogworks import __version__
from cogworks.bounded_http import bounded, certificates, whole, within
from cogworks.errors import CogworksError, PermissionRefused, TryAgainLater, UsageError
from cogworks.github.meter import Requests
from cogworks.github.responses import server_date_of
from cogworks.github.rest_failures import failure, parsed
from cogworks.retrying import Again, Policy, doubling, retried
from cogworks.unexpected import expecting
from cogworks.vocabulary import Value

REFRESH_BEFORE = timedelta(seconds=60)
MAX_SKEW = timedelta(seconds=60)
"""GitHub refuses a signature from its future; it is dated back by as much."""
_TIMEOUT_S = 15.0
_WHOLE_S = 60.0
_MAX_BYTES = 1_000_000
_REPEATED = Policy(3, pause=doubling(1.0))
_SIGNED_FOR_S = 300


class InstallationToken(Value):
    """What an App may use for an hour."""

    token: str = Field(repr=False)
    expires_at: datetime


class App(Value):
    """A GitHub App as its owner knows it."""

    id: str
    """Its number or its client id."""
    private_key: str = Field(repr=False)
    """PEM."""
    installation_id: str = ""
    """Spares the request that asks for it."""


class AppTokens:
    """The tokens of one App's installation on one server; safe to use from several threads.

    GraphQL, REST and git share one token, and so do processes that come after each other.
    """

    def __init__(
        self,
        app: App,
        *,
        rest_url: str,
        repository: str,
        directory: Path,
        meter: Requests | None = None,
        transport: httpx.BaseTransport | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """
        Args:
            repository: owner/name; the installation is the one on it.
            directory: where tokens are kept, for this user only.
        """
        self._app = app
        self._rest_url = rest_url
        self._repository = repository
        # An App has one installation per account.
        whose = app.installation_id or repository.partition("/")[0].casefold()
        key = f"{urlsplit(rest_url).netloc}\n{app.id}\n{whose}"
        self._file = directory / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
        self._meter = meter if meter is not None else Requests()
        self._transport = transport
        self._now = now
        self._sleep = sleep
        self._lock = Lock()
        self._held: InstallationToken | None = None

    def __repr__(self) -> str:
        return f"AppTokens({self._app.id!r}, {self._repository!r})"

    def token(self) -> str:
        """The token of the moment, valid for another minute at least.

        Raises:
            PermissionRefused: the key does not fit the App, or the App is not installed there.
            TryAgainLater: GitHub cannot be reached.
        """
        with self._lock:
            if self._held is None:
                self._held = _kept(self._file)
            if self._held is None or self._held.expires_at - self._now() <= REFRESH_BEFORE:
                self._held = self._minted()
            return self._held.token

    def renewed(self) -> str | None:
        """Another token, because GitHub took the last one back."""
        with self._lock:
            self._held = self._minted()
            return self._held.token

    def _minted(self) -> InstallationToken:
        client = httpx.Client(
            transport=self._transport, verify=certificates(), timeout=_TIMEOUT_S, base_url=self._rest_url
        )
        with bounded(client) as http:
            signature = self._signature()
            installation = self._app.installation_id
            if not installation:
                reply = self._ask(http, "GET", f"/repos/{quote(self._repository)}/installation", signature)
                with expecting("installation"):
                    installation = str(reply["id"])
            path = f"/app/installations/{quote(installation, safe='')}/access_tokens"
            answer = self._ask(http, "POST", path, signature)
        with expecting("access_tokens"):
            minted = InstallationToken(token=answer["token"], expires_at=answer["expires_at"])
        _keep(self._file, minted)
        return minted

    def _signature(self) -> str:
        # PyGithub and its cryptography cost a fifth of a second, once an hour.
        from github import Auth  # noqa: PLC0415 - only Apps need it
        from jwt.exceptions import PyJWTError  # noqa: PLC0415 - only Apps need it

        try:
            app = Auth.AppAuth(
                self._app.id, self._app.private_key, jwt_issued_at=-int(MAX_SKEW.total_seconds())
            )
            return app.create_jwt(expiration=_SIGNED_FOR_S)
        except (PyJWTError, ValueError, TypeError, AssertionError) as error:
            raise UsageError(
                f"`COGWORKS_GITHUB_APP_PRIVATE_KEY` cannot sign: {type(error).__name__}. Wanted is the App's RSA private key "
                "in PEM form, or the path of the file that GitHub let you download."
            ) from None

    def _ask(self, http: httpx.Client, verb: str, path: str, signature: str) -> Any:
        """One request, sent again where that is safe: a token made twice does no harm."""
        headers = {
            "Authorization": f"Bearer {signature}",
            "Accept": "application/vnd.github+json",
            "User-Agent": f"cogworks/{__version__}",
        }

        def attempt() -> Any:
            try:
                return self._asked_once(http, verb, path, headers)
            except TryAgainLater as error:
                if error.retry_after_s is not None:
                    raise
                raise Again(_REPEATED, error) from error

        return retried(attempt, sleep=self._sleep)

    def _asked_once(self, http: httpx.Client, verb: str, path: str, headers: Mapping[str, str]) -> Any:
        call = f"{verb} {self._rest_url}{path}"
        self._meter.count_rest()
        try:
            with within(_WHOLE_S), http.stream(verb, path, headers=headers) as response:
                body = whole(response, most_bytes=_MAX_BYTES).decode("utf-8", "replace")
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise TryAgainLater(
                f"{call} gave no answer: {type(error).__name__}. GitHub cannot be reached; run the step again later."
            ) from error
        if response.status_code < 300:
            return parsed(body)
        raise self._refusal(call, response, body)

    def _refusal(self, call: str, response: httpx.Response, body: str) -> CogworksError:
        if response.status_code == 404:
            return PermissionRefused(
                f"App {self._app.id} is not installed on {self._repository} ({call} answered 404). Install it there, or give "
                "the right `COGWORKS_GITHUB_APP_INSTALLATION_ID`."
            )
        if response.status_code == 401:
            date = server_date_of(response.headers)
            skew_s = abs((date - self._now()).total_seconds()) if date else 0.0
            hint = (
                f" This machine's clock is {skew_s:.0f} s away from GitHub's: set it." if skew_s > 60 else ""
            )
            return PermissionRefused(
                f"GitHub does not accept the key of App {self._app.id} ({call} answered 401).{hint} Check "
                "`COGWORKS_GITHUB_APP_ID` and `COGWORKS_GITHUB_APP_PRIVATE_KEY`."
            )
        return failure(call, response.status_code, body, response.headers, is_write=False)


def private_key_from(text: str) -> str:
    """The PEM itself, from a PEM (line ends may be written as \\n) or the path of a file.

    Raises:
        UsageError: it is neither.
    """
    if text.lstrip().startswith("-----BEGIN"):
        return text.replace("\\n", "\n")
    try:
        return Path(text).expanduser().read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(
            f"`COGWORKS_GITHUB_APP_PRIVATE_KEY` is neither a PEM nor a file that can be read ({type(error).__name__}). "
            "Set it to the key's text, or to the path of the file that holds it."
        ) from None


def _kept(file: Path) -> InstallationToken | None:
    """What an earlier process kept; None for anything that others may have touched or read."""
    try:
        if file.stat().st_mode & 0o077 or file.stat().st_uid != os.getuid():
            return None
        return InstallationToken.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


def _keep(file: Path, token: InstallationToken) -> None:
    """Write it down for this user only, if that can be done: the next process makes its own otherwise."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # mkstemp makes it readable for this user only, before there is anything to read.
        handle, written = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            opened.write(token.model_dump_json())
        Path(written).replace(file)
