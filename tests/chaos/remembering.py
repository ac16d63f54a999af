"""The Python service behind one that remembers: what it said of the same files once, it need not find out again.

Whoever tests how a step gets over a death or a fault on its way to GitHub takes the same steps hundreds of times, with the same
files every time. Every answer is one of the real service, and it is asked over a real socket; whether the service and the tests
in it get over a death is what `test_killed_actions.py` is for.
"""

import hashlib
import json
import os
import socketserver
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from cogworks.domain_services.opening import BUNDLED
from cogworks.domain_services.process import ServiceProcess
from cogworks.domain_services.transport import MAX_MESSAGE_BYTES
from tests.limits import LONG_RUN_ENDS_WITHIN_S

PATIENCE_S = 120.0


Memory = dict[str, dict[str, Any]]
"""Question -> answer."""


class _Rememberer:
    def __init__(self, service: ServiceProcess, memory: Memory) -> None:
        self._service = service
        self._memory = memory
        self._one_at_a_time = Lock()

    def answer(self, line: bytes) -> bytes:
        """One framed answer to one framed question."""
        request: dict[str, Any] = json.loads(line)
        with self._one_at_a_time:
            key = _key(request)
            if key not in self._memory:
                told = self._service.exchange(request["method"], line, limit_s=PATIENCE_S)
                answer = json.loads(told)
                if answer["status"] == "error":
                    return told
                self._memory[key] = answer
            return json.dumps({**self._memory[key], "request_id": request["request_id"]}).encode() + b"\n"


def _key(request: Mapping[str, Any]) -> str:
    """The question, whoever asks and wherever the files lie."""
    asked = {name: value for name, value in request.items() if name not in ("request_id", "caller")}
    repository = request.get("repository")
    if repository:
        path, base = Path(repository["path"]), repository.get("base")
        asked["repository"] = [_files(path), base and _tree(path, base)]
    return json.dumps(asked, sort_keys=True)


def _files(root: Path) -> str:
    """A digest of everything that lies there, but for git's own."""
    found = hashlib.sha256()
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = Path(folder, name)
            content = bytes(path.readlink()) if path.is_symlink() else path.read_bytes()
            what = f"{path.relative_to(root)}\0{path.lstat().st_mode:o}\0{len(content)}\0"
            found.update(what.encode() + content)
    return found.hexdigest()


def _tree(root: Path, commit: str) -> str:
    """The files of a commit: its name differs from run to run."""
    return subprocess.run(
        ["git", "rev-parse", f"{commit}^{{tree}}"],
        cwd=root,
        env={"PATH": os.environ["PATH"]},
        check=True,
        capture_output=True,
        text=True,
        timeout=LONG_RUN_ENDS_WITHIN_S,
    ).stdout


@contextmanager
def remembering_service(environments: Path, memory: Memory) -> Iterator[Path]:
    """The `services.toml` that names it, until the block ends.

    Args:
        environments: where the real service keeps those of repositories.
        memory: what it knows; it learns.
    """
    command = (*BUNDLED.command, "--environments", str(environments))
    service = ServiceProcess(command, environment=os.environ, start_s=PATIENCE_S)
    # A socket's path may be no longer than 100 characters.
    with tempfile.TemporaryDirectory(prefix="cogworks-memory-") as folder:
        rememberer, path = _Rememberer(service, memory), Path(folder, "socket")
        config = Path(folder, "services.toml")
        config.write_text(f'[[services]]\nname = "python"\nsocket = "{path}"\n')

        class Conversation(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                # Whoever asked may be dead by now.
                with suppress(OSError):
                    while line := self.rfile.readline(MAX_MESSAGE_BYTES + 1):
                        self.wfile.write(rememberer.answer(line))

        try:
            with socketserver.ThreadingUnixStreamServer(str(path), Conversation) as server:
                Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
                yield config
                server.shutdown()
        finally:
            service.close()
