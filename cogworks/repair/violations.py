"""What one step of a repair may change, what it is judged against, and what is found wrong."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from pydantic import Field

from cogworks.domain_services.exploring import Signatures
from cogworks.domain_services.messages import Diagnostic
from cogworks.settings.sections import ASKED_ABOUT
from cogworks.vocabulary import Value

Code = Literal[
    "shape",
    "path",
    "kind",
    "protected",
    "files",
    "allowlist",
    "loc",
    "range",
    "base",
    "api",
    "minimal",
    "tests",
    "syntax",
    "secrets",
    "repeat",
    "size",
    "runner",
]
"""V1 to V17, in this order."""


class Violation(NamedTuple):
    """One rule a diff breaks."""

    code: Code
    text: str
    """Where and what, in words the next proposal can act on."""


class Span(NamedTuple):
    """A stretch of a file that a step is about."""

    path: str
    first: int
    """From 1."""
    last: int


class TestRules(Value):
    """How tests and their configuration are distinguished from other files, and what weakens a test."""

    __test__ = False
    files: tuple[str, ...] = (
        *("tests/**", "test/**", "**/tests/**", "**/test/**", "**/test_*.py", "**/*_test.py"),
        *("**/*_test.go", "**/*.test.ts", "**/*.test.js", "**/*.spec.ts", "**/*.spec.js"),
    )
    configuration: tuple[str, ...] = (
        "conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "tox.ini",
        "setup.cfg",
        ".coveragerc",
    )
    """Names of files that decide which tests run and how."""
    sections: Mapping[str, tuple[str, ...]] = {"pyproject.toml": ("tool.pytest", "tool.coverage", "tool.tox")}
    """File name -> the tables in it that do."""
    weakening: tuple[str, ...] = (
        r"@(?:pytest\.mark|unittest|mark)\.(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure)\b",
        r"\bpytest\.(?:skip|xfail|importorskip)\s*\(",
        r"\bself\.skipTest\s*\(",
        r"\b(?:raise\s+)?(?:unittest\.)?SkipTest\b",
        r"^\s*assert\s+(?:True|1|not\s+False)\s*(?:,.*)?(?:#.*)?$",
        r"^\s*(?:it|test|describe)\.(?:skip|only|todo)\b",
        r"^\s*#\[ignore\b",
        r"\bt\.Skip(?:f|Now)?\(",
    )
    """Regular expressions of lines that no change may add."""


class Step(Value):
    """What one step may change. Paths are repository-relative POSIX."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    files: tuple[str, ...]
    """The only files it may touch."""
    create: tuple[str, ...] = ()
    """Those of them it may create."""
    delete: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    """Where in these files; a file without a span may be changed anywhere."""
    padding_lines: int = 60
    max_files: int = 2
    max_changed_lines: int = 12
    counts_new_files: bool = True
    """Whether files that are created count for these two; what is whole and new is no rewrite of anything."""
    max_diff_bytes: int = 200_000
    allow_api: tuple[str, ...] = ()
    """Qualified names whose signature may change."""
    handed_over: tuple[str, ...] = ()
    """Test files somebody else wrote for this step."""
    own_tests: tuple[str, ...] = ()
    """Test files that earlier steps of the same work brought in; it may go on changing them."""
    protected: tuple[str, ...] = ()
    """Patterns beyond those that are always protected."""
    asked: tuple[str, ...] = ASKED_ABOUT
    """Patterns of files that a person decides on: they say what is installed or how tests run."""
    tests: TestRules = TestRules()
    may_watch: bool = False
    """Whether code may look at the test runner and at frames: a feature may be about them, a repair is not."""


class Ground(Value):
    """The repository at the checkpoint, as far as a diff is about it."""

    sources: Mapping[str, str]
    """The text of every file the diff names that is there; what is not UTF-8 has surrogate escapes."""
    existing: frozenset[str] = frozenset()
    """Every tracked file."""
    links: frozenset[str] = frozenset()
    """Those of the diff's paths that are, or lie behind, a symbolic link."""
    unwritable: Mapping[str, str] = {}
    """Those of the diff's paths that no change may hold, each with the reason in words."""
    tried: frozenset[str] = frozenset()
    """Fingerprints of the diffs that were tried on this tree before."""


class Reading(Value):
    """What the language's service says of the touched files before and after."""

    before: Signatures = Signatures(signatures=())
    after: Signatures = Signatures(signatures=())
    syntax: tuple[Diagnostic, ...] = ()
    """Of the files afterwards."""
    lint: tuple[Diagnostic, ...] = ()
    """Whatever else the static checks find in the files afterwards and do not find now; it stops nothing here."""
