"""Where the Python service gets a repository that is not a directory of its own machine."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from cogworks.codebase.failures import CodebaseError, FailureKind, GitFailed
from cogworks.codebase.git import Identity
from cogworks.codebase.worktree import WorkingCopies
from cogworks.domain_services.messages import ErrorCode, Repository

_NOBODY = Identity("cogworks", "cogworks@localhost")
_KINDS: Mapping[FailureKind, str] = {"permission": "auth"}
_PASSING: frozenset[FailureKind] = frozenset({"network", "time_limit", "disk"})


class NoRepository(Exception):
    """There is nothing to look at; the text is for the caller's operator."""

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode,
        is_passing: bool = False,
        details: Mapping[str, str] | None = None,
    ) -> None:
        self.code = code
        self.is_passing = is_passing
        """Whether the same request may succeed later."""
        self.details = dict(details or {})
        super().__init__(message)


class Clones:
    """Clones of other machines' repositories in a directory that ends with the `with` block; one object cache each.

    A caller names any URL, so only those that begin as the service's settings say are fetched, and the token goes nowhere else.
    """

    def __init__(
        self,
        allowed: Sequence[str] = (),
        *,
        token: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Args:
        allowed: URLs of servers or of folders on them, e.g. `https://github.com/octo-org/`.
        token: for all of them.
        environment: of this process; git gets PATH, proxies and certificate locations of it.
        """
        self._allowed = tuple(allowed)
        self._token = token
        self._environment = dict(environment or {"PATH": os.defpath})
        self._stack = ExitStack()
        self._copies: WorkingCopies | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @contextmanager
    def folder_of(self, repository: Repository) -> Iterator[Path]:
        """The repository's directory, for the length of the block.

        Raises:
            NoRepository: see there.
        """
        if "://" in repository.path:
            self._refuse_elsewhere(repository.path)
        elif not Path(repository.path).is_dir():
            text = (
                f"repository.path must be a directory of this machine or a clone URL, not {repository.path!r}"
            )
            raise NoRepository(text, code=ErrorCode.ARTIFACT_NOT_FOUND)
        elif repository.ref is None:
            yield Path(repository.path)
            return
        with ExitStack() as stack:
            yield self._cloned(repository, stack)

    def _refuse_elsewhere(self, url: str) -> None:
        if not any(_lies_in(url, place) for place in self._allowed):
            places = ", ".join(self._allowed) or "nowhere"
            text = f"this service clones from {places}, not from {url!r}; start it with --clones-from"
            raise NoRepository(text, code=ErrorCode.INVALID_REQUEST)

    def _cloned(self, repository: Repository, stack: ExitStack) -> Path:
        token = self._token if "://" in repository.path else None
        moment = self._opened().at(
            url=repository.path,
            token=token,
            ref=repository.ref or "HEAD",
            # What code is run with is said by the commit the change started from.
            besides=() if repository.base is None else (repository.base,),
        )
        try:
            return stack.enter_context(moment).path
        except GitFailed as error:
            raise _failure(error, repository.path) from error
        except CodebaseError as error:
            raise NoRepository(str(error), code=ErrorCode.INVALID_REQUEST) from error

    def _opened(self) -> WorkingCopies:
        if self._copies is None:
            folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="cogworks-clones-"))
            copies = WorkingCopies(Path(folder), identity=_NOBODY, environment=self._environment)
            self._copies = self._stack.enter_context(copies)
        return self._copies


def _lies_in(url: str, place: str) -> bool:
    clone, allowed = urlsplit(url), urlsplit(place)
    # A server would take `..`, written in whatever way, for a step out of the folder.
    if ".." in clone.path or "%" in clone.path or clone.username or clone.query or clone.fragment:
        return False
    folder = allowed.path.rstrip("/")
    return clone[:2] == allowed[:2] and (clone.path == folder or clone.path.startswith(f"{folder}/"))


def _failure(error: GitFailed, url: str) -> NoRepository:
    kind = _KINDS.get(error.kind, str(error.kind))
    lines = error.stderr.strip().splitlines() or ["git said nothing"]
    return NoRepository(
        f"{url} could not be cloned ({kind}): {lines[-1]}",
        code=ErrorCode.TOOL_FAILED,
        is_passing=error.kind in _PASSING,
        details={"kind": kind, "url": url},
    )
