"""How the hub calls git: by argument vector, with an environment that no user's configuration reaches."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import RLock

from cogworks.errors import CogworksError
from cogworks.unfit import no_git


class GitFailed(CogworksError):
    """A git command ended with an error; the text names the command, the code and what git printed."""


def git_program() -> str:
    """The git found on PATH. Raises `MachineUnfit` where there is none."""
    program = shutil.which("git")
    if program is None:
        raise no_git()
    return program


def git_environment(home: Path) -> dict[str, str]:
    """Everything git needs and nothing of the user's."""
    return {
        "PATH": os.pathsep.join((str(Path(git_program()).parent), os.defpath)),
        "HOME": str(home),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        # The directory may belong to another user, e.g. a mounted volume.
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }


class GitProcess:
    """Runs git in one repository."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        self.path = path
        self.environment = dict(environment)

    def run(self, *arguments: str, stdin: bytes = b"", accept: Sequence[int] = (0,)) -> tuple[int, bytes]:
        """The exit code and what git wrote. Raises `GitFailed` when the code is not in `accept`."""
        command = [git_program(), *arguments]
        done = subprocess.run(
            command, cwd=self.path, env=self.environment, input=stdin, capture_output=True, check=False
        )
        if done.returncode not in accept:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise GitFailed(f"{' '.join(command)} in {self.path} ended with {done.returncode}: {said}")
        return done.returncode, done.stdout

    def text(self, *arguments: str) -> str:
        return self.run(*arguments)[1].decode("utf-8", "surrogateescape")


class ObjectReader:
    """One long-lived `git cat-file --batch`: an object costs a pipe round trip instead of a process."""

    def __init__(self, git: GitProcess) -> None:
        self._git = git
        self._lock = RLock()
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, name: str) -> tuple[str, str, bytes] | None:
        """Oid, type and content of an object named in any way `rev-parse` understands; None when missing."""
        with self._lock:
            try:
                return self._ask(name)
            except (BrokenPipeError, EOFError):
                self.close()  # the process died; a fresh one sees the same repository
                return self._ask(name)

    def close(self) -> None:
        with self._lock:
            process, self._process = self._process, None
            if process is not None:
                process.kill()
                process.communicate()

    def _ask(self, name: str) -> tuple[str, str, bytes] | None:
        process = self._process = self._process or subprocess.Popen(
            [git_program(), "cat-file", "--batch"],
            cwd=self._git.path,
            env=self._git.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if process.stdin is None or process.stdout is None:  # impossible with PIPE; tells the type checker
            raise EOFError
        process.stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
        process.stdin.flush()
        header = process.stdout.readline()
        if not header.endswith(b"\n"):
            raise EOFError
        words = header.decode("utf-8", "replace").rstrip("\n").rsplit(" ", 2)
        if len(words) < 3 or not words[2].isdigit():
            return None  # "<name> missing" or "<name> ambiguous"
        content = process.stdout.read(int(words[2]) + 1)
        if len(content) <= int(words[2]):
            raise EOFError
        return words[0], words[1], content[:-1]
