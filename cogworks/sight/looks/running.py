"""What tests say, as a model reads it, and what a change would do that nobody keeps."""

from collections.abc import Callable, Sequence

from cogworks.codebase.changes import FileChange
from cogworks.domain_services.failing import in_words
from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.transport import ServiceFailed
from cogworks.sight.looks.schema import LookEdit, RunningLook

Simulate = Callable[[Sequence[str]], TestReport]
Apply = Callable[[Sequence[FileChange]], str | None]


class Trials:
    """Runs tests on a working copy, as it is or changed for the length of the run."""

    def __init__(
        self,
        *,
        simulate: Simulate,
        apply: Apply,
        roll_back: Callable[[], None],
        read: Callable[[str], str | None],
    ) -> None:
        """Args:
        simulate: runs tests in isolation.
        apply: writes changes into the working copy; the reason where they are refused.
        roll_back: makes the working copy as it was committed.
        """
        self._simulate = simulate
        self._apply = apply
        self._roll_back = roll_back
        self._read = read

    def run(self, look: RunningLook) -> str:
        """What the tests say now."""
        if not look.tests:
            return "`run` needs the ids of tests, or files of tests, in `tests`."
        return self._told(look.tests)

    def try_out(self, look: RunningLook) -> str:
        """What the tests would say with the edits; the working copy is as before."""
        if not look.edits or not look.tests:
            return "`try` needs `edits` and the `tests` to run with them."
        changes: list[FileChange] = []
        for edit in look.edits:
            change = self._change(edit, changes)
            if isinstance(change, str):
                return change
            changes = [each for each in changes if each.path != change.path] + [change]
        try:
            if (reason := self._apply(changes)) is not None:
                return f"The edits were refused: {reason}"
            return self._told(look.tests)
        finally:
            self._roll_back()

    def _change(self, edit: LookEdit, before: Sequence[FileChange]) -> FileChange | str:
        text = next((each.content for each in before if each.path == edit.path), None)
        text = self._read(edit.path) if text is None else text
        if not edit.search:
            return FileChange(
                path=edit.path, action="create" if text is None else "modify", content=edit.replace
            )
        if text is None:
            return f"There is no file {edit.path} to edit; leave `search` empty to make it."
        if (count := text.count(edit.search)) != 1:
            return f"The text to replace stands {count} times in {edit.path}; it has to stand there once."
        return FileChange(
            path=edit.path,
            action="create" if self._read(edit.path) is None else "modify",
            content=text.replace(edit.search, edit.replace),
        )

    def _told(self, tests: Sequence[str]) -> str:
        try:
            return in_words(self._simulate(tests))
        except ServiceFailed as error:
            return f"The tests could not be run: {error}"
