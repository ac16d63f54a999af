"""A test whose expectation changes may get another name where it stands; one that is only gone is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.codegen.restating import MAX_LINES, Rewritten, stated_otherwise

JS = "test/range.test.js"
PY = "tests/test_range.py"
BEFORE = """describe('range', () => {
  it('counts up', () => {
    assert.deepEqual(range(0, 2, 1), [0, 1])
  })

  it('should be empty when step==0', () => {
    assert.deepEqual(range(0, 10, 0), [])
  })

  it('counts down', () => {
    assert.deepEqual(range(2, 0, -1), [2, 1])
  })
})
"""
EMPTY = f"{JS}::range > should be empty when step==0"
THROWS = f"{JS}::range > should throw when step==0"
STATED = BEFORE.replace("should be empty when", "should throw when").replace(
    "assert.deepEqual(range(0, 10, 0), [])", "assert.throws(() => range(0, 10, 0))"
)


def stated(before: str, after: str, gone: set[str], new: set[str], *, path: str = JS) -> frozenset[str]:
    others = {f"{path}::counts up", f"{path}::counts down"}
    return stated_otherwise({*others, *gone}, {*others, *new}, {path: Rewritten(before, after)}, [path])


def test_a_test_with_another_name_in_its_place_is_the_same_one_stated_in_another_way() -> None:
    assert stated(BEFORE, STATED, {EMPTY}, {THROWS}) == {EMPTY}


def test_a_test_that_is_only_gone_is_lost() -> None:
    start, end = BEFORE.index("  it('should"), BEFORE.index("  it('counts down")

    assert stated(BEFORE, BEFORE[:start] + BEFORE[end:], {EMPTY}, set()) == frozenset()


def test_a_new_test_elsewhere_does_not_stand_for_one_that_is_gone() -> None:
    start, end = BEFORE.index("  it('should"), BEFORE.index("  it('counts down")
    new = "  it('should throw when step==0', () => {\n    assert.throws(() => range(0, 10, 0))\n  })\n"
    after = (BEFORE[:start] + BEFORE[end:]).replace("\n})\n", f"\n{new}}})\n")

    assert stated(BEFORE, after, {EMPTY}, {THROWS}) == frozenset()


def test_a_test_of_which_only_the_name_is_not_run_any_more_is_lost() -> None:
    assert stated(BEFORE, STATED.replace("it('should", "it.skip('should"), {EMPTY}, set()) == frozenset()


def test_two_tests_need_two_in_their_place() -> None:
    twice = "def test_a():\n    assert f(1) == 1\ndef test_b():\n    assert f(2) == 2\n"
    one = "def test_c():\n    assert f(1) == 3\n    assert f(2) == 4\n"
    two = "def test_c():\n    assert f(1) == 3\ndef test_d():\n    assert f(2) == 4\n"
    gone, new = {f"{PY}::test_a", f"{PY}::test_b"}, {f"{PY}::test_c", f"{PY}::test_d"}

    assert stated(twice, one, gone, {f"{PY}::test_c"}, path=PY) == frozenset()
    assert stated(twice, two, gone, new, path=PY) == gone


def test_one_new_test_does_not_stand_in_two_places() -> None:
    before = "def test_a():\n    f(1)\n\n\ndef test_b():\n    f(2)\n"
    after = "def test_c():\n    f(1)\n\n\n# See test_c.\n    f(2)\n"

    assert stated(before, after, {f"{PY}::test_a", f"{PY}::test_b"}, {f"{PY}::test_c"}, path=PY) == {
        f"{PY}::test_a"
    }


def test_a_parametrized_test_with_another_name_keeps_at_least_as_many_cases() -> None:
    before = "@cases([1, 2])\ndef test_old(n):\n    assert f(n)\n"
    gone = {f"{PY}::test_old[1]", f"{PY}::test_old[2]"}

    def after(*cases: int) -> frozenset[str]:
        text = before.replace("test_old", "test_new").replace("[1, 2]", str([*cases]))
        return stated(before, text, gone, {f"{PY}::test_new[{case}]" for case in cases}, path=PY)

    assert after(1) == frozenset()
    assert after(1, 2) == after(1, 2, 3) == gone


def test_a_name_within_a_longer_one_is_another_name() -> None:
    before, after = "def test_sum_of_rows(): ...\n", "def test_total_of_rows(): ...\n"

    assert stated(before, after, {f"{PY}::test_sum"}, {f"{PY}::test_total"}, path=PY) == frozenset()


def test_a_file_of_which_more_gets_other_names_than_keeps_its_own_is_overwritten() -> None:
    before = "".join(f"it('is {number}')\n" for number in range(4))
    after = before.replace("is 1", "was 1").replace("is 2", "was 2").replace("is 3", "was 3")

    def replaced(*numbers: int) -> frozenset[str]:
        old = {f"{JS}::is {number}" for number in range(4)}
        new = {f"{JS}::was {number}" if number in numbers else f"{JS}::is {number}" for number in range(4)}
        return stated_otherwise(old, new, {JS: Rewritten(before, after)}, [JS])

    assert replaced(1, 2) == {f"{JS}::is 1", f"{JS}::is 2"}
    assert replaced(1, 2, 3) == frozenset()


def test_another_test_in_the_place_of_one_is_no_other_way_to_state_it() -> None:
    other = BEFORE.replace("should be empty when step==0", "formats dates").replace(
        "assert.deepEqual(range(0, 10, 0), [])", "expect(format(Date.now())).toContain(':')"
    )

    assert stated(BEFORE, other, {EMPTY}, {f"{JS}::range > formats dates"}) == frozenset()


def test_files_that_nobody_may_state_anew_lose_nothing_by_it() -> None:
    assert stated_otherwise({EMPTY}, {THROWS}, {JS: Rewritten(BEFORE, STATED)}, [PY]) == frozenset()
    assert stated_otherwise({EMPTY}, {THROWS}, {}, [JS]) == frozenset()


def test_a_file_that_is_rewritten_from_end_to_end_is_not_compared() -> None:
    before = "".join(f"test('old {number}')\n" for number in range(MAX_LINES + 1))
    ids = {f"{JS}::old {number}" for number in range(MAX_LINES + 1)}

    assert (
        stated(before, before.replace("old", "new"), ids, {each.replace("old", "new") for each in ids})
        == frozenset()
    )


@pytest.mark.parametrize("mark", ["\r\n", "\n"])
def test_ends_of_lines_do_not_matter(mark: str) -> None:
    assert stated(BEFORE.replace("\n", mark), STATED.replace("\n", mark), {EMPTY}, {THROWS}) == {EMPTY}


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=8))
def test_never_more_tests_are_stated_anew_than_stand_in_their_place(pairs: list[tuple[str, str]]) -> None:
    before = "".join(f"def test_{old}():\n    assert {at}\n\n" for at, (old, _) in enumerate(pairs))
    after = "".join(f"def test_{new}():\n    assert {at}\n\n" for at, (_, new) in enumerate(pairs))
    kept = {f"{PY}::test_kept_{number}" for number in range(len(pairs))}
    old, new = {f"{PY}::test_{each}" for each, _ in pairs}, {f"{PY}::test_{each}" for _, each in pairs}
    other = stated_otherwise(old | kept, new | kept, {PY: Rewritten(before, after)}, [PY])

    assert other <= old - new
    assert len(other) <= max(0, len(new - old))
