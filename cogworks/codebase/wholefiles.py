"""Whole files as a diff: what a change that names complete texts does to the files that are there."""

from collections.abc import Mapping, Sequence

from cogworks.codebase.changes import FileChange, normalised
from cogworks.codebase.diffmodel import Diff, Edit, FileDiff, hunks_of, lines_of
from cogworks.codebase.diffplacing import between, created


def diff_of(changes: Sequence[FileChange], sources: Mapping[str, str]) -> Diff:
    """The diff that has the same effect; files that stay as they are, are not in it.

    Args:
        changes: fit the files, see `changes.refusal`.
        sources: the text of every file they modify or delete.
    """
    made = [_file_diff(change, sources) for change in changes]
    return Diff(files=tuple(file for file in made if file is not None))


def _file_diff(change: FileChange, sources: Mapping[str, str]) -> FileDiff | None:
    path = normalised(change.path)
    if change.action == "create":
        return created(path, change.content)
    before = sources[path]
    if change.action == "delete":
        whole = hunks_of([Edit(0, lines_of(before), ())], lines_of(before)) if before else ()
        return FileDiff(old_path=path, new_path=path, kind="delete", hunks=whole)
    return between(path, before, change.content) if change.content != before else None
