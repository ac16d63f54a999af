"""Which lines of a repository a reader was shown, and at which version of their file."""

from collections.abc import Callable

from cogworks.canonical import sha256

Stretch = tuple[int, int]
"""First and last line, from 1, both ends included."""


class Seen:
    """What one reader has seen so far. Lines of a file that changed since do not count any more."""

    def __init__(self, text: Callable[[str], str | None]) -> None:
        """Args:
        text: a file as it is now; None when there is none that is text.
        """
        self._text = text
        self._versions: dict[str, str] = {}
        self._stretches: dict[str, list[Stretch]] = {}

    def note(self, path: str, first: int, last: int) -> None:
        """These lines of the file as it is now were shown."""
        version = self._version(path)
        if not version or last < first:
            return
        if self._versions.get(path) != version:
            self._versions[path], self._stretches[path] = version, []
        self._stretches[path] = _joined([*self._stretches[path], (first, last)])
        # The file of the latest look stands last.
        self._versions[path] = self._versions.pop(path)

    @property
    def newest_last(self) -> tuple[str, ...]:
        """The same files as `paths`, in the order of the latest look at each."""
        return tuple(path for path in self._versions if self.stretches(path))

    @property
    def paths(self) -> tuple[str, ...]:
        """The files of which something was shown as it is now, sorted."""
        return tuple(path for path in sorted(self._versions) if self.stretches(path))

    def stretches(self, path: str) -> tuple[Stretch, ...]:
        """What was shown of a file as it is now, in its order; stretches that touch are one."""
        if path not in self._versions or self._versions[path] != self._version(path):
            return ()
        return tuple(self._stretches[path])

    def unseen(self, path: str, first: int, last: int) -> tuple[Stretch, ...]:
        """What of a stretch was not shown yet."""
        left: list[Stretch] = []
        at = first
        for start, end in self.stretches(path):
            if start > at:
                left.append((at, min(start - 1, last)))
            at = max(at, end + 1)
        return tuple(each for each in [*left, (at, last)] if each[0] <= each[1] <= last)

    def _version(self, path: str) -> str:
        text = self._text(path)
        return "" if text is None else version_of(text)


def version_of(text: str) -> str:
    """64 hex digits that stand for the text of a file; also a text that UTF-8 cannot carry has them."""
    return sha256(text.encode(errors="surrogateescape").decode("latin-1"))


def _joined(stretches: list[Stretch]) -> list[Stretch]:
    """In their order; those that overlap or touch are one, and no line is in them that was in none."""
    joined: list[Stretch] = []
    for first, last in sorted(stretches):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined
