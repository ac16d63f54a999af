"""Everything the hub is made of: records, repositories, clock, limits, and the lock that orders changes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

from cogworks.hub.clock import Clock, SystemClock
from cogworks.hub.gitstore import GitRepository, GitStore
from cogworks.hub.ratelimits import RateLimits
from cogworks.hub.records import Repository, User
from cogworks.hub.store import Store
from cogworks.own_folders import own_folder
from cogworks.unfit import writing

LIMITS = {"core": 5000, "graphql": 5000, "search": 30}


class World:
    """One hub's state in `directory`: `hub.sqlite3` and `repos/`. Copying the directory copies the hub."""

    def __init__(
        self, directory: Path, *, clock: Clock | None = None, base_url: str = "http://127.0.0.1"
    ) -> None:
        with writing(directory):
            own_folder(directory)
        self.directory = directory
        self.base_url = base_url
        """Scheme, host and port, without a slash at the end; every URL in an answer starts with it."""
        self.clock: Clock = clock or SystemClock()
        self.store = Store(directory / "hub.sqlite3")
        self.git = GitStore(directory / "repos")
        self.has_graphql_extensions = True
        """False makes a GitHub Enterprise Server that knows only the fields of the published schema."""
        self.limits = RateLimits(self.clock.now, LIMITS)
        self.cross_reference_delay_s = 0
        """How late, by the hub's clock, a timeline shows that something mentions the issue."""
        self.seen_merge_states: set[tuple[int, str, str]] = set()
        """Pull request, head, base: the states whose mergeability somebody has already asked for."""
        self._lock = RLock()

    def close(self) -> None:
        self.git.close()
        self.store.close()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Alone, and all records of the block or none. Refs moved inside stay moved: move them last but one."""
        with self._lock, self.store.transaction():
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """No change happens between two reads of the block."""
        with self._lock:
            yield

    def repository_git(self, repository: Repository) -> GitRepository:
        return self.git.repository(repository.full_name)

    def user(self, user_id: int) -> User:
        """A user that a record refers to. Users are never deleted."""
        record = self.store.get(User, user_id)
        if record is None:
            raise LookupError(
                f"the hub's store in {self.directory} has no user {user_id}; the store is damaged"
            )
        return record
