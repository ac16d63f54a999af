"""How many requests this process has made, counted before each is sent."""

from threading import Lock


class Requests:
    """Counters shared by every adapter of one process; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.graphql = 0
        self.rest = 0
        self.git = 0
        """Network operations of git: clone, fetch, push."""

    def count_graphql(self) -> None:
        with self._lock:
            self.graphql += 1

    def count_rest(self) -> None:
        with self._lock:
            self.rest += 1

    def count_git(self, operations: int = 1) -> None:
        with self._lock:
            self.git += operations

    def __repr__(self) -> str:
        return f"Requests(graphql={self.graphql}, rest={self.rest}, git={self.git})"
