"""Which files of a repository are lists of requirements, and what each is for."""

import posixpath
import re
from collections.abc import Iterable

_FOLDERS = "requirements|requirement|reqs|requires|deps|dependencies"
_STEM = r"(?:requirements|requirement|reqs|requires)"
_FILE = re.compile(
    rf"(?:{_STEM}(?:[-_.](?P<after>[\w-]+))?|(?P<before>[\w-]+)[-_.]{_STEM}|(?:{_FOLDERS})/(?:{_STEM}[-_.])?(?P<below>[\w-]+?)(?:[-_.]{_STEM})?"
    rf"|(?P<tests>tests?)/(?:{_STEM}(?:[-_.][\w-]+)?|requirements/[\w-]+))\.(?:txt|in|pip)"
)
_READ = re.compile(
    rf"(?:(?:{_FOLDERS}|tests?|\.github|ci|etc|tools)/)?(?:requirements/)?[\w.-]+\.(?:txt|in|pip)"
)
BASE = ("", "base", "main", "requirements", "common", "prod", "production", "runtime", "install", "core")
EXACT = ("test", "tests", "testing")
DEVELOPMENT = ("dev", "develop", "development", "devel", "dev-dependencies")
_FOR_TESTS = frozenset({"test", "tests", "testing", "unittest", "unittests", "pytest", "unit"})
_NOT = frozenset(
    [
        "integration",
        "e2e",
        "docs",
        "doc",
        "typing",
        "mypy",
        "lint",
        "perf",
        "bench",
        "benchmark",
        "benchmarks",
        "gpu",
        "slow",
        "extra",
        "min",
        "minimal",
        "oldest",
        "release",
        "style",
        "types",
        "system",
        "live",
    ]
)


def is_list(path: str) -> bool:
    """Whether a file may be a list of requirements, or what one refers to."""
    return _READ.fullmatch(path) is not None


def purposes(paths: Iterable[str]) -> dict[str, str]:
    """The requirements files, each with what it is for; empty: for the code. Of `a.in` and `a.txt` only the second counts."""
    known = set(paths)
    found = {}
    for path in known:
        stem, ending = posixpath.splitext(path)
        if ending == ".in" and f"{stem}.txt" in known:
            continue
        if (match := _FILE.fullmatch(path)) is not None:
            found[path] = next(filter(None, match.groupdict().values()), "").lower().replace("_", "-")
    return found


def for_tests(names: Iterable[str]) -> list[str]:
    """Of some extras, groups or files, those that are named for tests: `test` and its like, else `unit-tests` and its like."""
    known = list(names)
    exact = [name for name in known if name in EXACT]
    return exact or [
        name for name in known if (words := set(re.split(r"[-_.]", name))) & _FOR_TESTS and not words & _NOT
    ]


def for_development(names: Iterable[str]) -> list[str]:
    """Those that hold what tests need as well, where nothing is there for tests alone."""
    return [name for name in names if name in DEVELOPMENT]
