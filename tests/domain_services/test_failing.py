"""What a model is shown of failing tests: ids, assertions and the repository's own frames, alike ones once, within limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.failing import (
    MAX_IDS,
    MAX_PRINTED_CHARS,
    MAX_TEXT_CHARS,
    MAX_TOTAL_CHARS,
    MOST_CASES,
    cause_of,
    excerpt,
    failing,
    failures_of,
    in_figures,
    listed,
    unloaded,
)
from cogworks.domain_services.messages import TestCase, TestReport

DEEP = """tests/test_a.py:3: in test_a
    assert load("x") == 1
src/own/loading.py:7: in load
    return parse(text)
<environment>/lib/python3.11/site-packages/yaml/parsing.py:90: in parse
    raise ParserError(text)
../venv/lib/python3.11/site-packages/yaml/scanner.py:12: in scan
    scan(scan)
E   yaml.parser.ParserError: no"""
NODE = """AssertionError: 1 == 2
    at add (src/add.js:3:4)
    at Object.<anonymous> (node_modules/jest-circus/build/run.js:1:1)
    at process (node:internal/process/task_queues:95:5)"""


def case(name: str, message: str = "E   no", outcome: str = "failed") -> TestCase:
    return TestCase.model_validate({"id": name, "outcome": outcome, "message": message})


def test_frames_of_the_repository_stay_and_those_of_others_are_counted() -> None:
    shown = excerpt(DEEP)

    assert "src/own/loading.py:7: in load\n    return parse(text)" in shown
    assert "site-packages" not in shown
    assert "raise ParserError" not in shown
    assert shown.endswith(
        "[2 frame(s) of the runner or of installed packages]\nE   yaml.parser.ParserError: no"
    )


def test_frames_of_a_runner_that_writes_them_on_one_line_are_counted_too() -> None:
    assert excerpt(NODE).splitlines() == [
        "AssertionError: 1 == 2",
        "    at add (src/add.js:3:4)",
        "[2 frame(s) of the runner or of installed packages]",
    ]


def test_frames_of_the_language_itself_count_among_those_of_the_runner() -> None:
    said = (
        "AssertionError: 1 == 2\n    at src/add.spec.ts:3:4\n    at run (node_modules/vitest/a.js:1:1)\n"
        "    at new Promise (<anonymous>)\n    at Array.map (<anonymous>)\n    at run (node_modules/vitest/a.js:2:1)\n"
        "    at src/other.ts:9:1"
    )

    assert excerpt(said).splitlines() == [
        "AssertionError: 1 == 2",
        "    at src/add.spec.ts:3:4",
        "[4 frame(s) of the runner or of installed packages]",
        "    at src/other.ts:9:1",
    ]


def test_the_cause_is_what_was_raised_last() -> None:
    chained = "E   KeyError: 'a'\n\nDuring handling of the above exception:\na.py:1: in f\nE   ValueError: b\nE   more"

    assert cause_of(DEEP) == "yaml.parser.ParserError: no"
    assert cause_of(chained) == "ValueError: b"
    assert cause_of(NODE) != ""
    assert cause_of("") == ""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            ('Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: "a"\nReceived: "b"\n'
            "    at Object.toBe (test/a.test.js:65:67)\n    at new Promise (<anonymous>)"),
            'Error: expect(received).toBe(expected) // Object.is equality Expected: "a" Received: "b"',
        ),
        (
            "expected: 2\n     got: 1\n\n(compared using ==)\n\n# ./spec/a_spec.rb:3:in `block'",
            "expected: 2 got: 1 (compared using ==)",
        ),
        ("Failed asserting that 2 is identical to 3.\n\n/work/tests/ATest.php:12", "Failed asserting that 2 is identical to 3."),
        (
            ("thread 'tests::adds' panicked at src/lib.rs:10:5:\nassertion `left == right` failed\n  left: 1\n right: 2\n"
            "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"),
            "assertion `left == right` failed left: 1 right: 2",
        ),
        ("org.opentest4j.AssertionFailedError: expected: <1>\n\tat org.junit.A\n\tat a.B(C.java:1)", "org.opentest4j.AssertionFailedError: expected: <1>"),
        ('Traceback (most recent call last):\n  File "t.py", line 3, in t\nAssertionError: 1 != 2', "AssertionError: 1 != 2"),
        (NODE, "AssertionError: 1 == 2"),
        ("    at add (src/add.js:3:4)", "at add (src/add.js:3:4)"),
    ],
    ids=["jest", "rspec", "phpunit", "cargo", "junit", "unittest", "node", "a frame alone"],
)  # fmt: skip
def test_the_cause_is_the_message_wherever_a_runner_writes_it(text: str, cause: str) -> None:
    assert cause_of(text) == cause


def test_failures_with_another_message_are_not_alike_though_their_frames_are() -> None:
    frames = "\n    at Object.toThrow (t.test.js:6:7)\n    at new Promise (<anonymous>)"

    shown = failing(
        [case("t.test.js::a", f"Error: expect 1{frames}"), case("t.test.js::b", f"Error: no throw{frames}")]
    )

    assert [text.partition(":\n")[0] for text in shown] == ["t.test.js::a failed", "t.test.js::b failed"]


def test_failures_whose_values_differ_line_by_line_are_not_alike() -> None:
    head = "AssertionError: Expected values to be strictly deep-equal:\n+ actual - expected\n\n  {"
    values = [f"{head}\n+   name: '{name}'\n-   name: 'c'\n  }}" for name in ("a", "b")]

    shown = failing([case(f"t.js::{number}", text) for number, text in enumerate((*values, values[0]))])

    assert len(shown) == 2
    assert shown[0].startswith("2 tests of t.js fail alike: 0, 2. The first:\n")
    assert "+   name: 'b'" in shown[1]


def test_an_id_with_a_whole_document_in_it_is_cut_where_ids_are_listed() -> None:
    long = f"t.py::test[{'x' * 10_000}]"

    shown = listed([long, "t.py::test[1]"])

    assert shown == f"{long[:300]}[…], t.py::test[1]"


def test_the_file_of_tests_that_fail_alike_is_named_once() -> None:
    alike = [case(f"a/t.py::T::{number}", "E   ImportError: no x") for number in range(3)]

    [shown] = failing(alike)
    [mixed] = failing([*alike, case("b.py::x", "E   ImportError: no x")])

    assert shown.startswith("3 tests of a/t.py fail alike: T::0, T::1, T::2. The first:")
    assert mixed.startswith(
        "4 tests fail alike: a/t.py::T::0, a/t.py::T::1, a/t.py::T::2, b.py::x. The first:"
    )


def test_tests_that_fail_alike_are_shown_once_with_all_their_ids() -> None:
    alike = [case(f"t.py::{number}", f"t.py:{number}: in f\nE   ImportError: no x") for number in range(3)]

    first, second = failing([*alike, case("t.py::other", "E   ValueError: y")])

    assert first == ("3 tests of t.py fail alike: 0, 1, 2. The first:\nt.py:0: in f\nE   ImportError: no x")
    assert second == "t.py::other failed:\nE   ValueError: y"


def a_case(values: str, said: str, line: int = 7) -> TestCase:
    return case(
        f"t.py::test_add[{values}]", f"t.py:{line}: in test_add\n    assert add(a, b) == c\nE   {said}"
    )


def test_cases_of_one_test_that_differ_only_in_values_are_shown_in_part_with_the_ids_of_the_others() -> None:
    cases = [a_case(f"{n}-x{n}", f"AssertionError: assert {{'x{n}': {n}}} == {{}}") for n in range(23)]

    told = failing([*cases[:9], case("t.py::other", "E   ValueError: y"), *cases[9:]])

    assert len(told) == MOST_CASES + 1
    assert told[0] == (
        "23 cases of t.py::test_add fail in the same place and differ only in values; 3 are shown. The others: "
        f"{', '.join(f'[{n}-x{n}]' for n in range(3, 23))}.\nt.py::test_add[0-x0] failed:\n"
        "t.py:7: in test_add\n    assert add(a, b) == c\nE   AssertionError: assert {'x0': 0} == {}"
    )
    assert told[2].startswith("t.py::test_add[2-x2] failed:\n")
    assert told[3] == "t.py::other failed:\nE   ValueError: y"


def test_the_ids_of_the_others_have_a_limit() -> None:
    told = failing([a_case(str(n) * 100, f"assert {n} == {n + 1}") for n in range(MAX_IDS + 10)])

    assert len(told[0]) < 3_000
    assert " and 7 more.\n" in told[0]


@pytest.mark.parametrize(
    "odd",
    [
        a_case("9", "assert 91 == 92", line=8),
        a_case("9", "TypeError: unsupported operand"),
        case("t.py::test_sub[9]", "t.py:7: in test_add\nE   assert 91 == 92"),
    ],
    ids=["another place", "another exception", "another test"],
)
def test_a_case_that_fails_for_something_else_is_always_shown(odd: TestCase) -> None:
    told = failing([*(a_case(str(n), f"assert {n} == {n + 1}") for n in range(6)), odd])

    assert len(told) == MOST_CASES + 1
    assert told[-1].startswith(f"{odd.id} failed:")


@pytest.mark.parametrize(
    ("said", "count"),
    [("ValueError: no {0} in 'x'", MOST_CASES), ("ValueError: {1}", 4)],
    ids=["a parameter", "other words"],
)
def test_what_an_exception_says_besides_values_tells_cases_apart(said: str, count: int) -> None:
    rows = [("int", "too small"), ("str", "too long"), ("list", "too deep"), ("dict", "too wide")]

    told = failing([a_case(kind, said.format(kind, why)) for kind, why in rows])

    assert len(told) == count


def test_the_rows_of_a_table_are_cases_too() -> None:
    cases = [case(f"add_test.go::TestAdd/row_{n}", f"add_test.go:9: got {n}, want {n + 1}") for n in range(8)]

    assert len(failing(cases)) == MOST_CASES


def test_addresses_and_durations_make_no_cause_of_their_own() -> None:
    told = failing([case(f"t.py::{n}", f"E   <A at 0x7f33aabbcc{n}0> took {n}.5s") for n in (1, 2)])

    assert len(told) == 1
    assert "E   <A at 0x> took 0s" in told[0]


def test_what_was_cut_is_said() -> None:
    many = [case(f"t.py::{number}") for number in range(MAX_IDS + 7)]
    long = "x" * MAX_TEXT_CHARS + "END"
    printed = "----- Captured stdout call -----\n" + "y" * (MAX_PRINTED_CHARS + 5) + "NEAR"

    assert f", {MAX_IDS - 1} and 7 more" in failing(many)[0]
    assert excerpt(long).startswith("[… 3 characters]")
    shown = excerpt(f"E   no\n{printed}")
    assert shown.startswith("E   no\n----- Captured stdout call -----\n[… 9 characters]")
    assert shown.endswith("NEAR")


def test_all_failures_together_have_a_limit_beyond_which_only_their_causes_are_said() -> None:
    big = [case(f"t.py::{number}", "x" * MAX_TEXT_CHARS + f"\nE   number {number}") for number in range(9)]

    told = failing(big)

    assert sum(map(len, told)) < MAX_TOTAL_CHARS + 2_000
    assert told[-1].startswith("t.py::8 failed:\nnumber 8\n[its frames are left out")


def test_of_many_causes_the_later_ones_are_shown_in_brief() -> None:
    values = "".join(f"E     {n}: 'n{n}',\n" for n in range(20))
    bad = [
        case(
            f"t.py::test_{name}",
            f"t.py:{at}: in test_{name}\n    assert {name}() == 1\nE   assert {at} == 1\n{values}",
        )
        for at, name in enumerate("abcdef")
    ]

    told = failing(bad)

    assert all("19: 'n19'" in each for each in told[:4])
    assert told[5] == (
        "t.py::test_f failed:\nt.py:5: in test_f\n    assert f() == 1\nE   assert 5 == 1\nE     0: 'n0',\nE     1: 'n1',\n"
        "E     2: 'n2',\n[17 more lines]"
    )


def test_what_says_nothing_of_a_failure_is_left_out() -> None:
    text = "t.py:3: in test_a\n    assert a == b\nE   assert 1 == 2\nE     \nE     Use -v to get more diff\nE   +  where"

    assert excerpt(text) == "t.py:3: in test_a\n    assert a == b\nE   assert 1 == 2\nE   +  where"


def test_an_empty_line_of_a_text_that_is_compared_stays() -> None:
    text = "t.py:3: in test_a\n    assert a == b\nE   AssertionError: assert 'a' == 'b'\nE     \nE       one\nE     \nE     - b\nE     + a"

    assert excerpt(text).endswith("assert 'a' == 'b'\nE       one\nE     \nE     - b\nE     + a")


def test_what_isolation_refused_is_said_where_a_failing_test_met_it() -> None:
    blocked = ("t.py::a: tried to connect to example.org", "t.py::fine: tried to write /etc/x")

    told = failing([case("t.py::a", "E   a"), case("t.py::b", "E   b")], blocked)

    assert told[0].endswith("The isolation around the tests refused this: tried to connect to example.org")
    assert "isolation" not in told[1]
    assert "/etc/x" not in "".join(told)


def test_only_the_failures_in_the_asked_files_are_shown() -> None:
    report = TestReport(
        cases=(case("t.py::a"), case("u.py::b", "E   other"), case("t.py::c", "", "passed")),
        collection_errors=("t.py: E   ImportError: no x", "u.py: E   SyntaxError"),
    )

    assert failures_of(report, ["t.py"]) == (
        "The tests could not be loaded:\nt.py: E   ImportError: no x",
        "t.py::a failed:\nE   no",
    )


def test_files_that_cannot_be_loaded_alike_are_shown_once() -> None:
    (told,) = unloaded([f"{name}.py: {name}.py:1: in <module>\nE   ImportError: no x" for name in "ab"])

    assert told.startswith("2 files or folders of tests could not be loaded alike: a.py, b.py. The first:\n")


def test_figures_begin_with_the_most_frequent_cause() -> None:
    found = [("z", "E   ValueError: odd"), *((str(number), "E   ImportError: no x") for number in range(57))]

    assert in_figures(found) == "57 × ImportError: no x, 1 × ValueError: odd"


@given(st.text(max_size=2_000))
def test_any_text_is_read_and_stays_within_its_limit(text: str) -> None:
    assert len(excerpt(text)) <= MAX_TEXT_CHARS + MAX_PRINTED_CHARS + 200
    assert "\n" not in cause_of(text)
