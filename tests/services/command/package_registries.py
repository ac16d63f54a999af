"""Registries of Go modules and of crates on loopback, reached through the proxy of a machine as in a closed network."""

import base64
import gzip
import hashlib
import io
import json
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import unquote

from tests.limits import ENDS_WITHIN_S

GO_HOST, CRATES_HOST, GEMS_HOST = "modules.example.com", "crates.example.com", "gems.example.com"
MODULE, MODULE_VERSION = "example.com/Money/cents", "v1.2.0"
_ESCAPED = "example.com/!money/cents"
_MODULE_FILES = {
    "go.mod": f"module {MODULE}\n\ngo 1.16\n",
    "cents.go": "package cents\n\nfunc Of(euros int) int { return 100 * euros }\n",
}
CRATE, CRATE_VERSION = "cents", "1.2.0"
_CRATE_FILES = {
    "Cargo.toml": f'[package]\nname = "{CRATE}"\nversion = "{CRATE_VERSION}"\nedition = "2021"\n',
    "src/lib.rs": "pub fn of(euros: u64) -> u64 { 100 * euros }\n",
}
CARGO_CONFIG = (
    '[source.crates-io]\nreplace-with = "mirror"\n\n'
    f'[source.mirror]\nregistry = "sparse+http://{CRATES_HOST}/index/"\n'
)


class Served(NamedTuple):
    """The registries while they are up."""

    settings: Mapping[str, str]
    """What the operator of the machine says of them."""
    asked: list[str]
    """Host and path of each download, in order."""


@contextmanager
def registries_up(further: Mapping[str, bytes] = MappingProxyType({})) -> Iterator[Served]:
    """Both registries, until the block ends.

    Args:
        further: what is served besides: host and path -> content.
    """
    kept = {**go_proxy(f"{GO_HOST}/"), **_crates(), **further}
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self) -> None:
            # What follows on this connection is said to the host itself.
            self.send_response_only(200)
            self.end_headers()

        def do_GET(self) -> None:
            place = f"{self.headers['Host']}{unquote(self.path)}"
            asked.append(place)
            body = kept.get(place)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings = {
            "PIP_NO_INDEX": "1",
            "HTTP_PROXY": f"http://127.0.0.1:{server.server_port}",
            "GOPROXY": f"http://{GO_HOST}",
            "COGWORKS_REGISTRY_HOSTS": f"{GO_HOST}:80 {CRATES_HOST}:80 {GEMS_HOST}:80",
        }
        yield Served(settings, asked)
        server.shutdown()


def go_proxy(before: str) -> dict[str, bytes]:
    """What a proxy of Go modules serves of the one module: path -> content."""
    below = f"{before}{_ESCAPED}/@v"
    told = {"Version": MODULE_VERSION, "Time": "2024-01-01T00:00:00Z"}
    return {
        f"{below}/list": f"{MODULE_VERSION}\n".encode(),
        f"{below}/{MODULE_VERSION}.info": json.dumps(told).encode(),
        f"{below}/{MODULE_VERSION}.mod": _MODULE_FILES["go.mod"].encode(),
        f"{below}/{MODULE_VERSION}.zip": _module_archive(),
    }


def filled_cache(home: Path) -> Path:
    """The module cache that an earlier download left in a home, as far as a proxy reads it."""
    cache = home / "go/pkg/mod"
    for path, content in go_proxy("cache/download/").items():
        (cache / path).parent.mkdir(parents=True, exist_ok=True)
        (cache / path).write_bytes(content)
    return cache


def go_sums() -> str:
    """The text of `go.sum`."""
    whole = _go_hash({f"{MODULE}@{MODULE_VERSION}/{name}": text for name, text in _MODULE_FILES.items()})
    own = _go_hash({"go.mod": _MODULE_FILES["go.mod"]})
    return f"{MODULE} {MODULE_VERSION} {whole}\n{MODULE} {MODULE_VERSION}/go.mod {own}\n"


def cargo_lock(package: str) -> str:
    """The lock file of a package that uses the crate."""
    return (
        f'version = 3\n\n[[package]]\nname = "{CRATE}"\nversion = "{CRATE_VERSION}"\n'
        'source = "registry+https://github.com/rust-lang/crates.io-index"\n'
        f'checksum = "{hashlib.sha256(_crate_archive()).hexdigest()}"\n\n'
        f'[[package]]\nname = "{package}"\nversion = "0.1.0"\ndependencies = [\n "{CRATE}",\n]\n'
    )


def _crates() -> dict[str, bytes]:
    line = {
        "name": CRATE, "vers": CRATE_VERSION, "deps": [], "features": {}, "yanked": False,
        "cksum": hashlib.sha256(_crate_archive()).hexdigest(),
    }  # fmt: skip
    return {
        f"{CRATES_HOST}/index/config.json": json.dumps({"dl": f"http://{CRATES_HOST}/dl"}).encode(),
        f"{CRATES_HOST}/index/ce/nt/{CRATE}": json.dumps(line).encode() + b"\n",
        f"{CRATES_HOST}/dl/{CRATE}/{CRATE_VERSION}/download": _crate_archive(),
    }


def gem_index(folder: Path) -> dict[str, bytes]:
    """What a server of gems serves of one gem, made by the program `gem`: host and path -> content.

    Args:
        folder: where the gem is made.
    """
    source, served = folder / "source", folder / "served"
    (source / "lib").mkdir(parents=True)
    (served / "gems").mkdir(parents=True)
    (source / "lib/cents.rb").write_text("module Cents; def self.of(euros) = 100 * euros; end\n")
    (source / "cents.gemspec").write_text(
        'Gem::Specification.new do |s|\n  s.name, s.version, s.summary, s.authors = "cents", "1.2.0", "x", ["x"]\n'
        '  s.files = ["lib/cents.rb"]\nend\n'
    )
    built = served / "gems/cents-1.2.0.gem"
    for words, place in (
        (["build", "cents.gemspec", "-o", str(built)], source),
        (["generate_index"], served),
    ):
        subprocess.run(["gem", *words], cwd=place, check=True, capture_output=True, timeout=ENDS_WITHIN_S)
    files = (each for each in served.rglob("*") if each.is_file())
    return {f"{GEMS_HOST}/{each.relative_to(served).as_posix()}": each.read_bytes() for each in files}


def _go_hash(files: Mapping[str, str]) -> str:
    """Go's `h1` of a set of files."""
    lines = (f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(files.items()))
    return f"h1:{base64.b64encode(hashlib.sha256(''.join(lines).encode()).digest()).decode()}"


def _module_archive() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in _MODULE_FILES.items():
            archive.writestr(f"{MODULE}@{MODULE_VERSION}/{name}", text)
    return made.getvalue()


def _crate_archive() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, text in _CRATE_FILES.items():
            entry = tarfile.TarInfo(f"{CRATE}-{CRATE_VERSION}/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    # The same bytes each time: its hash is asked for more than once.
    return gzip.compress(made.getvalue(), mtime=0)
