"""Sources of published packages: from the index that pip is configured for, by version and hash, kept on this machine."""

import hashlib
import os
import ssl
import tarfile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import httpx
from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename
from packaging.version import Version

from cogworks.errors import CogworksError
from cogworks.services.python.installing import configured_indexes
from cogworks.services.python.package_index import ACCEPTED, PackageFile, read_page

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cogworks-tests" / "packages"
_TIMEOUT_S = 60.0


class Release(NamedTuple):
    """One version of a package as it was published."""

    name: str
    version: str
    sha256: str
    """Of the source distribution."""

    @property
    def filename(self) -> str:
        return f"{self.name.replace('-', '_')}-{self.version}.tar.gz"


class NotPublished(CogworksError):
    """No configured index has the source of a release with its hash."""


def source_of(release: Release, folder: Path, *, cache: Path = CACHE) -> Path:
    """The unpacked files of a release below a new folder, from the index or from an earlier run.

    Raises:
        NotPublished: no index has them.
    """
    archive = cache / release.filename
    if not archive.is_file() or hashlib.sha256(archive.read_bytes()).hexdigest() != release.sha256:
        cache.mkdir(parents=True, exist_ok=True)
        fresh = archive.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(_downloaded(release))
        fresh.rename(archive)
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    return root


def _downloaded(release: Release) -> bytes:
    indexes = configured_indexes(dict(os.environ))
    context = ssl.create_default_context(cafile=indexes.certificates or None)
    with httpx.Client(verify=context, timeout=_TIMEOUT_S, follow_redirects=True) as client:
        for index in (each for each in indexes.urls if each.startswith("http")):
            url = urljoin(index, f"{canonicalize_name(release.name)}/")
            page = client.get(url, headers={"Accept": ACCEPTED})
            for file in read_page(page.content, kind=page.headers["Content-Type"], url=str(page.url)):
                if _is_source_of(release, file):
                    content = client.get(file.url).content
                    if hashlib.sha256(content).hexdigest() == release.sha256:
                        return content
    raise NotPublished(
        f"no configured index has the source of {release.name} {release.version} with the hash {release.sha256}"
    )


def _is_source_of(release: Release, file: PackageFile) -> bool:
    if not file.filename.endswith(".tar.gz"):
        return False
    try:
        found = parse_sdist_filename(file.filename)
    except InvalidSdistFilename:
        return False
    return found == (canonicalize_name(release.name), Version(release.version))
