"""Patterns of paths, as models write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.sight.looks.schema import fitting


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
    assert (path in fitting([path], glob)) is found


@given(st.text(alphabet="{},ab*", max_size=200))
def test_any_pattern_has_an_answer(glob: str) -> None:
    assert fitting(["a/b"], glob) in ({"a/b"}, frozenset())


def test_many_alternatives_are_not_all_made() -> None:
    assert fitting(["z"], "{a,b}" * 60) == frozenset()


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("src/*.py", {"src/a.py"}),
        ("src/**/*.py", {"src/a.py", "src/shop/b.py"}),
        ("*.py", {"src/a.py", "src/shop/b.py", "lib/deep/c.py"}),
        ("src/*", {"src/a.py", "src/shop/b.py"}),
        # No file lies there, so that files further below are meant.
        ("lib/*.py", {"lib/deep/c.py"}),
        ("{src,lib}/*.py", {"src/a.py"}),
        ("src/[ab].py", {"src/a.py"}),
    ],
)
def test_a_star_stays_in_its_folder_unless_nothing_is_there(glob: str, found: set[str]) -> None:
    assert fitting(["src/a.py", "src/shop/b.py", "lib/deep/c.py", "a.txt"], glob) == found


def test_a_pattern_of_any_length_has_an_answer_soon() -> None:
    paths = [f"src/a{number}/b.py" for number in range(2_000)]

    assert fitting(paths, "**/" * 20_000 + "b.py") == frozenset()
    assert len(fitting(paths, "**/" * 300 + "b.py")) == 2_000
