"""Patterns of paths, as models write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.sight.looks.schema import fits


@pytest.mark.parametrize(
    ("path", "glob", "found"),
    [
        ("src/a.py", "", True),
        ("src/a.py", "*.py", True),
        ("a.py", "**/*.py", True),
        ("src/shop/a.py", "src", True),
        ("src/shop/a.py", "./src/*", True),
        ("srcs/a.py", "src", False),
        ("README.md", "{README.md,tests/*.py}", True),
        ("tests/test_a.py", "{README.md,tests/*.py}", True),
        ("src/a.py", "{README.md,tests/*.py}", False),
        ("src/a.tsx", "src/*.{ts,tsx}", True),
        ("src/a.js", "{src,lib}/*.{ts,tsx}", False),
        ("{a}.py", "*.py", True),
    ],
)
def test_a_path_fits(path: str, glob: str, found: bool) -> None:
    assert fits(path, glob) is found


@given(st.text(alphabet="{},ab*", max_size=200))
def test_any_pattern_has_an_answer(glob: str) -> None:
    assert fits("a/b", glob) in (True, False)


def test_many_alternatives_are_not_all_made() -> None:
    assert fits("z", "{a,b}" * 60) is False
