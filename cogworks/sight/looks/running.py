"""What tests say, as a model reads it, and what a change would do that nobody keeps."""

from collections.abc import Callable, Sequence

from cogworks.codebase.changes import FileChange
from cogworks.codebase.diffmodel import post_image
from cogworks.codebase.diffplacing import Replacement, normalised_replacements
from cogworks.domain_services.failing import failed_ids, in_words, listed
from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.transport import ServiceFailed
from cogworks.sight.looks.schema import LookEdit, RunningLook

Simulate = Callable[[Sequence[str]], TestReport]
MAX_RUN_AGAIN = 40
"""Failures of a trial that are run once more without its edits."""
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
        report = self._ran(look.tests)
        return report if isinstance(report, str) else in_words(report)

    def try_out(self, look: RunningLook) -> str:
        """What the tests would say with the edits; the working copy is as before."""
        if look.after:
            return f"There is no try {look.after} to go on from; send its edits."
        if not look.edits or not look.tests:
            return "`try` needs `edits` and the `tests` to run with them."
        changes = self._changes(look.edits)
        if isinstance(changes, str):
            return changes
        try:
            if (reason := self._apply(changes)) is not None:
                return f"The edits were refused: {reason}"
            report = self._ran(look.tests)
        finally:
            self._roll_back()
        return report if isinstance(report, str) else f"{in_words(report)}{self._before(report, look.tests)}"

    def _before(self, report: TestReport, tests: Sequence[str]) -> str:
        """Which of these failures the edits are not to blame for: those that are there without them."""
        failed = failed_ids(report)
        known = [*dict.fromkeys(each for name in failed for each in self._runnable(name, tests))]
        if not known:
            return ""
        before = self._ran(known[:MAX_RUN_AGAIN])
        if len(known) > 1 and not isinstance(before, str) and not _says_anything(before):
            # A runner that is asked for one test that is not there (pytest) runs none of the others either.
            before = self._ran([*dict.fromkeys(each.partition("::")[0] for each in known[:MAX_RUN_AGAIN])])
        if isinstance(before, str) or before.timed_out:
            return ""
        if same := [each for each in failed_ids(before) if each in failed]:
            return f"\n\nWithout the edits these fail as well: {listed(same)}."
        if len(known) > MAX_RUN_AGAIN:
            # Nobody knows of those that were not run again.
            return ""
        passing = [name for name in failed if _is_there(name, before)]
        if len(passing) == len(failed):
            return "\n\nWithout the edits none of these fails."
        if not passing:
            return "\n\nThese failing tests are new: without the edits there is none of them."
        return f"\n\nOf these failing tests these pass without the edits: {listed(passing)}. The others are not there."

    def _runnable(self, failed: str, tests: Sequence[str]) -> Sequence[str]:
        """What to run for a test, file or folder that failed: itself, or what was asked for in it; nothing that only the edits make."""
        if self._read(failed.partition("::")[0]) is not None:
            return (failed,)
        inside = [each for each in tests if each == failed or each.startswith(f"{failed}/")]
        return [each for each in inside if self._read(each.partition("::")[0]) is not None]

    def _changes(self, edits: Sequence[LookEdit]) -> Sequence[FileChange] | str:
        """What the edits do to the files, each placed as those of an answer are; or why they have no place."""
        wanted = [Replacement(path=each.path, search=each.search, replace=each.replace) for each in edits]
        sources = {
            path: text for path in {each.path for each in edits} if (text := self._read(path)) is not None
        }
        placed = normalised_replacements(wanted, sources)
        if placed.diff is None:
            return "\n".join(placed.problems)
        return [
            FileChange(
                path=file.path,
                action="create" if file.kind == "create" else "modify",
                content=post_image(file, sources.get(file.path)) or "",
            )
            for file in placed.diff.files
        ]

    def _ran(self, tests: Sequence[str]) -> TestReport | str:
        """What the tests say; or why they could not be run."""
        try:
            return self._simulate(tests)
        except ServiceFailed as error:
            return f"The tests could not be run: {error}"


def _says_anything(report: TestReport) -> bool:
    return report.timed_out or bool(report.cases or report.collection_errors)


def _is_there(name: str, report: TestReport) -> bool:
    """Whether a test, or one of the file, ran."""
    return any(case.id == name or case.id.startswith(f"{name}::") for case in report.cases)
