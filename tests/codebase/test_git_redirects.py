"""A remote that sends git elsewhere gets no credential carried there."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cogworks.codebase.failures import GitFailed, understood
from cogworks.codebase.git import Git
from cogworks.errors import UsageError
from tests.codebase.repositories import ENVIRONMENT
from tests.limits import ENDS_WITHIN_S

TOKEN = "ghs_0123456789abcdefghij"


def _line(text: str) -> bytes:
    return f"{len(text) + 4:04x}{text}".encode()


def _advertisement(service: str) -> bytes:
    """What a remote with one branch says first, so that git goes on and asks for it."""
    return _line(f"# service={service}\n") + b"0000" + _line(f"{'1' * 40} refs/heads/main\0\n") + b"0000"


class Listener:
    """A real HTTP server that remembers what arrives; it answers as a remote would, or sends on to another one."""

    def __init__(self, status: int = 200, to: str = "") -> None:
        self.arrived: list[tuple[str, str | None]] = []
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                listener.arrived.append((self.path, self.headers["authorization"]))
                self.rfile.read(int(self.headers["content-length"] or 0))
                service = self.path.rpartition("service=")[2]
                body = b"" if to else _advertisement(service)
                self.send_response(status)
                if to:
                    self.send_header("location", f"{to}{self.path}")
                self.send_header("content-type", f"application/x-{service}-advertisement")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815 - the same

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"


@contextmanager
def listening(listener: Listener) -> Iterator[Listener]:
    thread = threading.Thread(target=listener.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield listener
    finally:
        listener.server.shutdown()
        thread.join(ENDS_WITHIN_S)
        listener.server.server_close()


def fetch(git: Git, url: str, cwd: Path) -> None:
    git.reach(url, TOKEN, "fetch", url, "main", cwd=cwd)


def push(git: Git, url: str, cwd: Path) -> None:
    git.reach(url, TOKEN, "push", url, ":refs/heads/main", cwd=cwd)


def fetch_what_is_missing(git: Git, url: str, cwd: Path) -> None:
    git.granted(url, TOKEN).run("fetch", url, "main", cwd=cwd)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("reach", [fetch, push, fetch_what_is_missing])
def test_a_redirect_is_refused_and_nothing_arrives_where_it_leads(
    tmp_path: Path, status: int, reach: Callable[[Git, str, Path], None]
) -> None:
    git = Git(environment=ENVIRONMENT, home=tmp_path)
    git.run("init", "--quiet", cwd=tmp_path)

    with (
        listening(Listener()) as elsewhere,
        listening(Listener(status, elsewhere.url)) as remote,
        pytest.raises(GitFailed) as failed,
    ):
        reach(git, f"{remote.url}/o/r.git", tmp_path)

    assert elsewhere.arrived == []
    assert remote.arrived[0][1] is not None
    assert failed.value.kind == "moved"
    assert isinstance(understood(failed.value), UsageError)
    assert TOKEN not in str(failed.value)
