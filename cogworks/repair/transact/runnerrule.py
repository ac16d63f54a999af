"""V17: code under repair does not look at whatever runs it; a repair that knows its tests repairs nothing."""

import re
from collections.abc import Iterator, Sequence

from cogworks.codebase.changes import matching
from cogworks.codebase.diffmodel import Diff, FileDiff
from cogworks.repair.violations import Ground, Step, Violation

_WATCHING = (
    ("the test runner", re.compile(r"^\s*(?:import|from)\s+_?pytest\b|\b_pytest\b|\bpytest_[a-z]\w+")),
    ("the test runner", re.compile(r"\b(?:PYTEST_\w+|COGWORKS_TESTS)\b")),
    ("the test runner", re.compile(r"\bimport_(?:module)?_*\(\s*[\"']_?(?:pytest|unittest)\b|__import__\(\s*[\"']_?(?:pytest|unittest)\b")),
    ("the test runner", re.compile(r"^\s*(?:import|from)\s+unittest\b|\bunittest\.(?!mock\b)\w+")),
    ("the modules that are loaded", re.compile(r"\bsys\.modules\b|\bfrom\s+sys\s+import\b.*\bmodules\b")),
    ("the frames of its callers", re.compile(r"\b_getframe\b|\b_current_frames\b|\.f_(?:back|locals|globals|code)\b|\btb_frame\b")),
    (
        "the frames of its callers",
        re.compile(
            r"\binspect\.(?:stack|currentframe|trace|getouterframes|getinnerframes)\b"
            r"|\bfrom\s+inspect\s+import\b.*\b(?:stack|currentframe|trace)\b|\btraceback\.(?:extract_stack|walk_stack)\b"
        ),
    ),
    ("the objects of its callers", re.compile(r"\bgc\.get_(?:objects|referrers|referents)\b|\bfrom\s+gc\s+import\b")),
    ("every class that is loaded", re.compile(r"\b(?:object|type|__base__|__(?:bases|mro)__\[-?\d+\])\.__subclasses__\b")),
    ("its own execution", re.compile(r"\bsys\.(?:settrace|setprofile|gettrace|monitoring)\b")),
    ("what these modules hide", re.compile(r"\bgetattr\(\s*(?:sys|inspect|gc|builtins)\b")),
)  # fmt: skip
"""What is looked at, and the lines that do."""
_COMMENT = re.compile(r"""(?:[^#"']|"[^"]*"|'[^']*')*?(?=#|$)""")


def runner_violations(diff: Diff, step: Step, ground: Ground) -> Iterator[Violation]:
    """No added line of a file that is no test looks at the runner, at modules or at frames, unless the file did before."""
    if step.may_watch:
        return
    for file in diff.files:
        if matching(file.path, step.tests.files) is None:
            yield from _watching(file, ground.sources.get(file.old_path, ""))


def _watching(file: FileDiff, before: str) -> Iterator[Violation]:
    added = [line.text for hunk in file.hunks for line in hunk.lines if line.sign == "+"]
    for what, found in looks_at(added, before):
        yield Violation(
            "runner",
            f"{file.path!r}: {found[:80]!r} looks at {what}; a repair may not tell whether a test runs it",
        )


def looks_at(added: Sequence[str], before: str) -> Iterator[tuple[str, str]]:
    """What of whoever runs it new lines of code look at that the text before did not, each with the first such line."""
    code, there = [_code(line) for line in added], [_code(line) for line in before.splitlines()]
    for what, form in _WATCHING:
        found = next((text.strip() for text in code if form.search(text)), None)
        if found is not None and not any(form.search(line) for line in there):
            yield what, found


def _code(line: str) -> str:
    """A line without its comment."""
    found = _COMMENT.match(line)
    return found[0] if found else line
