"""Real git repositories for tests: a bare remote on the disk, and the same served over HTTP with a token."""

import base64
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cogworks.codebase.git import Identity
from tests.limits import ENDS_WITHIN_S

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    # No sample of a hook is copied into a repository, and no process looks whether there is anything to pack.
    "GIT_TEMPLATE_DIR": "",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "maintenance.auto",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_COMMITTER_DATE": "1700000000 +0000",
}
BOT = Identity("cogworks", "cogworks@example.com")


def git(cwd: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
        timeout=ENDS_WITHIN_S,
    )
    return done.stdout.strip()


class BareRepository:
    """A remote whose branches a test sets file by file.

    Its commits are made in a working copy that keeps its objects where the remote has them: a push has only to set the branch.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "remote.git"
        self._seat = folder / "seat"
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(self.path))
        git(folder, "init", "--quiet", "--initial-branch=main", str(self._seat))
        shutil.rmtree(self._seat / ".git" / "objects")
        (self._seat / ".git" / "objects").symlink_to(self.path / "objects")

    @property
    def url(self) -> str:
        return str(self.path)

    def put(
        self, branch: str, files: Mapping[str, str], *, start: str | None = None, message: str = ""
    ) -> str:
        """A commit with these files on the branch (from `start` if that is given); its oid."""
        if start is not None:
            git(self._seat, "checkout", "--quiet", "-B", branch, start)
        for path, text in files.items():
            place = self._seat / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        git(self._seat, "add", "--all", "--force")
        git(self._seat, "commit", "--quiet", "--message", message or f"put {', '.join(files)}")
        oid = self.head("HEAD", seat=True)
        git(self.path, "update-ref", f"refs/heads/{branch}", oid)
        return oid

    def put_link(self, branch: str, path: str, target: str) -> str:
        (self._seat / path).symlink_to(target)
        return self.put(branch, {})

    def put_executable(self, branch: str, path: str, text: str) -> str:
        (self._seat / path).write_text(text)
        (self._seat / path).chmod(0o755)
        return self.put(branch, {})

    def remove(self, branch: str, path: str, *, start: str) -> str:
        """A commit on the branch from `start` without a file."""
        git(self._seat, "checkout", "--quiet", "-B", branch, start)
        (self._seat / path).unlink()
        return self.put(branch, {})

    def head(self, branch: str, *, seat: bool = False) -> str:
        return git(self._seat if seat else self.path, "rev-parse", branch)

    def delete(self, branch: str) -> None:
        git(self.path, "update-ref", "-d", f"refs/heads/{branch}")

    def destroy(self) -> None:
        shutil.rmtree(self.path)


@contextmanager
def served_over_http(repository: BareRepository, token: str) -> Iterator[str]:
    """The repository at an HTTP address that wants the token; git's own server program does the work."""
    expected = "Basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Silence."""

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.headers.get("Authorization") != expected:
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic realm=test")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            environment = ENVIRONMENT | {
                "GIT_PROJECT_ROOT": str(repository.path.parent),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "REMOTE_USER": "ada",
            }
            done = subprocess.run(
                ["git", "http-backend"],
                env=environment,
                input=body,
                capture_output=True,
                check=True,
                timeout=ENDS_WITHIN_S,
            )
            head, _, payload = done.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(headers.pop("Status", "200").split(" ")[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/{repository.path.name}"
        finally:
            server.shutdown()
            thread.join(timeout=ENDS_WITHIN_S)
