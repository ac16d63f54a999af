"""Which credential a process uses for one server: the first that is there.

Where the GitHub adapters get their credential from, without ever showing it.
"""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from cogworks.errors import ConfigurationError, PermissionRefused
from cogworks.github.meter import Requests
from cogworks.settings.config import APP_VARIABLES, Environment
from cogworks.settings.credentials import PROXY_VARIABLES, cleaned, credential_problem


class TokenSource(Protocol):
    """Gives the token of the moment; an installation token changes every hour."""

    def token(self) -> str: ...
    def renewed(self) -> str | None:
        """A different token after GitHub refused the last one; None when there is no other."""


class FixedToken:
    """A token that stays what it is: a person's, or the one of a job."""

    def __init__(self, value: str) -> None:
        self._value = value

    def token(self) -> str:
        return self._value

    def renewed(self) -> str | None:
        return None

    def __repr__(self) -> str:
        return "FixedToken(***)"


_GH = "gh"
_GH_LIMIT_S = 5.0


def credential(
    environment: Environment,
    *,
    server_url: str,
    rest_url: str,
    repository: str,
    meter: Requests,
    child_environment: Mapping[str, str],
) -> tuple[TokenSource, str]:
    """The credential and where it came from, in words.

    A token from the environment, else the GitHub App that is configured, else the account that `gh` is logged in as.

    Args:
        repository: owner/name
        child_environment: what `gh` is started with.

    Raises:
        PermissionRefused: there is none.
        ConfigurationError: the first that is there cannot be sent.
        UsageError: the App is configured in part, or with something that is no key.
    """
    environment.refuse_unusable(environment.github_token_source, *PROXY_VARIABLES)
    if environment.github_token:
        return FixedToken(environment.github_token), f"`{environment.github_token_source}`"
    environment.refuse_unusable(*APP_VARIABLES)
    if environment.github_app_id or environment.github_app_private_key:
        return _app(environment, rest_url, repository, meter), f"GitHub App {environment.github_app_id}"
    if token := gh_token(server_url, child_environment):
        return FixedToken(token), "`gh auth token`"
    raise _without_any(repository)


def refuse_without_any(
    environment: Environment, *, repository: str, child_environment: Mapping[str, str]
) -> None:
    """Nothing, unless `credential` would find none for certain; asks neither GitHub nor `gh`.

    Raises:
        PermissionRefused, ConfigurationError: as `credential`.
    """
    environment.refuse_unusable(environment.github_token_source, *PROXY_VARIABLES)
    is_configured = (
        environment.github_token or environment.github_app_id or environment.github_app_private_key
    )
    if not is_configured and shutil.which(_GH, path=child_environment.get("PATH")) is None:
        environment.refuse_unusable(*APP_VARIABLES)
        raise _without_any(repository)


def _without_any(repository: str) -> PermissionRefused:
    return PermissionRefused(
        "there is no GitHub token. Set `COGWORKS_GITHUB_TOKEN` (or `GH_TOKEN`, `GITHUB_TOKEN`) to one that may write "
        f"contents, issues and pull requests of {repository or 'the repository'}, or configure a GitHub App (`COGWORKS_GITHUB_APP_ID`, "
        "`COGWORKS_GITHUB_APP_PRIVATE_KEY`), or log in with `gh auth login`."
    )


def gh_token(server_url: str, environment: Mapping[str, str], *, limit_s: float = _GH_LIMIT_S) -> str | None:
    """The token of GitHub's own command-line program for a server; None when it has none or is not there."""
    host = urlsplit(server_url).netloc
    try:
        done = subprocess.run(
            [_GH, "auth", "token", "--hostname", host],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    token = cleaned(done.stdout) if done.returncode == 0 else ""
    if token and (problem := credential_problem(token)):
        raise ConfigurationError(
            "`gh auth token`", [f"what it prints {problem.partition(';')[0]}; log in with `gh auth login`"]
        )
    return token or None


def _app(environment: Environment, rest_url: str, repository: str, meter: Requests) -> TokenSource:
    from cogworks.github.app_tokens import App, AppTokens, private_key_from  # noqa: PLC0415 - only Apps need it

    missing = [
        name
        for name, value in (
            ("COGWORKS_GITHUB_APP_ID", environment.github_app_id),
            ("COGWORKS_GITHUB_APP_PRIVATE_KEY", environment.github_app_private_key),
        )
        if not value
    ]
    if missing:
        raise PermissionRefused(f"a GitHub App needs `{missing[0]}` as well; set it, or unset the other one.")
    app = App(
        id=environment.github_app_id,
        private_key=private_key_from(environment.github_app_private_key),
        installation_id=environment.github_app_installation_id,
    )
    directory = Path(environment.work_dir) / "tokens"
    return AppTokens(app, rest_url=rest_url, repository=repository, directory=directory, meter=meter)
