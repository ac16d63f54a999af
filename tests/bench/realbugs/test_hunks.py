"""A release's difference is cut into hunks that can be applied one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.benchmarks.realbugs.hunks import Sides, applied, diff_between, hunks_between, is_source, is_test

OLD = "a\nb\nc\nd\ne\nf\n"
NEW = "a\nB\nc\nd\nf\ng\n"
texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=12).map("".join)


def test_each_stretch_that_differs_is_a_hunk() -> None:
    found = hunks_between(Sides({"x.py": OLD}, {"x.py": NEW}))

    assert [(hunk.start, hunk.removed, hunk.added) for hunk in found] == [
        (1, ("b\n",), ("B\n",)),
        (4, ("e\n",), ()),
        (6, (), ("g\n",)),
    ]
    assert [hunk.lines for hunk in found] == [(2, 2), (5, 5), (6, 6)]
    assert [hunk.changed_lines for hunk in found] == [2, 1, 1]


def test_some_of_the_hunks_can_be_applied_without_the_others() -> None:
    first, _, last = hunks_between(Sides({"x.py": OLD}, {"x.py": NEW}))

    assert applied({"x.py": OLD, "y.py": ""}, [last, first]) == {"x.py": "a\nB\nc\nd\ne\nf\ng\n", "y.py": ""}


@given(texts, texts)
def test_all_hunks_together_make_the_newer_text(old: str, new: str) -> None:
    found = hunks_between(Sides({"x.py": old}, {"x.py": new}))

    assert applied({"x.py": old}, found) == {"x.py": new}
    assert (diff_between({"x.py": old}, {"x.py": new}) == "") == (old == new)


def test_files_of_one_side_alone_have_no_hunks() -> None:
    assert hunks_between(Sides({"old.py": "a\n"}, {"new.py": "b\n"})) == ()


@pytest.mark.parametrize(
    ("path", "source", "test"),
    [
        ("shop/cart.py", True, False),
        ("src/shop/cart.py", True, False),
        ("shop/tests/tests.py", False, True),
        ("tests/conftest.py", False, True),
        ("conftest.py", False, True),
        ("setup.py", False, False),
        ("docs/conf.py", False, False),
        ("README.md", False, False),
    ],
)
def test_what_belongs_to_the_package_and_what_to_its_tests(path: str, source: bool, test: bool) -> None:
    assert (is_source(path), is_test(path)) == (source, test)
