"""What an answer does to files: whole files, edits and a diff are one form, or have a reason why they are not."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from cogworks.codebase.changes import normalised
from cogworks.codebase.diffmodel import FileDiff, post_image
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codebase.diffplacing import Normalised, normalised_diff, normalised_replacements, recounted
from cogworks.nodes.replies import ChangedFiles, ProposedFile
from cogworks.repair.proposing import replacements

_USUAL_MODE = "100644"
Reply = TypeVar("Reply", bound=ChangedFiles)


class Texts(Protocol):
    """The files that an answer is about; a working copy is one."""

    def files(self) -> Sequence[str]:
        """Repository-relative POSIX paths."""

    def read(self, path: str) -> str | None:
        """Text of a file; None when absent or not UTF-8 text."""


class Overlaid(NamedTuple):
    """Files over which others lie, e.g. those of an answer that was not kept."""

    below: Texts
    above: Mapping[str, str]

    def files(self) -> Sequence[str]:
        """Those of both, each once."""
        return tuple(dict.fromkeys((*self.below.files(), *self.above)))

    def read(self, path: str) -> str | None:
        """The text that lies above, else the one below."""
        return self.above.get(path, self.below.read(path))


class InOneForm(NamedTuple):
    """An answer as whole files; `problems` say what of it cannot be placed, and then no file is there."""

    files: tuple[ProposedFile, ...]
    problems: tuple[str, ...] = ()


def paths_of(reply: ChangedFiles) -> tuple[str, ...]:
    """Every path that an answer names, whether or not it can be placed."""
    return tuple(dict.fromkeys(path for paths in _by_form(reply).values() for path in paths))


def in_one_form(reply: ChangedFiles, texts: Texts) -> InOneForm:
    """The answer as whole files, each edit and hunk where it stands in these files as they are; nothing is guessed."""
    named = _by_form(reply)
    if not (named["edits"] or reply.unified_diff.strip()):
        return InOneForm(reply.files)
    problems = [*_named_twice(named), *_no_text({*named["edits"], *named["unified_diff"]}, texts)]
    edited = _edited(reply, texts)
    patched = _patched(reply, texts)
    problems += [*edited.problems, *patched.problems]
    if problems:
        return InOneForm((), tuple(problems))
    return InOneForm((*reply.files, *edited.files, *patched.files))


def as_whole_files(reply: Reply, files: Sequence[ProposedFile]) -> Reply:
    """The answer with these files in place of everything it does to files."""
    return reply.model_copy(update={"files": tuple(files), "edits": (), "unified_diff": ""})


def amended(
    reply: ChangedFiles, earlier: Sequence[ProposedFile], texts: Texts, *, kept: Collection[str]
) -> InOneForm:
    """The answer that corrects an earlier one of which nothing is in the files, as whole files.

    Its edits and hunks are placed in what the earlier answer wrote.

    Args:
        earlier: the files of the earlier answer.
        texts: the files without it.
        kept: normalised paths; where the answer says nothing of one, what the earlier answer wrote stands.
    """
    written = {normalised(file.path): file for file in earlier if file.action != "delete"}
    placed = in_one_form(reply, Overlaid(texts, {path: file.content for path, file in written.items()}))
    if placed.problems:
        return placed
    there, named = frozenset(texts.files()), paths_of(reply)
    changed = [
        file.model_copy(update={"action": "create"})
        if file.action == "modify" and file.path in written and file.path not in there
        else file
        for file in placed.files
    ]
    standing = [file for path, file in written.items() if path in kept and path not in named]
    return InOneForm((*changed, *standing))


def _by_form(reply: ChangedFiles) -> Mapping[str, tuple[str, ...]]:
    """Field -> the paths in it, each once."""
    diff = parse_diff(recounted(reply.unified_diff)).diff if reply.unified_diff.strip() else None
    return {
        "files": tuple(dict.fromkeys(normalised(file.path) for file in reply.files)),
        "edits": tuple(dict.fromkeys(normalised(edit.path) for edit in reply.edits)),
        "unified_diff": tuple(dict.fromkeys(normalised(path) for path in diff.paths)) if diff else (),
    }


def _named_twice(named: Mapping[str, Collection[str]]) -> Iterator[str]:
    counts = Counter(path for paths in named.values() for path in paths)
    for path, count in counts.items():
        if count > 1:
            forms = " and ".join(f"`{form}`" for form, paths in named.items() if path in paths)
            yield f"{path!r} is in {forms}; change each file in one of them"


def _no_text(paths: Collection[str], texts: Texts) -> Iterator[str]:
    there = frozenset(texts.files())
    for path in sorted(paths):
        if path in there and texts.read(path) is None:
            yield f"{path!r} is no text in UTF-8; no part of it can be replaced"


def _edited(reply: ChangedFiles, texts: Texts) -> InOneForm:
    if not reply.edits:
        return InOneForm(())
    edits = [each.model_copy(update={"path": normalised(each.path)}) for each in replacements(reply.edits)]
    sources = _texts({each.path for each in edits}, texts)
    return _spelled_out(normalised_replacements(edits, sources), sources)


def _patched(reply: ChangedFiles, texts: Texts) -> InOneForm:
    text = reply.unified_diff
    if not text.strip():
        return InOneForm(())
    parsed = parse_diff(recounted(text)).diff
    sources = _texts(parsed.paths, texts)
    return _spelled_out(normalised_diff(text, sources), sources)


def _spelled_out(outcome: Normalised, sources: Mapping[str, str]) -> InOneForm:
    if outcome.diff is None:
        return InOneForm((), outcome.problems)
    if problems := tuple(problem for file in outcome.diff.files if (problem := _more_than_text(file))):
        return InOneForm((), problems)
    return InOneForm(tuple(_whole(file, sources.get(file.path)) for file in outcome.diff.files))


def _more_than_text(file: FileDiff) -> str | None:
    """Why a change is not one of texts alone; V3 refuses it in every other answer."""
    if file.kind in ("rename", "copy"):
        return f"{file.old_path!r} is to be renamed or copied; delete the old file and create the new one"
    if file.binary is not None:
        return f"{file.path!r} is changed as binary data; only text can be changed"
    if file.kind == "create" and file.new_mode not in (None, _USUAL_MODE):
        return f"{file.path!r} is to get the mode {file.new_mode}; files are created with {_USUAL_MODE}"
    if file.kind == "modify" and (file.old_mode or file.new_mode):
        return f"the mode of {file.path!r} is changed; only its text can be"
    return None


def _whole(file: FileDiff, source: str | None) -> ProposedFile:
    after = post_image(file, source)
    if after is None:
        return ProposedFile(path=file.path, action="delete", content="")
    return ProposedFile(path=file.path, action="create" if file.kind == "create" else "modify", content=after)


def _texts(paths: Collection[str], texts: Texts) -> dict[str, str]:
    return {path: text for path in paths if (text := texts.read(path)) is not None}
