"""Of a long file what was changed is shown, whatever language it has."""

from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.sight.excerpts import around_changes
from cogworks.sight.stretches import tokens_of
from tests.exhaustive import examples
from tests.sight.trees import index_of

TESTS = "const add = require('..');\n" + "".join(
    f"\ntest('adds {number}', () => {{\n  expect(add({number}, 1)).toBe({number + 1});\n}});\n"
    for number in range(500)
)
PLAIN = "".join(f"row {number}\n" for number in range(5_000))


def test_a_file_that_fits_is_not_cut() -> None:
    assert around_changes(index_of({"a.py": "A = 1\n"}), "a.py", {1}, room_tokens=100) is None


def test_a_file_in_which_nothing_is_new_is_not_cut() -> None:
    assert around_changes(index_of({"a.txt": PLAIN}), "a.txt", (), room_tokens=100) is None


def test_the_added_lines_of_a_long_file_are_shown_in_any_language() -> None:
    line = TESTS.splitlines().index("  expect(add(321, 1)).toBe(322);") + 1
    for path, text, number in (("test/add.test.js", TESTS, line), ("data.txt", PLAIN, 2_500)):
        found = around_changes(index_of({path: text}), path, {number}, room_tokens=1_500)

        assert found is not None
        assert f"{number:>5}| {text.splitlines()[number - 1]}" in found


def test_each_new_row_of_a_long_table_is_shown() -> None:
    cases = [
        f'    ("https://example.com/{number}?a=b", "https://example.com/{number}?a=b"),'
        for number in range(600)
    ]
    text = "\n".join(
        ["import pytest", "", "CASES = (", *cases, ")", "", "def test_it(case):", "    assert case", ""]
    )
    added = set(range(50, 560, 60)) | {606}

    found = around_changes(
        index_of({"tests/test_url.py": text}), "tests/test_url.py", added, room_tokens=5_000, is_test=True
    )

    assert found is not None
    assert [number for number in added if f"{number:>5}| " not in found] == []


@settings(deadline=None, max_examples=examples(40))
@given(st.sets(st.integers(1, 2_000), min_size=1, max_size=30), st.integers(400, 4_000))
def test_what_is_shown_never_has_more_than_its_room(added: set[int], room: int) -> None:
    found = around_changes(index_of({"test/add.test.js": TESTS}), "test/add.test.js", added, room_tokens=room)

    assert found is None or tokens_of(found) <= room
