"""Which issue a URL names, and where the APIs of its server are."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from cogworks.errors import ConfigurationError, UsageError
from cogworks.loopback import encrypted_form

if TYPE_CHECKING:
    # With it comes pydantic, and a URL that is refused has no use for that.
    from cogworks.vocabulary import IssueNumber

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_MAX_NUMBER = 2**31 - 1
_EXAMPLE = "https://github.com/owner/repository/issues/42"


@dataclass(frozen=True)
class IssueAddress:
    """One issue on one server."""

    server_url: str
    """Scheme, host and port, e.g. `https://github.com`; no trailing slash."""
    owner: str
    name: str
    number: "IssueNumber"

    @property
    def repository(self) -> str:
        """owner/name"""
        return f"{self.owner}/{self.name}"

    @property
    def url(self) -> str:
        return f"{self.server_url}/{self.repository}/issues/{self.number}"


@dataclass(frozen=True)
class RepositoryAddress:
    """One repository on one server."""

    server_url: str
    """Scheme, host and port; no trailing slash."""
    owner: str
    name: str

    @property
    def full_name(self) -> str:
        """owner/name"""
        return f"{self.owner}/{self.name}"

    @property
    def url(self) -> str:
        return f"{self.server_url}/{self.full_name}"


@dataclass(frozen=True)
class ApiAddresses:
    """The two APIs of one server; no trailing slashes."""

    rest_url: str
    graphql_url: str

    @property
    def is_github_com(self) -> bool:
        """Whether GitHub's own pacing rules hold there."""
        host = urlsplit(self.graphql_url).hostname or ""
        return host == "api.github.com" or host.endswith(".ghe.com")


def parse_issue_url(text: str) -> IssueAddress:
    """The issue that a browser's address names; a trailing slash, query or `#issuecomment-…` is ignored.

    Raises:
        UsageError: it is no such address, or names a pull request.
    """
    text = text.strip()
    server_url, parts = _split(text)
    if len(parts) < 4:
        raise UsageError(f"{text!r} is not the URL of an issue. Give one like {_EXAMPLE}.")
    owner, name, kind, number = parts[:4]
    if kind in ("pull", "pulls"):
        raise UsageError(
            f"{text!r} is a pull request; cogworks works on issues. Give the URL of the issue it belongs to, like {_EXAMPLE}."
        )
    if kind != "issues" or len(parts) > 4 or not _is_number(number):
        raise UsageError(f"{text!r} is not the URL of an issue. Give one like {_EXAMPLE}.")
    return IssueAddress(server_url, owner, name, cast("IssueNumber", int(number)))


def parse_repository(text: str, *, server_url: str) -> RepositoryAddress:
    """The repository that `owner/name` names on the given server, or that a browser's address names.

    Raises:
        UsageError: it is neither.
    """
    text = text.strip().removesuffix(".git")
    if "://" not in text:
        text = f"{server_url.rstrip('/')}/{text}"
    server, parts = _split(text)
    if len(parts) != 2:
        raise UsageError(
            f"{text!r} names no repository. Give owner/name, or a URL like https://github.com/owner/name."
        )
    return RepositoryAddress(server, *parts)


def parse_repository_url(text: str) -> RepositoryAddress:
    """The repository that a browser's address is in: its own page, an issue, a pull request, a file.

    Raises:
        UsageError: it is no such address.
    """
    server_url, parts = _split(text.strip())
    if len(parts) < 2:
        raise UsageError(
            f"{text!r} names no repository. Give a URL like https://github.com/owner/repository."
        )
    return RepositoryAddress(server_url, parts[0], parts[1].removesuffix(".git"))


def api_addresses(
    server_url: str, *, rest_url: str | None = None, graphql_url: str | None = None
) -> ApiAddresses:
    """Where the APIs of a server are: `api.github.com`, `api.<tenant>.ghe.com`, else `/api/v3` and `/api/graphql` below it.

    Args:
        rest_url, graphql_url: say so instead (`GITHUB_API_URL`, `GITHUB_GRAPHQL_URL`).

    Raises:
        ConfigurationError: one that was said is no address that a token may go to.
    """
    addresses = {
        "GITHUB_SERVER_URL": server_url,
        "GITHUB_API_URL": rest_url,
        "GITHUB_GRAPHQL_URL": graphql_url,
    }
    for variable, address in addresses.items():
        if address and (problem := address_problem(address)):
            raise ConfigurationError(variable, [problem])
    parts = urlsplit(server_url)
    host = parts.hostname or ""
    if host in ("github.com", "www.github.com"):
        usual = ApiAddresses("https://api.github.com", "https://api.github.com/graphql")
    elif host.endswith(".ghe.com"):
        usual = ApiAddresses(f"https://api.{host}", f"https://api.{host}/graphql")
    else:
        root = server_url.rstrip("/")
        usual = ApiAddresses(f"{root}/api/v3", f"{root}/api/graphql")
    return ApiAddresses(
        (rest_url or usual.rest_url).rstrip("/"), (graphql_url or usual.graphql_url).rstrip("/")
    )


def address_problem(address: str) -> str:
    """Why a credential must not be sent to an address; empty where it may. User and password of it are not repeated."""
    try:
        parts = urlsplit(address)
        encrypted = encrypted_form(address)
        _ = parts.port
    except ValueError:
        return "is no web address"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "is no web address; it begins with https:// and names a host"
    if "@" in parts.netloc:
        return "carries a user or a password; give it without"
    return f"would carry the token to {parts.hostname!r} unencrypted; use {encrypted}" if encrypted else ""


def _split(text: str) -> tuple[str, list[str]]:
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise UsageError(f"{text!r} is not a URL. Give one like {_EXAMPLE}.") from None
    if url.scheme not in ("http", "https") or not url.hostname:
        raise UsageError(f"{text!r} is not a web address. Give one like {_EXAMPLE}.")
    if url.username is not None or url.password is not None:
        # Not shown: it may be a token.
        raise UsageError(f"the URL carries a user or a password; give it without, like {_EXAMPLE}.")
    if encrypted := encrypted_form(text):
        raise UsageError(
            f"{text!r} would carry the token to {url.hostname!r} unencrypted; nothing was sent. Use https:\n\n  {encrypted}\n"
        )
    parts = [part for part in url.path.split("/") if part]
    for part in parts[:2]:
        if not _NAME.fullmatch(part) or part in (".", ".."):
            raise UsageError(
                f"{text!r} names {part!r}, which is no owner or repository. Give a URL like {_EXAMPLE}."
            )
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    return f"{url.scheme}://{host}" + (f":{port}" if port is not None else ""), parts


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 10 and 0 < int(text) <= _MAX_NUMBER


def is_known_host(server_url: str) -> bool:
    """Hosts that may see a GitHub token without being named: GitHub's own, and this machine."""
    host = urlsplit(server_url).hostname or ""
    return host in ("github.com", "www.github.com", "127.0.0.1", "localhost", "::1") or host.endswith(
        ".ghe.com"
    )
