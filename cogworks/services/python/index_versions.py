"""Asks a package index which versions of a distribution there are, in the JSON form of the simple index (PEP 691)."""

import time
from collections.abc import Iterator
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpx
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from cogworks.loopback import is_loopback
from cogworks.services.python.package_index import JSON_PAGE, json_page

MAX_ANSWER_BYTES = 32 * 1024**2
_TIMEOUT_S = 10.0
_LIMIT_S = 120.0
"""For all questions together."""


class IndexUnusable(Exception):
    """The index gave no answer that means anything; the text says why."""


def address_problem(address: str) -> str | None:
    """Why an address cannot be that of an index; None: it can. Plain HTTP is for this machine only."""
    try:
        parts = urlsplit(address)
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        return "it is no https address"
    if parts.username or parts.query or parts.fragment:
        return "it holds more than host and path"
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        return "plain http is only for this machine"
    return None


class PackageIndex:
    """One index for the length of a `with` block."""

    def __init__(self, address: str) -> None:
        """Args:
        address: of the simple index, e.g. `https://pypi.org/simple`; without an `address_problem`.
        """
        self._address = address.rstrip("/")
        self._until_s = time.monotonic() + _LIMIT_S
        # Proxies and redirects lead to places that nobody named.
        self._client = httpx.Client(timeout=_TIMEOUT_S, trust_env=False, headers={"Accept": JSON_PAGE})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def versions(self, name: str) -> tuple[Version, ...]:
        """All versions of a distribution, by its canonical name; none: the index does not have it.

        Raises:
            IndexUnusable: see there.
        """
        if time.monotonic() > self._until_s:
            raise IndexUnusable(f"it took longer than {_LIMIT_S:g} s")
        try:
            with self._client.stream("GET", f"{self._address}/{name}/") as response:
                if response.status_code == httpx.codes.NOT_FOUND:
                    return ()
                if response.status_code != httpx.codes.OK:
                    raise IndexUnusable(f"it answers {response.status_code} for {name}")
                return tuple(sorted(set(_versions(response))))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise IndexUnusable(f"{type(error).__name__}: {error}") from error


def _whole(response: httpx.Response) -> bytes:
    read = bytearray()
    for piece in response.iter_bytes():
        read += piece
        if len(read) > MAX_ANSWER_BYTES:
            raise IndexUnusable(f"its answer is longer than {MAX_ANSWER_BYTES} bytes")
    return bytes(read)


def _versions(response: httpx.Response) -> Iterator[Version]:
    """Of the files that can be had; those that were withdrawn do not count."""
    files = json_page(_whole(response), str(response.url))
    if files is None:
        raise IndexUnusable("its answer is not the JSON form of a simple index")
    for file in files:
        if not file.described.get("yanked"):
            yield from _version_of(file.filename)


def _version_of(name: str) -> Iterator[Version]:
    try:
        yield parse_wheel_filename(name)[1] if name.endswith(".whl") else parse_sdist_filename(name)[1]
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        # Old forms that no installer of today takes either.
        return
