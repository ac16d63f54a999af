"""What a package index says of a project and its versions, and which indexes this machine is configured for."""

import ast
import json
import posixpath
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import httpx
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from cogworks.leaving import masked
from cogworks.loopback import is_loopback
from cogworks.vocabulary import Value

JSON_PAGE = "application/vnd.pypi.simple.v1+json"
ACCEPTED = f"{JSON_PAGE}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"
_SETTING = re.compile(r"(?:(?P<section>global|install)|:env:)\.(?P<name>[a-z-]+)=(?P<value>.+)")
_DEFAULT = re.compile(r"--index-url\b.*?\(default\s+(\S+?)\)", re.DOTALL)


class Indexes(Value):
    """Where packages come from."""

    urls: tuple[str, ...] = ()
    """Of simple indexes, each ending with a slash; may hold credentials."""
    find_links: tuple[str, ...] = ()
    """Directories of this machine with package files."""
    constraints: tuple[str, ...] = ()
    """Files of this machine with constraints of the operator's."""
    certificates: str = ""
    """PEM file to trust instead of the system's certificates."""


class PackageFile(Value):
    """One file of a project as its index names it."""

    filename: str
    url: str
    described: Mapping[str, Any]
    """What else the index says of it: hashes and the like, as in the JSON form of a page."""


def read_indexes(listed: str, environment: Mapping[str, str], *, default: Callable[[], str]) -> Indexes:
    """The indexes of this machine: pip's own configuration, and what uv's variables say instead.

    Args:
        listed: what `pip config list` prints.
        default: tells the index that pip takes when none is configured; asked only then.
    """
    settings = _settings(listed)
    further = environment.get("UV_EXTRA_INDEX_URL") or settings.get("extra-index-url", "")
    links = environment.get("UV_FIND_LINKS", "").replace(",", " ") or settings.get("find-links", "")
    has_index = settings.get("no-index", "").lower() not in ("1", "true", "yes", "on")
    urls: list[str] = []
    if has_index:
        named = (environment.get(name) for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"))
        first = next(filter(None, named), "") or settings.get("index-url") or default()
        urls = [first.strip(), *further.split()]
    return Indexes(
        urls=tuple(dict.fromkeys(url.rstrip("/") + "/" for url in urls if url)),
        find_links=tuple(place for each in links.split() if (place := _local(each))),
        constraints=tuple(settings.get("constraint", "").split()),
        certificates=environment.get("SSL_CERT_FILE") or settings.get("cert", ""),
    )


def default_index(help_text: str) -> str:
    """The index that `pip install --help` says it takes; empty when it says none."""
    match = _DEFAULT.search(help_text)
    return match[1] if match else ""


def without_credentials(url: str) -> str:
    """The address as it may be shown."""
    parts = urlsplit(url)
    return masked(parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl())


def read_page(body: bytes, *, kind: str, url: str) -> tuple[PackageFile, ...]:
    """The files that a page of a simple index names; a page in neither form names none.

    Args:
        kind: the content type.
        url: of the page, after redirects.
    """
    if kind.split(";", maxsplit=1)[0].strip().endswith("json"):
        return json_page(body, url) or ()
    reader = _Links(url)
    reader.feed(body.decode(errors="replace"))
    return tuple(reader.files)


def json_page(body: bytes, url: str) -> tuple[PackageFile, ...] | None:
    """The files that a page in the JSON form (PEP 691) names; None when it is no such page.

    An entry that cannot be read is no file; the others stand.
    """
    try:
        page = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(page, dict):
        return None
    listed = page.get("files")
    files = (_json_file(each, url) for each in (listed if isinstance(listed, list) else ()))
    return tuple(file for file in files if file is not None)


def merged(pages: Iterable[Sequence[PackageFile]]) -> tuple[PackageFile, ...]:
    """The files of several indexes as those of one; where two have a file of the same name, the first index wins."""
    by_name: dict[str, PackageFile] = {}
    for page in pages:
        for file in page:
            by_name.setdefault(file.filename, file)
    return tuple(by_name.values())


def page_of(project: str, files: Sequence[PackageFile], places: Mapping[str, str]) -> bytes:
    """A page in the JSON form.

    Args:
        places: filename -> where it is offered.
    """
    entries = [{**file.described, "filename": file.filename, "url": places[file.filename]} for file in files]
    return json.dumps({"meta": {"api-version": "1.0"}, "name": project, "files": entries}).encode()


def _settings(listed: str) -> dict[str, str]:
    """pip's settings: of the command before those of all commands, of the environment before those of files."""
    ranked: dict[str, tuple[int, str]] = {}
    for line in listed.splitlines():
        match = _SETTING.fullmatch(line.strip())
        if match is None:
            continue
        rank = {"global": 0, "install": 1}.get(match["section"], 2)
        if match["name"] not in ranked or ranked[match["name"]][0] <= rank:
            ranked[match["name"]] = (rank, str(ast.literal_eval(match["value"])))
    return {name: value for name, (_, value) in ranked.items()}


def _local(place: str) -> str:
    """The directory behind a place with package files; empty for one elsewhere."""
    parts = urlsplit(place)
    return unquote(parts.path) if parts.scheme == "file" else "" if parts.scheme else place


_KEPT = (
    "hashes",
    "requires-python",
    "yanked",
    "core-metadata",
    "dist-info-metadata",
    "gpg-sig",
    "size",
    "upload-time",
)


def _json_file(listed: Any, url: str) -> PackageFile | None:
    """One file of a page in the JSON form; None when the entry cannot be read."""
    try:
        return PackageFile(
            filename=_plain_name(listed["filename"]),
            url=urljoin(url, listed["url"]),
            described={"hashes": {}, **{key: listed[key] for key in _KEPT if listed.get(key) is not None}},
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


class _Links(HTMLParser):
    """The links of a page in HTML."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._base = url
        self.files: list[PackageFile] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        target = attributes.get("href")
        if target is None or tag not in ("a", "base"):
            return
        try:
            address, fragment = urldefrag(urljoin(self._base, target))
            name = _plain_name(unquote(urlsplit(address).path))
        except ValueError:
            # An address that nobody can read leads to no file.
            return
        if tag == "base":
            self._base = address
            return
        described: dict[str, Any] = {"hashes": _hashes(fragment)}
        if python := attributes.get("data-requires-python"):
            described["requires-python"] = python
        if "data-yanked" in attributes:
            described["yanked"] = attributes["data-yanked"] or True
        self.files.append(PackageFile(filename=name, url=address, described=described))


def _hashes(fragment: str) -> dict[str, str]:
    name, _, value = fragment.partition("=")
    return {name: value} if value else {}


def _plain_name(path: str) -> str:
    return posixpath.basename(path.rstrip("/"))


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
