"""Rules about paths, kinds, size and place of a diff (V2 to V9, V11, V14 to V16), and how much one moves."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Literal

from cogworks.codebase.asking import is_asked_about
from cogworks.codebase.changes import folded, normalised, path_problem, protected_by
from cogworks.codebase.diffmodel import Diff, Edit, FileDiff, Hunk, edits_of, mismatches, render
from cogworks.codebase.unwritable import secrets_among
from cogworks.repair.violations import Ground, Step, Violation
from cogworks.vocabulary import Value

FileKind = Literal["source", "test", "config", "generated"]

_HASH = ("#",)
_SLASHES = ("//", "/*", "*/")
_COMMENTS = dict.fromkeys((".py", ".rb", ".sh", ".toml", ".yaml", ".yml", ".cfg", ".ini", ".tf"), _HASH) | (
    dict.fromkeys(
        (".c", ".cc", ".cpp", ".cs", ".go", ".h", ".java", ".js", ".kt", ".rs", ".ts", ".tsx"), _SLASHES
    )
)


class FileKinds(Value):
    """Which files count as what, by patterns of their paths; the first kind that fits, in this order."""

    generated: tuple[str, ...] = (
        "*.lock",
        "*-lock.json",
        "*_pb2.py",
        "*.min.js",
        "*.snap",
        "dist/*",
        "build/*",
    )
    test: tuple[str, ...] = ("tests/*", "test/*", "*/tests/*", "*/test/*", "test_*", "*/test_*", "*_test.*")
    config: tuple[str, ...] = (
        *("*.toml", "*.cfg", "*.ini", "*.yaml", "*.yml", "*.json", "Makefile", "*/Makefile", "Dockerfile"),
        *("setup.py", "CMakeLists.txt", "*/CMakeLists.txt", ".*"),
    )

    def kind(self, path: str) -> FileKind:
        """What a change of this file counts as."""
        kinds: tuple[tuple[FileKind, tuple[str, ...]], ...] = (
            ("generated", self.generated),
            ("test", self.test),
            ("config", self.config),
        )
        for kind, patterns in kinds:
            if any(fnmatchcase(path, pattern) for pattern in patterns):
                return kind
        return "source"


DEFAULT_KINDS = FileKinds()
DEFAULT_WEIGHTS: Mapping[FileKind, float] = {"source": 1.0, "test": 0.5, "config": 1.5, "generated": 0.0}


def churn(
    diff: Diff, *, kinds: FileKinds = DEFAULT_KINDS, weights: Mapping[FileKind, float] = DEFAULT_WEIGHTS
) -> float:
    """Half of the lines that were added or removed, each with the weight of its file.

    A line that only changed its blanks, an empty line and a comment count nothing.
    """
    return sum(weights[kinds.kind(file.path)] * _counted_lines(file) for file in diff.files) / 2


def blank_pairs(file: FileDiff) -> int:
    """How many lines were replaced by one that differs in nothing but blanks."""
    return sum(
        (Counter(_bare(lines[0])) & Counter(_bare(lines[1]))).total()
        for hunk in file.hunks
        for lines in ((edit.removed, edit.added) for edit in edits_of(hunk))
    )


def _counted_lines(file: FileDiff) -> int:
    """Changed lines that are no comment, less those that have a partner on the other side."""
    marks = _COMMENTS.get(PurePosixPath(file.path).suffix, ())
    total = 0
    for edit in (edit for hunk in file.hunks for edit in edits_of(hunk)):
        removed, added = (
            Counter(line for line in _bare(side) if line and not line.startswith(marks))
            for side in (edit.removed, edit.added)
        )
        total += (removed - added).total() + (added - removed).total()
    return total


def _bare(lines: tuple[str, ...]) -> Iterator[str]:
    return ("".join(line.split()) for line in lines)


LOCK_FILES = (
    *("**/*.lock", "**/package-lock.json", "**/npm-shrinkwrap.json", "**/pnpm-lock.yaml"),
    *("**/go.sum", "**/gradle.lockfile", "**/packages.lock.json"),
)
SECRET_FILES = (
    *("**/.env", "**/.env.*", "**/*.pem", "**/*.key", "**/*.p12", "**/*.pfx", "**/id_rsa*", "**/id_ed25519*"),
    *("**/.netrc", "**/.npmrc", "**/.pypirc", "**/.git-credentials"),
)
_SUBMODULE, _LINK, _PLAIN = "160000", "120000", "100644"
_IMPORT = re.compile(r"\s*(?:import|from|use|using|require|#\s*include)\b")


def fingerprint(diff: Diff) -> str:
    """64 hex digits, equal for diffs that do the same; the names of git's objects do not count."""
    bare = Diff(files=tuple(file.model_copy(update={"index": None}) for file in diff.files))
    return hashlib.sha256(render(bare).encode(errors="surrogateescape")).hexdigest()


def path_violations(diff: Diff, ground: Ground) -> Iterator[Violation]:
    """V2: every name is a normalised path inside the repository, through no link, no file's name in other case, and
    nothing that git ignores."""
    spellings: dict[str, str] = {folded(path): path for path in ground.existing}
    for path in diff.paths:
        if (problem := path_problem(path)) is not None:
            yield Violation("path", f"{path!r}: {problem}")
        elif normalised(path) != path:
            yield Violation("path", f"{path!r} is not normalised; write {normalised(path)!r}")
        if path in ground.links:
            yield Violation("path", f"{path!r} is, or lies behind, a symbolic link")
        if path in ground.unwritable:
            yield Violation("path", ground.unwritable[path])
        other = spellings.setdefault(folded(path), path)
        if other != path:
            yield Violation("path", f"{path!r} differs only in case from {other!r}")
    names = [file.path for file in diff.files]
    for path in sorted({name for name in names if names.count(name) > 1}):
        yield Violation("path", f"{path!r} is named {names.count(path)} times; give one diff per file")


def kind_violations(diff: Diff, step: Step) -> Iterator[Violation]:
    """V3: text is changed in plain files; creations and deletions only where the step says so."""
    for file in diff.files:
        if file.kind in ("rename", "copy"):
            yield Violation("kind", f"{file.path!r}: a {file.kind} is not allowed")
        if file.binary is not None:
            yield Violation("kind", f"{file.path!r}: a binary change is not allowed")
        if file.kind == "create" and file.path not in step.create:
            yield Violation("kind", f"{file.path!r} may not be created in this step")
        if file.kind == "delete" and file.path not in step.delete:
            yield Violation("kind", f"{file.path!r} may not be deleted in this step")
        if _LINK in file.modes or _SUBMODULE in file.modes:
            yield Violation("kind", f"{file.path!r} is a symbolic link or a submodule")
        elif file.kind == "create" and file.new_mode not in (None, _PLAIN):
            yield Violation("kind", f"{file.path!r}: a new file has mode {_PLAIN}, not {file.new_mode}")
        elif file.kind != "delete" and file.old_mode is not None:
            yield Violation("kind", f"{file.path!r}: a change of mode is not allowed")


def scope_violations(diff: Diff, step: Step) -> Iterator[Violation]:
    """V4 to V6: nothing protected, not too many files, and only files of the step."""
    for path in diff.paths:
        pattern = protected_by(path, (*step.protected, *LOCK_FILES, *SECRET_FILES))
        if pattern is not None:
            yield Violation("protected", f"{path!r} is protected by {pattern!r}; a person has to change it")
        elif is_asked_about(path, step.asked):
            reason = "says what is installed or how tests run; a person has to change it"
            yield Violation("protected", f"{path!r} {reason}")
    counted = len(_counted(diff, step))
    if counted > step.max_files:
        yield Violation("files", f"{counted} files are changed; at most {step.max_files} are allowed")
    for path in diff.paths:
        if path not in step.files:
            allowed = ", ".join(map(repr, step.files)) or "none"
            yield Violation("allowlist", f"{path!r} is not a file of this step; those are {allowed}")


def size_violations(diff: Diff, text: str, step: Step) -> Iterator[Violation]:
    """V7 and V16: few changed lines, and a diff of bounded size."""
    changed = sum(file.added + file.removed - blank_pairs(file) for file in _counted(diff, step))
    if changed > step.max_changed_lines:
        yield Violation("loc", f"{changed} lines are changed; at most {step.max_changed_lines} are allowed")
    size = len(text.encode(errors="surrogateescape"))
    if size > step.max_diff_bytes:
        yield Violation("size", f"the diff has {size} bytes; at most {step.max_diff_bytes} are allowed")


def range_violations(diff: Diff, step: Step) -> Iterator[Violation]:
    """V8: every change lies in a span of its file or within the padding around it."""
    for file in diff.files:
        spans = [span for span in step.spans if span.path == file.old_path]
        if not spans or file.kind == "create":
            continue
        reach = [(span.first - step.padding_lines, span.last + step.padding_lines) for span in spans]
        for line in _changed_lines(file):
            if not any(first <= line <= last for first, last in reach):
                wanted = " or ".join(f"{max(first, 1)}-{last}" for first, last in reach)
                yield Violation("range", f"line {line} of {file.path!r} is outside of lines {wanted}")


def base_violations(diff: Diff, ground: Ground) -> Iterator[Violation]:
    """V9: what the diff takes for given is what stands in the files."""
    for file in diff.files:
        if file.binary is None:
            for problem in mismatches(file, ground.sources.get(file.old_path)):
                yield Violation("base", problem)


def minimal_violations(diff: Diff) -> Iterator[Violation]:
    """V11: no change that changes nothing. Indentation counts as a change, since it may be the repair."""
    for file in diff.files:
        for number, hunk in enumerate(file.hunks, 1):
            edits = list(edits_of(hunk))
            place = f"hunk {number} of {file.path!r}"
            if any(_has_pair_of_equals(edit) for edit in edits):
                yield Violation("minimal", f"{place} removes a line and adds the same one")
            elif file.kind == "modify" and _only_blanks(hunk):
                yield Violation("minimal", f"{place} changes nothing but blanks")
            elif _moves_imports(hunk) or any(_reorders_imports(edit) for edit in edits):
                yield Violation("minimal", f"{place} only puts imports into another order")


def secret_violations(diff: Diff) -> Iterator[Violation]:
    """V14: no added line looks like a secret; it is named by its number and not repeated."""
    for file in diff.files:
        added = (
            (number, line.text)
            for hunk in file.hunks
            for number, line in enumerate((each for each in hunk.lines if each.sign != "-"), hunk.new_start)
            if line.sign == "+"
        )
        for number, what in secrets_among(added, passwords=True):
            yield Violation("secrets", f"{file.path!r} line {number} looks like {what}; use a placeholder")


def repeat_violations(diff: Diff, ground: Ground) -> Iterator[Violation]:
    """V15: the same diff is not tried twice on the same tree."""
    if fingerprint(diff) in ground.tried:
        yield Violation("repeat", "the same diff was tried before on this tree; propose another one")


def _counted(diff: Diff, step: Step) -> list[FileDiff]:
    return [file for file in diff.files if step.counts_new_files or file.kind != "create"]


def _changed_lines(file: FileDiff) -> Iterator[int]:
    """Old line numbers of what is removed, and of where something is added; each once."""
    for edit in (edit for hunk in file.hunks for edit in edits_of(hunk)):
        yield from range(edit.start + 1, edit.start + len(edit.removed) + 1)
        if not edit.removed:
            yield max(edit.start, 1)


def _has_pair_of_equals(edit: Edit) -> bool:
    return bool(edit.removed and edit.added) and (
        edit.removed[0] == edit.added[0] or edit.removed[-1] == edit.added[-1]
    )


def _only_blanks(hunk: Hunk) -> bool:
    # With what stands around them: a line that only moved past another one is a change.
    before, after = (
        [_shape(line.text) for line in hunk.lines if line.sign in signs and line.text.strip()]
        for signs in (" -", " +")
    )
    return before == after


def _shape(line: str) -> tuple[str, str]:
    bare = line.strip()
    return line[: len(line) - len(line.lstrip())], " ".join(bare.split())


def _moves_imports(hunk: Hunk) -> bool:
    """Whether imports move past imports, and nothing else is changed."""
    changed = [number for number, line in enumerate(hunk.lines) if line.sign in "-+"]
    stretch = hunk.lines[changed[0] : changed[-1] + 1] if changed else ()
    if not all(_IMPORT.match(line.text) for line in stretch if line.text.strip()):
        return False
    removed, added = ([line.text for line in stretch if line.sign == sign] for sign in "-+")
    return sorted(removed) == sorted(added) != []


def _reorders_imports(edit: Edit) -> bool:
    lines = [line for line in (*edit.removed, *edit.added) if line.strip()]
    if not lines or not all(_IMPORT.match(line) for line in lines):
        return False
    return sorted(edit.removed) == sorted(edit.added)
