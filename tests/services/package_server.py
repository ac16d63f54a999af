"""A package index on this machine: a directory of real wheels behind HTTP, asked for credentials if one likes."""

import base64
import hashlib
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from pathlib import Path

from tests.limits import ENDS_WITHIN_S


def wheel(
    folder: Path, name: str, version: str, files: Mapping[str, str], *, requires: tuple[str, ...] = ()
) -> Path:
    """A wheel of pure Python."""
    about = f"{name}-{version}.dist-info"
    metadata = [
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}",
        *(f"Requires-Dist: {each}" for each in requires),
    ]
    content = {
        **files,
        f"{about}/METADATA": "\n".join(metadata) + "\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{path},," for path in content]
    place = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(place, "w") as archive:
        for path, text in content.items():
            archive.writestr(path, text)
        archive.writestr(f"{about}/RECORD", "\n".join([*record, f"{about}/RECORD,,"]) + "\n")
    return place


class PackageServer:
    """What is running; every request is noted."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.requests: list[tuple[str, str]] = []
        """Path, and the credentials that came with it."""
        self.status = 200
        """Of every answer; another number and nothing is served."""
        self.open = threading.Event()
        """Answers wait for it."""
        self.open.set()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Nothing is answered until the block ends."""
        self.open.clear()
        try:
            yield
        finally:
            self.open.set()


@contextmanager
def serving(folder: Path, *, credentials: str = "") -> Iterator[PackageServer]:
    """Serve `/simple/<name>/` and `/wheels/<file>` for the wheels of a directory; a file `<name>-links` is a page itself.

    Args:
        credentials: `user:password`, without which nothing is served.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            given = self.headers.get("Authorization", "").removeprefix("Basic ")
            shown = base64.b64decode(given).decode() if given else ""
            server.requests.append((self.path, shown))
            server.open.wait(timeout=ENDS_WITHIN_S)
            body = _body(folder, self.path)
            status = server.status if server.status != 200 else 404 if body is None else 200
            status = 401 if shown != credentials else status
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            if status == 200 and body is not None:
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        user = f"{credentials}@" if credentials else ""
        server = PackageServer(f"http://{user}127.0.0.1:{listening.server_port}/simple/")
        thread = threading.Thread(target=listening.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join(timeout=ENDS_WITHIN_S)


def _body(folder: Path, path: str) -> bytes | None:
    _, place, name, *_ = path.split("/")
    if place == "wheels":
        return (folder / name).read_bytes() if (folder / name).is_file() else None
    if (page := folder / f"{name}-links").is_file():
        return page.read_bytes()
    files = sorted(folder.glob(f"{name.replace('-', '_')}-*.whl"))
    links = [
        f'<a href="/wheels/{file.name}#sha256={hashlib.sha256(file.read_bytes()).hexdigest()}">{file.name}</a>'
        for file in files
    ]
    return "\n".join(links).encode() if links else None


def repacked(folder: Path, name: str) -> Path:
    """A wheel of a package as it is installed here."""
    found = distribution(name)
    files = (file for file in found.files or () if file.suffix in (".py", ".typed", ".pem"))
    texts = {str(file): file.read_text() for file in files if ".." not in file.parts}
    requires = tuple(each for each in found.requires or () if "extra ==" not in each)
    return wheel(folder, name, found.version, texts, requires=requires)


def with_pytest(folder: Path) -> None:
    """What running tests takes."""
    for name in ("pytest", "pluggy", "iniconfig", "packaging"):
        repacked(folder, name)
    # Only colours need it, and it is large.
    names = {"__init__": "highlight", "lexer": "Lexer"}
    names |= {"lexers/__init__": "Lexers", "lexers/python": "PythonLexer", "lexers/diff": "DiffLexer"}
    names |= {"formatters/__init__": "Formatters", "formatters/terminal": "TerminalFormatter"}
    wheel(
        folder,
        "pygments",
        "2.99",
        {f"pygments/{file}.py": f"class {name}(Exception): pass\n" for file, name in names.items()},
    )
