"""Which files and definitions are tests, by the conventions of their language."""

import re
from pathlib import PurePosixPath

from cogworks.grammars.spec import LanguageSpec


def is_test_file(spec: LanguageSpec, path: str) -> bool:
    """Whether a file holds nothing but tests."""
    return any(
        f"/{pattern}" in f"/{path}" if pattern.endswith("/") else PurePosixPath(path).match(pattern)
        for pattern in spec.test_files
    )


def is_test_by_form(spec: LanguageSpec, name: str, kind: str, header: str, above: str) -> bool:
    """Whether a function is a test by what it is called or marked with, wherever it stands."""
    if kind not in ("function", "method"):
        return False
    text = f"{above}\n{header}"
    if any(mark in text for mark in spec.test_marks):
        return True
    return bool(spec.test_names and re.match(spec.test_names, name) and re.search(spec.test_sign, header))
