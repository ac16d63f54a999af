"""Runs one git command in a scrubbed environment: its output, or an error that shows everything; and the small pieces of plumbing that every working copy uses."""

import base64
import copy
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from cogworks.codebase.failures import GitFailed, failure_kind
from cogworks.leaving import masked
from cogworks.unfit import no_git

# Besides these, nothing of the caller's environment reaches git: no GIT_*, no credential, no editor.
_PASSED_ON = (
    "PATH",
    "TMPDIR",
    "HTTPS_PROXY",
    "https_proxy",
    "http_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "SYSTEMROOT",
)
_SETTINGS = {
    "advice.detachedHead": "false",
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.quotePath": "false",
    "credential.helper": "",
    "gc.auto": "0",
    # A redirect would carry the credential to whatever host it names.
    "http.followRedirects": "false",
    "init.defaultBranch": "main",
    "maintenance.auto": "false",
    "rerere.enabled": "false",
}


Token = str | Callable[[], str] | None
"""A credential, or what gives the one of the moment: an installation's changes every hour."""


class Identity(NamedTuple):
    """Who commits."""

    name: str
    email: str


class Git:
    """Git on this machine, deaf to the user's and the system's configuration."""

    def __init__(
        self,
        *,
        environment: Mapping[str, str],
        home: Path,
        time_limit_s: float = 300.0,
        on_network: Callable[[str], None] | None = None,
        left_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Args:
        environment: of this process; only PATH, proxies and certificate locations are passed on.
        home: what git takes for the home directory.
        on_network: called with `fetch` or `push` before each command that speaks to a remote.
        left_s: how long a command may take at this moment where that is less than `time_limit_s`; None: it is not.
        """
        self._environment = {name: environment[name] for name in _PASSED_ON if name in environment} | {
            "HOME": str(home),
            "LC_ALL": "C",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": "file:http:https",
            "GIT_OPTIONAL_LOCKS": "0",
        }
        self._time_limit_s = time_limit_s
        self._on_network = on_network
        self._left_s = left_s
        self._access: tuple[str, Token] = ("", None)
        self._settings = _SETTINGS

    def run(
        self,
        *arguments: str,
        cwd: Path,
        extra: Mapping[str, str] | None = None,
        stdin: str = "",
        ok: tuple[int, ...] = (0,),
    ) -> str:
        """Standard output of `git <arguments>`; bytes that are not UTF-8 survive as surrogate escapes.

        Args:
            extra: further environment variables.
            ok: exit codes that are no failure.

        Raises:
            GitFailed: for any other exit code, and when the time limit is reached.
        MachineUnfit: there is no git.
        """
        settings, secrets = _granted(*self._access)
        settings = {**self._settings, **settings}
        environment = _configured(self._environment | dict(extra or {}), settings)
        return self._run(arguments, cwd, environment=environment, stdin=stdin, ok=ok, secrets=secrets)

    def granted(self, url: str, token: Token) -> "Git":
        """The same, but each command may fetch from that URL what a clone without file contents left there."""
        git = copy.copy(self)
        git._access = (url, token)  # noqa: SLF001  # of the same class
        return git

    def looking(self, checkout: Path) -> "Git":
        """The same, to look at a checkout that others configured: no program that it names is started, no remote asked.

        What a filter would make of a file is not known then: files are taken as they lie there.

        Raises:
            GitFailed: it cannot be read.
        """
        query = ("config", "--null", "--name-only", "--get-regexp", r"^filter\.")
        listed = self.run("-c", "safe.directory=*", *query, cwd=checkout, ok=(0, 1))
        drivers = dict.fromkeys(key.rpartition(".")[0] for key in listed.split("\0") if key)
        git = copy.copy(self)
        git._environment = {**self._environment, "GIT_ALLOW_PROTOCOL": "none"}  # noqa: SLF001  # of the same class
        # An empty command is none, and then a filter may not be required.
        off = {f"{driver}.{key}": "" for driver in drivers for key in ("clean", "smudge", "process")}
        git._settings = {**self._settings, **off, **{f"{driver}.required": "false" for driver in drivers}}  # noqa: SLF001  # of the same class
        return git

    def reach(
        self,
        url: str,
        token: Token,
        *arguments: str,
        cwd: Path,
        stdin: str = "",
        configured: Mapping[str, str] | None = None,
    ) -> str:
        """Like `run`, for `fetch` and `push`; the token travels in the environment, for this URL's host only.

        Args:
            configured: settings of git for this command: key -> value.
        """
        settings, secrets = _granted(url, token)
        settings = {**self._settings, **settings, **(configured or {})}
        if self._on_network is not None:
            self._on_network(arguments[0])
        environment = _configured(self._environment, settings)
        return self._run(arguments, cwd, environment=environment, stdin=stdin, secrets=secrets)

    def _run(
        self,
        arguments: tuple[str, ...],
        cwd: Path,
        *,
        environment: Mapping[str, str],
        stdin: str = "",
        ok: tuple[int, ...] = (0,),
        secrets: tuple[str, ...] = (),
    ) -> str:
        command = ("git", *arguments)
        left_s = self._left_s()
        limit_s = self._time_limit_s if left_s is None else min(left_s, self._time_limit_s)
        try:
            code, out, err = _finish(command, cwd, environment, stdin, limit_s)
        except FileNotFoundError as error:
            # The same error names a directory that is gone.
            if error.filename == "git":
                raise no_git() from error
            raise
        if code in ok:
            return out
        if code is None:
            err += f"\nkilled after {limit_s:g} s"
        kind = "time_limit" if code is None else failure_kind(err)
        shown = [masked(text, secrets) for text in command]
        raise GitFailed(shown, -1 if code is None else code, masked(out, secrets), masked(err, secrets), kind)


def _granted(url: str, token: Token) -> tuple[dict[str, str], tuple[str, ...]]:
    """Further settings with which git may speak to a URL, and what of them nobody may read."""
    token = token() if callable(token) else token
    if not token or urlsplit(url).scheme not in ("http", "https"):
        return {}, ()
    pair = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    origin = urlsplit(url)._replace(path="/", query="", fragment="").geturl()
    return {f"http.{origin}.extraHeader": f"Authorization: Basic {pair}"}, (token, pair)


def _configured(environment: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """The environment with the settings in git's own form for configuration by environment."""
    configured = dict(environment) | {"GIT_CONFIG_COUNT": str(len(settings))}
    for index, (key, value) in enumerate(settings.items()):
        configured[f"GIT_CONFIG_KEY_{index}"] = key
        configured[f"GIT_CONFIG_VALUE_{index}"] = value
    return configured


def _finish(
    command: tuple[str, ...], cwd: Path, environment: Mapping[str, str], stdin: str, time_limit_s: float
) -> tuple[int | None, str, str]:
    """Exit code (None: killed at the limit), standard output and error of a command and all its children."""
    # A session of its own: one signal reaches git's helpers (remote-https, index-pack) as well.
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        code: int | None = None
        try:
            out, err = process.communicate(stdin.encode(errors="surrogateescape"), timeout=time_limit_s)
            code = process.returncode
        except subprocess.TimeoutExpired:
            _kill_group(process.pid)
            out, err = process.communicate()
        finally:
            if process.poll() is None:
                _kill_group(process.pid)
    return code, out.decode(errors="surrogateescape"), err.decode(errors="replace")


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def zsplit(text: str) -> list[str]:
    """The parts of an answer whose parts end with NUL."""
    return [part for part in text.split("\0") if part]


def blobs_of(answer: str) -> list[str | None]:
    """What `git cat-file --batch` answered: the text of each file, None for what is missing or something else."""
    raw, at = answer.encode(errors="surrogateescape"), 0
    texts: list[str | None] = []
    while at < len(raw):
        end = raw.index(b"\n", at)
        header = raw[at:end].split(b" ")
        at = end + 1
        # `<oid> <type> <size>`, or the name that was asked for and `missing`.
        if len(header) == 3 and header[1] in (b"blob", b"tree", b"commit", b"tag") and header[2].isdigit():
            content = raw[at : at + int(header[2])].decode(errors="surrogateescape")
            texts.append(content if header[1] == b"blob" else None)
            at += int(header[2]) + 1
        else:
            texts.append(None)
    return texts


_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def detached_head(folder: Path) -> str | None:
    """The commit that a worktree stands at, by the file in its own git directory; None where that names a branch.

    Git would say the same, as a program that has to be started.
    """
    try:
        text = (folder / "HEAD").read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if _OID.fullmatch(text) else None


@contextmanager
def spare_index() -> Iterator[dict[str, str]]:
    """The environment of git commands that shall use an index of their own, empty at first."""
    with tempfile.TemporaryDirectory(prefix="cogworks-index-") as directory:
        yield {"GIT_INDEX_FILE": str(Path(directory, "index"))}


def authorship(identity: Identity, seconds: str) -> dict[str, str]:
    """The environment of a commit by this identity at this moment (seconds since 1970), the same in every time zone."""
    name, email = identity
    date = f"{seconds} +0000"
    return {
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
        "GIT_COMMITTER_DATE": date,
    }


_NAMES = ("index.lock", "HEAD.lock")
_PAUSE_S = 0.05


def break_locks(folder: Path, run: Callable[..., str], *, wait_s: float) -> None:
    """Remove the locks of a git command that died; one that only outlived its caller is waited for.

    Args:
        folder: the worktree's own git directory.
        run: runs git in the worktree.
        wait_s: how long such a command may go on.
    """
    branch = run("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).strip()
    common = Path(run("rev-parse", "--path-format=absolute", "--git-common-dir").removesuffix("\n"))
    locks = [folder / name for name in _NAMES] + ([common / f"{branch}.lock"] if branch else [])
    until = time.monotonic() + wait_s
    while any(lock.exists() for lock in locks) and time.monotonic() < until:
        time.sleep(_PAUSE_S)
    for lock in locks:
        lock.unlink(missing_ok=True)
