"""What a coder's answer does to files, whole files, edits or a diff: one form for all of them, or why it has none."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from cogworks.codebase.changes import normalised
from cogworks.codebase.diffmodel import FileDiff, post_image
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codebase.diffplacing import Normalised, normalised_diff, normalised_replacements, recounted
from cogworks.nodes.contract import Workspace
from cogworks.nodes.replies import CodeChange, Implementation, ProposedFile
from cogworks.repair.proposing import replacements

_USUAL_MODE = "100644"


class InOneForm(NamedTuple):
    """An answer as whole files; `problems` say what of it cannot be placed, and then no file is there."""

    files: tuple[ProposedFile, ...]
    problems: tuple[str, ...] = ()


def paths_of(reply: CodeChange | Implementation) -> tuple[str, ...]:
    """Every path that an answer names, whether or not it can be placed."""
    return tuple(dict.fromkeys(path for paths in _by_form(reply).values() for path in paths))


def in_one_form(reply: CodeChange, workspace: Workspace) -> InOneForm:
    """The answer as whole files, each edit and hunk where it stands in the working copy as it is; nothing is guessed."""
    named = _by_form(reply)
    if not (named["edits"] or reply.unified_diff.strip()):
        return InOneForm(reply.files)
    problems = [*_named_twice(named), *_no_text({*named["edits"], *named["unified_diff"]}, workspace)]
    edited = _edited(reply, workspace)
    patched = _patched(reply, workspace)
    problems += [*edited.problems, *patched.problems]
    if problems:
        return InOneForm((), tuple(problems))
    return InOneForm((*reply.files, *edited.files, *patched.files))


def _by_form(reply: CodeChange | Implementation) -> Mapping[str, tuple[str, ...]]:
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


def _no_text(paths: Collection[str], workspace: Workspace) -> Iterator[str]:
    there = frozenset(workspace.files())
    for path in sorted(paths):
        if path in there and workspace.read(path) is None:
            yield f"{path!r} is no text in UTF-8; no part of it can be replaced"


def _edited(reply: CodeChange, workspace: Workspace) -> InOneForm:
    if not reply.edits:
        return InOneForm(())
    edits = [each.model_copy(update={"path": normalised(each.path)}) for each in replacements(reply.edits)]
    sources = _texts({each.path for each in edits}, workspace)
    return _spelled_out(normalised_replacements(edits, sources), sources)


def _patched(reply: CodeChange, workspace: Workspace) -> InOneForm:
    text = reply.unified_diff
    if not text.strip():
        return InOneForm(())
    parsed = parse_diff(recounted(text)).diff
    sources = _texts(parsed.paths, workspace)
    return _spelled_out(normalised_diff(text, sources), sources)


def _spelled_out(found: Normalised, sources: Mapping[str, str]) -> InOneForm:
    if found.diff is None:
        return InOneForm((), found.problems)
    if problems := tuple(problem for file in found.diff.files if (problem := _more_than_text(file))):
        return InOneForm((), problems)
    return InOneForm(tuple(_whole(file, sources.get(file.path)) for file in found.diff.files))


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


def _texts(paths: Collection[str], workspace: Workspace) -> dict[str, str]:
    return {path: text for path in paths if (text := workspace.read(path)) is not None}
