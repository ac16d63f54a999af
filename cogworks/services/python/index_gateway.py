"""The package index as an installer in isolation sees it: read only, without credentials, and nothing else beside it."""

import re
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit
from urllib.request import url2pathname

import httpx

from cogworks.loopback import encrypted_form
from cogworks.retrying import Again, Policy, retried
from cogworks.services.python.package_index import (
    ACCEPTED,
    JSON_PAGE,
    Indexes,
    PackageFile,
    merged,
    page_of,
    read_page,
    without_credentials,
)
from cogworks.services.setup.door import Door

_TIMEOUT_S = 30.0
_REPEATED = Policy(2)
"""At once: an installer waits for the page, with a time limit of its own."""
_CHUNK_BYTES = 64 * 1024
_ABSENT = (404, 410)
_FAILURES = (httpx.HTTPError, httpx.InvalidURL)
_METADATA = ".metadata"
_PROJECT = re.compile(r"/simple/([A-Za-z0-9][A-Za-z0-9._-]*)/?")
_FILE = re.compile(r"/files/([0-9a-f]{64})/([^/]+)")


class Unreachable(OSError):
    """An index, or a file that one names, cannot be had now."""


class Gateway:
    """Fetches pages of the configured indexes and the files that they name, and nothing that no page named."""

    def __init__(self, indexes: Indexes) -> None:
        self.indexes = indexes
        context = ssl.create_default_context(cafile=indexes.certificates or None)
        self._client = httpx.Client(verify=context, timeout=_TIMEOUT_S, follow_redirects=True)
        self._credentials = {_origin(url): url for url in indexes.urls if "@" in urlsplit(url).netloc}
        self._files: dict[str, PackageFile] = {}
        self.problems: list[str] = []
        """What could not be had, in words; a project that an index does not know is none."""

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def page(self, project: str) -> bytes | None:
        """The files of a project in all indexes as one page of JSON; None when none knows it.

        Raises:
            Unreachable: one of them could not be asked; a page without its files might lead to another package.
        """
        files = merged(self._read(url, project) for url in self.indexes.urls)
        names = {sha256(file.url.encode()).hexdigest(): file for file in files}
        self._files.update(names)
        places = {file.filename: f"/files/{name}/{quote(file.filename)}" for name, file in names.items()}
        return page_of(project, files, places) if files else None

    @contextmanager
    def file(self, name: str, filename: str) -> Iterator[tuple[int | None, Iterator[bytes]] | None]:
        """Length, where it is known, and content of a file that a page named; None for any other.

        Raises:
            Unreachable: it could not be had.
        """
        named = self._files.get(name)
        suffix = filename.removeprefix(named.filename) if named else ""
        if named is None or suffix not in ("", _METADATA) or not filename.startswith(named.filename):
            yield None
            return
        with self._fetched(named.url + suffix) as response:
            yield response

    def _read(self, index: str, project: str) -> tuple[PackageFile, ...]:
        files = self._read_any(index, project)
        if urlsplit(index).scheme == "file":
            return files
        # What lies on this machine is not for an index elsewhere to offer.
        return tuple(file for file in files if urlsplit(file.url).scheme in ("http", "https"))

    def _read_any(self, index: str, project: str) -> tuple[PackageFile, ...]:
        url = f"{index}{project}/"
        if urlsplit(url).scheme == "file":
            place = _path(url) / "index.html"
            return read_page(place.read_bytes(), kind="text/html", url=url) if place.is_file() else ()
        if "@" in urlsplit(index).netloc and (encrypted := encrypted_form(without_credentials(index))):
            raise self._unreachable(url, f"its password would go there unencrypted; use {encrypted}")
        response = self._asked(url)
        if response.status_code in _ABSENT:
            return ()
        self._complain_unless_good(response, url)
        kind = response.headers.get("Content-Type", "")
        return read_page(response.content, kind=kind, url=str(response.url))

    def _asked(self, url: str) -> httpx.Response:
        return retried(lambda: self._asked_once(url))

    def _asked_once(self, url: str) -> httpx.Response:
        try:
            response = self._client.get(url, headers={"Accept": ACCEPTED})
        except _FAILURES as error:
            problem = f"{type(error).__name__}: {error}"
        else:
            if response.status_code < 500:
                return response
            problem = f"it answers {response.status_code}"
        raise Again(_REPEATED, lambda _: self._unreachable(url, problem))

    @contextmanager
    def _fetched(self, url: str) -> Iterator[tuple[int | None, Iterator[bytes]] | None]:
        if urlsplit(url).scheme == "file":
            place = _path(url)
            yield (place.stat().st_size, iter([place.read_bytes()])) if place.is_file() else None
            return
        # The host of the index may ask for its credentials here as well; no other host gets them.
        credentials = urlsplit(self._credentials.get(_origin(url), ""))
        auth = (
            (unquote(credentials.username or ""), unquote(credentials.password or ""))
            if credentials.netloc
            else None
        )
        headers = {"Accept-Encoding": "identity"}
        with ExitStack() as stack:
            try:
                response = stack.enter_context(self._client.stream("GET", url, headers=headers, auth=auth))
            except _FAILURES as error:
                raise self._unreachable(url, f"{type(error).__name__}: {error}") from error
            if response.status_code in _ABSENT:
                yield None
                return
            self._complain_unless_good(response, url)
            length = response.headers.get("Content-Length", "")
            yield int(length) if length.isdecimal() else None, self._content(response, url)

    def _content(self, response: httpx.Response, url: str) -> Iterator[bytes]:
        try:
            yield from response.iter_raw(_CHUNK_BYTES)
        except _FAILURES as error:
            raise self._unreachable(url, f"{type(error).__name__}: {error}") from error

    def _complain_unless_good(self, response: httpx.Response, url: str) -> None:
        if response.status_code != 200:
            raise self._unreachable(url, f"it answers {response.status_code}")

    def _unreachable(self, url: str, problem: str) -> Unreachable:
        parts = urlsplit(url)
        # Whoever could not read an address quotes parts of it, which may be parts of a password.
        is_address = "@" not in parts.path + parts.query + parts.fragment
        text = f"{without_credentials(url)}: {problem if is_address else 'it is no address; write / ? # @ of a password as %2F %3F %23 %40'}"
        self.problems.append(text)
        return Unreachable(text)


def index_door(gateway: Gateway) -> Door:
    """The door through which an installer finds `/simple/` of a gateway."""
    return Door("index", partial(_Handler, gateway))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, gateway: Gateway, *connection: Any) -> None:
        self._gateway = gateway
        # The base class answers within its constructor.
        super().__init__(*connection)

    def do_GET(self) -> None:
        try:
            if (project := _PROJECT.fullmatch(self.path)) is not None:
                self._send_page(self._gateway.page(project[1]))
            elif (file := _FILE.fullmatch(self.path)) is not None:
                self._send_file(file[1], unquote(file[2]))
            else:
                self._say(404, b"")
        except Unreachable as error:
            self.close_connection = True
            self._say(502, str(error).encode())

    def do_HEAD(self) -> None:
        # uv asks whether it may have parts of a file; this tells it to take the whole.
        self._say(405, b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        """Nothing: what failed is kept by the gateway."""

    def _send_page(self, page: bytes | None) -> None:
        self._say(404, b"") if page is None else self._say(200, page, kind=JSON_PAGE)

    def _send_file(self, name: str, filename: str) -> None:
        with self._gateway.file(name, filename) as download:
            if download is None:
                self._say(404, b"")
                return
            length, content = download
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            if length is None:
                self.close_connection = True
                self.send_header("Connection", "close")
            else:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            for chunk in content:
                self.wfile.write(chunk)

    def _say(self, status: int, body: bytes, *, kind: str = "text/plain") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port


def _path(url: str) -> Path:
    return Path(url2pathname(urlsplit(url).path))
