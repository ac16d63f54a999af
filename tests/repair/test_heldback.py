import pytest

from cogworks.codebase.diffmodel import Diff, undone
from cogworks.codebase.diffplacing import between
from cogworks.domain_services.exploring import Against, Beside, BesideCall, Mutant
from cogworks.repair.heldback import Among, held_back_warnings, narrow_tests, touched_by, without
from cogworks.repair.violations import TestRules

TEST = "test_a.py::test_a"


def calls(outcomes: dict[str, str], *, own: str = "1", test: str = TEST) -> tuple[BesideCall, ...]:
    """What comes of each input of one function; `!` before it: it raises."""
    return tuple(
        BesideCall(
            test=test,
            artifact="a.py",
            symbol="f",
            own=own,
            given=given,
            outcome=outcome,
            is_value=outcome[0] != "!",
        )
        for given, outcome in outcomes.items()
    )


OLD = {"1": "2", "2": "3", "3": "4", "4": "5", "5": "6", "6": "7"}


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"1": "7"}, {TEST: 5}),
        ({"1": "7", "4": "8"}, {}),
        ({}, {}),
        ({"2": "7"}, {}),
        ({"1": "!ValueError"}, {TEST: 5}),
    ],
    ids=["its own input alone", "another one too", "nothing", "only another one", "an exception"],
)
def test_a_change_that_treats_only_the_input_of_a_test_otherwise_is_found(
    changed: dict[str, str], found: dict[str, int]
) -> None:
    assert narrow_tests(Beside(against=calls(OLD), calls=calls(OLD | changed))) == found


def test_a_test_that_is_special_cased_is_found_beside_one_that_is_repaired() -> None:
    other = "test_a.py::test_b"
    tried = Beside(
        against=(*calls(OLD), *calls(OLD, test=other)),
        calls=(*calls(OLD | {"1": "7", "2": "8"}), *calls(OLD | {"1": "7"}, test=other)),
    )

    assert narrow_tests(tried) == {other: 5}


def test_few_inputs_say_nothing_and_those_that_raise_on_both_sides_are_none() -> None:
    raising = {given: "!ValueError" for given in OLD if given != "1"}
    few = {given: OLD[given] for given in ("1", "2", "3")}

    for old in (OLD | raising, few):
        assert narrow_tests(Beside(against=calls(old), calls=calls(old | {"1": "7"}))) == {}


def test_what_only_one_side_was_asked_says_nothing() -> None:
    assert narrow_tests(Beside(against=calls({"1": "2"}), calls=calls(OLD | {"1": "7"}))) == {}


def test_the_warnings_name_the_test_and_the_lines_that_nothing_guards() -> None:
    mutants = (
        Mutant(artifact="a.py", line=3, change="`a - b` for `a + b`", is_noticed=True),
        Mutant(artifact="a.py", line=3, change="`2` for `1`", is_noticed=False),
        Mutant(artifact="a.py", line=4, change="without `b = 1`", is_noticed=False),
    )

    found = held_back_warnings(
        Beside(against=calls(OLD), calls=calls(OLD | {"1": "7"}), mutants=mutants), Among(7)
    )

    narrow = (
        f"The change treats the inputs of {TEST} otherwise and none of 5 inputs beside them: it may know these inputs instead of "
        "repairing the cause."
    )
    assert found == (
        narrow,
        "No test that reaches the change notices a mistake at a.py:4 (without `b = 1`): nothing guards these lines.",
    )
    assert held_back_warnings(Beside(calls=calls(OLD)), Among(7)) == ()


def test_where_tests_were_left_out_nobody_says_that_none_guards_the_line() -> None:
    mutants = (Mutant(artifact="a.py", line=4, change="without `b = 1`", is_noticed=False),)

    assert held_back_warnings(Beside(mutants=mutants), Among(100, left_out=7)) == (
        "None of the 100 tests that were tried notices a mistake at a.py:4 (without `b = 1`); 7 others were not tried.",
    )


BEFORE = "a\nb\nc\nd\ne\n"


@pytest.mark.parametrize(
    ("after", "old", "new"),
    [
        ("a\nb\nC\nd\ne\n", ((3, 3),), ((3, 3),)),
        ("x\na\nb\nC\nC\nd\ne\n", ((1, 1), (3, 3)), ((1, 1), (4, 5))),
        ("a\nb\nc\nx\nd\ne\n", ((3, 4),), ((4, 4),)),
        ("a\nb\nd\ne\n", ((3, 3),), ((2, 3),)),
    ],
    ids=["changed", "twice", "added", "removed"],
)
def test_a_change_stands_on_both_sides(
    after: str, old: tuple[tuple[int, int], ...], new: tuple[tuple[int, int], ...]
) -> None:
    diff = Diff(files=(between("a.py", BEFORE, after), between("test_a.py", BEFORE, after)))

    touched = touched_by(diff, TestRules())

    added = tuple(each for each in new if BEFORE.count("\n") <= after.count("\n"))
    assert touched == ({"a.py": old}, {"a.py": new}, {"a.py": added} if added else {})


@pytest.mark.parametrize("after", ["a\nb\nC\nd\ne\n", "x\ny\na\nb\nc\nd\n", "b\nc\nd\ne\nf", ""])
def test_a_diff_is_undone_from_what_it_leaves(after: str) -> None:
    diff = Diff(files=(between("a.py", BEFORE, after),))

    assert undone(diff, {"a.py": after}.get) == {"a.py": BEFORE}


def test_the_code_without_a_change_has_the_bytes_of_a_text_that_is_no_utf_8() -> None:
    touched = touched_by(Diff(files=(between("a.py", "old \udce9\n", "new\n"),)), TestRules())

    against = without({"a.py": "old \udce9\n", "new.py": None}, [TEST], touched)

    assert against == Against.model_validate_json(against.model_dump_json())
    assert against.files == {"a.py": b"old \xe9\n", "new.py": None}
    assert (against.tests, against.lines) == ((TEST,), {"a.py": ((1, 1),)})
