"""A change in the working copy: brought into the project's formatting, and judged by what it makes worse."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from cogworks.codebase.changes import FileChange
from cogworks.domain_services.messages import Diagnostic
from cogworks.nodes.contract import DomainService, Workspace
from cogworks.repair.transact.measure import new_faults
from cogworks.vocabulary import Severity

Said = TypeVar("Said")


class FilesAsFound:
    """What the domain service says of files as they were before any change; each file is asked about once."""

    def __init__(self, service: DomainService, workspace: Workspace) -> None:
        self.service = service
        self.workspace = workspace
        self._untidy: dict[str, bool] = {}
        self._findings: dict[str, tuple[Diagnostic, ...]] = {}

    def untidy(self, paths: Sequence[str]) -> frozenset[str]:
        """The files that were not in the project's formatting; the working copy must be as it was found."""
        unknown = [path for path in paths if path not in self._untidy]
        if unknown:
            changed = self.service.normalised(self.workspace, unknown)
            self._untidy |= {path: path in changed for path in unknown}
        return frozenset(path for path in paths if self._untidy[path])

    def learn_findings(self, paths: Sequence[str]) -> None:
        """Ask what is wrong with files; the working copy must be as it was found."""
        unknown = [path for path in paths if path not in self._findings]
        there = [path for path in unknown if self.workspace.read(path) is not None]
        found = self.service.validate(self.workspace, there) if there else ()
        for path in unknown:
            self._findings[path] = tuple(each for each in found if each.artifact == path)

    def knows(self, paths: Sequence[str]) -> bool:
        """Whether the findings of all these files are known."""
        return all(path in self._findings for path in paths)

    def new_among(self, found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        """The blocking findings that were not there before, as far as was asked."""
        before = [each for findings in self._findings.values() for each in findings]
        return new_faults(before, found)


class ChangeOnTrial:
    """Changes that are written, and can be taken back to look at the files as they were."""

    def __init__(self, changes: Sequence[FileChange], found: FilesAsFound) -> None:
        """Args:
        changes: are in the working copy.
        """
        self._changes = list(changes)
        self._workspace = found.workspace
        self._service = found.service
        self._found = found
        self.paths = sorted(change.path for change in changes if change.action != "delete")
        """The files that are there after the change."""

    @property
    def changes(self) -> Sequence[FileChange]:
        """As they are written now."""
        return self._changes

    def tidy(self) -> tuple[str, ...]:
        """Bring the files into the project's formatting; which ones that changed.

        A file that was not in it before stays as it was written: a reviewer would not find the change in the noise.
        """
        texts = dict(self._service.normalised(self._workspace, self.paths)) if self.paths else {}
        modified = [each.path for each in self._changes if each.action == "modify" and each.path in texts]
        if modified:
            for path in self._as_found(lambda: self._found.untidy(modified)):
                del texts[path]
        tidied = [
            FileChange(path=path, action="modify", content=texts[path])
            for path in self.paths
            if path in texts
        ]
        if not tidied or self._workspace.apply(tidied) is not None:
            return ()
        self._changes = [
            each.model_copy(update={"content": texts[each.path]}) if each.path in texts else each
            for each in self._changes
        ]
        return tuple(each.path for each in tidied)

    def new_findings(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the files and was not before; who only finds old faults in them is not to blame."""
        found = self._service.validate(self._workspace, self.paths)
        blamed = sorted({each.artifact for each in found if each.severity is Severity.BLOCKING})
        if not self._found.knows(blamed):
            self._as_found(lambda: self._found.learn_findings(blamed))
        return self._found.new_among(found)

    def _as_found(self, ask: Callable[[], Said]) -> Said:
        self._workspace.roll_back()
        said = ask()
        # It was written once and can be written again.
        self._workspace.apply(self._changes)
        return said
