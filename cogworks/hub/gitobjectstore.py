"""How the hub calls git, and the objects of one bare repository: read through a long-lived process and kept, written as loose files."""

import os
import shutil
import subprocess
import zlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import RLock

from cogworks.errors import CogworksError
from cogworks.hub.gitobjects import (
    EMPTY_TREE,
    Commit,
    NewFile,
    Signature,
    TreeEntry,
    edit_tree,
    format_commit,
    format_tree,
    oid_of,
    parse_commit,
    parse_tree,
)
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
            message = done.stderr.decode("utf-8", "replace").strip()
            raise GitFailed(f"{' '.join(command)} in {self.path} ended with {done.returncode}: {message}")
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


_KEPT_OBJECTS = 8000
_KEPT_SIZE = 128 * 1024


class ObjectStore:
    """Objects never change, so what was read once is kept in memory."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        self.path = path
        self.git = GitProcess(path, environment)
        self._reader = ObjectReader(self.git)
        self._lock = RLock()
        self._objects: OrderedDict[str, tuple[str, bytes]] = OrderedDict()

    def close(self) -> None:
        self._reader.close()

    def object(self, oid: str) -> tuple[str, bytes] | None:
        """Type (commit, tree, blob, tag) and content of a full object name; None when missing."""
        with self._lock:
            stored = self._objects.get(oid)
        if stored is not None:
            return stored
        answer = self._reader.read(oid) if len(oid) == 40 else None
        return None if answer is None else self._keep(oid, answer[1], answer[2])

    def resolve(self, name: str) -> str | None:
        """The full oid of a branch, tag, oid or prefix of one; an expression such as `main:dir` works as well."""
        if not name or "\n" in name or name.startswith("-"):
            return None
        answer = self._reader.read(name)
        return None if answer is None else answer[0]

    def commit(self, oid: str) -> Commit | None:
        """The commit, also through an annotated tag; None when missing or of another type."""
        stored = self.object(oid)
        if stored is not None and stored[0] == "tag":
            target = stored[1].decode("utf-8", "replace").partition("\n")[0].removeprefix("object ")
            return self.commit(target)
        return parse_commit(oid, stored[1]) if stored is not None and stored[0] == "commit" else None

    def tree(self, oid: str) -> tuple[TreeEntry, ...] | None:
        if oid == EMPTY_TREE:
            return ()
        stored = self.object(oid)
        return parse_tree(stored[1]) if stored is not None and stored[0] == "tree" else None

    def blob(self, oid: str) -> bytes | None:
        stored = self.object(oid)
        return stored[1] if stored is not None and stored[0] == "blob" else None

    def entry(self, tree_oid: str, path: str) -> TreeEntry | None:
        """What lies at a repository-relative path below a tree; the empty path is the tree itself."""
        here = TreeEntry(name="", mode="040000", oid=tree_oid)
        for part in [part for part in path.split("/") if part]:
            entries = self.tree(here.oid) if here.type == "tree" else None
            child = next((entry for entry in entries or () if entry.name == part), None)
            if child is None:
                return None
            here = child
        return here

    def walk(self, tree_oid: str, prefix: str = "") -> list[tuple[str, TreeEntry]]:
        """Every entry below a tree with its path, trees before what is in them."""
        rows: list[tuple[str, TreeEntry]] = []
        for entry in self.tree(tree_oid) or ():
            path = f"{prefix}{entry.name}"
            rows.append((path, entry))
            if entry.type == "tree":
                rows += self.walk(entry.oid, f"{path}/")
        return rows

    def size(self, oid: str) -> int:
        stored = self.object(oid)
        return 0 if stored is None else len(stored[1])

    def write(self, kind: str, data: bytes) -> str:
        """Store an object as git's own loose file and return its name; an existing one is left alone."""
        oid = oid_of(kind, data)
        directory = self.path / "objects" / oid[:2]
        if not (directory / oid[2:]).exists():
            directory.mkdir(exist_ok=True)
            # Written aside and renamed: a kill leaves a stray temporary file, never half an object.
            with NamedTemporaryFile(dir=directory, prefix="tmp_obj_", delete=False) as file:
                file.write(zlib.compress(b"%s %d\0" % (kind.encode(), len(data)) + data, 1))
            written = Path(file.name)
            written.chmod(0o444)
            written.replace(directory / oid[2:])
        self._keep(oid, kind, data)
        return oid

    def write_tree(self, entries: tuple[TreeEntry, ...]) -> str:
        return self.write("tree", format_tree(entries))

    def write_commit(
        self, *, tree: str, parents: tuple[str, ...], author: Signature, committer: Signature, message: str
    ) -> str:
        return self.write(
            "commit",
            format_commit(tree=tree, parents=parents, author=author, committer=committer, message=message),
        )

    def edited_tree(self, base: str | None, changes: Mapping[str, NewFile | None]) -> str | None:
        """Write the tree that `changes` make of `base`; None when nothing is left."""
        return edit_tree(base, changes, read=lambda oid: self.tree(oid) or (), write=self.write_tree)

    def _keep(self, oid: str, kind: str, data: bytes) -> tuple[str, bytes]:
        stored = (kind, data)
        if len(data) <= _KEPT_SIZE:
            with self._lock:
                self._objects[oid] = stored
                if len(self._objects) > _KEPT_OBJECTS:
                    self._objects.popitem(last=False)
        return stored
