"""The formats that stand line by line: TAP, go test -json, cargo and libtest, node:test."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.services.command.reports import cargo, go_json, node_test, tap
from cogworks.services.command.reports.cases import Case, Parsed, Problem
from cogworks.services.command.reports.reading import READERS

PROVE = b"""ok 1 - loads
not ok 2 - adds
#   Failed test 'adds'
ok 3 # skip no network
not ok 4 - later # TODO one day
1..4
"""
NODE_TAP = b"""TAP version 13
# Subtest: cart
    # Subtest: adds
    ok 1 - adds
      ---
      duration_ms: 0.4
      type: 'test'
      ...
    # Subtest: fails
    not ok 2 - fails
      ---
      duration_ms: 0.4
      location: '/work/test/cart.test.js:6:3'
      failureType: 'testCodeFailure'
      error: 'no'
      ...
    1..2
not ok 1 - cart
  ---
  type: 'suite'
  ...
1..1
# tests 2
"""


def names(parsed: Parsed) -> list[tuple[str, str]]:
    return [(case.name, case.outcome) for case in parsed.cases]


def lines(*events: object) -> bytes:
    return "\n".join(each if isinstance(each, str) else json.dumps(each) for each in events).encode()


def test_tap_has_points_directives_and_a_plan() -> None:
    parsed = tap.parse(PROVE)

    assert names(parsed) == [
        ("loads", "passed"),
        ("adds", "failed"),
        ("test 3", "skipped"),
        ("later", "skipped"),
    ]
    assert parsed.cases[2].message == "no network"
    assert not parsed.is_cut


def test_a_subtest_of_tap_is_named_with_what_it_stands_in() -> None:
    parsed = tap.parse(NODE_TAP)

    assert names(parsed) == [("cart > adds", "passed"), ("cart > fails", "failed")]
    assert parsed.cases[1].file == "/work/test/cart.test.js"
    assert "error: 'no'" in parsed.cases[1].message


TIMED_TAP = b"""TAP version 14
# Subtest: tests/test-config.js
    # Subtest: uses defaults
        ok 1 - should be equal
        1..1
    ok 1 - uses defaults # time=7.007ms
    ok 2 - waits # time=2.5s
    ok 3 - is no time # time=soon
    1..3
ok 1 - tests/test-config.js # time=1409.627ms
1..1
"""


def test_the_time_that_tap_writes_behind_a_name_is_no_part_of_it() -> None:
    assert [each.name for each in tap.parse(TIMED_TAP).cases] == [
        "tests/test-config.js > uses defaults > should be equal",
        "tests/test-config.js > waits",
        "tests/test-config.js > is no time # time=soon",
    ]


def test_tap_that_bails_out_or_ends_before_its_plan_says_so() -> None:
    assert tap.parse(b"1..3\nok 1\nBail out! no database\n").problems == (Problem("no database"),)
    assert tap.parse(b"1..3\nok 1\n").is_cut


def go_event(action: str, test: str = "", **more: str) -> dict[str, str]:
    return {"Action": action, "Package": "example.org/shop/cart", **({"Test": test} if test else {}), **more}


def test_go_tells_tests_subtests_and_what_they_printed() -> None:
    parsed = go_json.parse(
        lines(
            go_event("run", "TestAdd"),
            go_event("output", "TestAdd", Output="=== RUN   TestAdd\n"),
            go_event("run", "TestAdd/negative"),
            go_event("output", "TestAdd/negative", Output="    cart_test.go:9: no\n"),
            go_event("output", "TestAdd/negative", Output="    --- FAIL: TestAdd/negative (0.00s)\n"),
            go_event("fail", "TestAdd/negative"),
            go_event("fail", "TestAdd"),
            go_event("run", "TestLater"),
            go_event("skip", "TestLater"),
            go_event("output", Output="ok  \texample.org/shop/cart\t(cached)\n"),
            go_event("fail"),
        )
    )

    assert names(parsed) == [("TestAdd/negative", "failed"), ("TestAdd", "failed"), ("TestLater", "skipped")]
    assert parsed.cases[0].message == "cart_test.go:9: no"
    assert (parsed.problems, parsed.is_cut) == ((), False)


def test_go_that_does_not_build_is_a_problem_with_its_place() -> None:
    of_old = lines(
        "# example.org/shop/cart [example.org/shop/cart.test]",
        "cart/cart.go:3:29: undefined: missing",
        go_event("output", Output="FAIL\texample.org/shop/cart [build failed]\n"),
        go_event("fail"),
    )
    of_new = lines(
        {
            "ImportPath": "example.org/shop/cart [example.org/shop/cart.test]",
            "Action": "build-output",
            "Output": "cart/cart.go:3:29: undefined: missing\n",
        },
        {"ImportPath": "example.org/shop/cart [example.org/shop/cart.test]", "Action": "build-fail"},
        go_event("fail", FailedBuild="example.org/shop/cart [example.org/shop/cart.test]"),
    )

    wanted = (Problem("undefined: missing", file="cart/cart.go", line=3, group="example.org/shop/cart"),)
    assert go_json.parse(of_old).problems == wanted
    assert go_json.parse(of_new).problems == wanted


def test_a_panic_of_go_takes_the_test_down_that_ran() -> None:
    parsed = go_json.parse(
        lines(
            go_event("run", "TestAdd"),
            go_event("output", "TestAdd", Output="panic: oh\n"),
            go_event("output", Output="FAIL\texample.org/shop/cart\t0.01s\n"),
            go_event("fail"),
        )
    )

    assert [(case.name, case.outcome, case.message) for case in parsed.cases] == [
        ("TestAdd", "error", "panic: oh")
    ]
    assert parsed.is_cut


CARGO = """   Compiling my-shop v0.1.0 (/work)
warning: unused variable: `x`
 --> src/lib.rs:3:9
     Running unittests src/lib.rs (target/debug/deps/my_shop-0123456789abcdef)

running 4 tests
test cart::tests::adds ... ok
test cart::tests::fails ... FAILED
test cart::tests::panics - should panic ... ok
test cart::tests::slow ... ignored, takes long

failures:

---- cart::tests::fails stdout ----
noise
thread 'cart::tests::fails' panicked at src/cart.rs:20:9:
one is not two

failures:
    cart::tests::fails

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `--lib`
     Running tests/whole.rs (target/debug/deps/whole-0123456789abcdef)

running 1 test
test nothing ... some noise of the test
ok

   Doc-tests my_shop

running 1 test
test src/cart.rs - cart::total (line 3) ... ok
"""


def test_cargo_tells_programs_doctests_and_what_a_failing_test_printed() -> None:
    parsed = cargo.parse(CARGO.encode())

    assert parsed.cases[0] == Case("cart::tests::adds", "passed", group="my_shop:src/lib.rs")
    assert names(parsed)[1:] == [
        ("cart::tests::fails", "failed"),
        ("cart::tests::panics", "passed"),
        ("cart::tests::slow", "skipped"),
        ("nothing", "passed"),
        ("doc cart::total", "passed"),
    ]
    assert parsed.cases[1].message.startswith(
        "noise\nthread 'cart::tests::fails' panicked at src/cart.rs:20:9:"
    )
    assert (parsed.cases[4].group, parsed.cases[5].file) == ("whole:tests/whole.rs", "src/cart.rs")
    assert (parsed.problems, parsed.is_cut) == ((), False)


def test_tests_in_documentation_are_told_by_what_they_document_in_the_order_of_the_file() -> None:
    lines = ("src/a.rs - total (line 17)", "src/a.rs - (line 2)", "src/a.rs - total (line 9) - compile")
    parsed = cargo.parse("".join(f"test {line} ... ok\n" for line in lines).encode())
    moved = cargo.parse("".join(f"test {line} ... ok\n" for line in reversed(lines)).encode())

    assert [(case.file, case.name) for case in parsed.cases] == [
        ("src/a.rs", "doc"),
        ("src/a.rs", "doc total"),
        ("src/a.rs", "doc total"),
    ]
    assert moved == parsed


def test_two_programs_of_one_name_are_told_apart() -> None:
    running = "     Running tests/all.rs (target/debug/deps/all-{}aaaaaaaaaaaaaaa)\ntest adds ... ok\n"
    parsed = cargo.parse((running.format(1) + running.format(2)).encode())

    assert [case.group for case in parsed.cases] == ["all:tests/all.rs", "all:tests/all.rs#2"]


def test_what_the_compiler_of_rust_refuses_is_a_problem() -> None:
    text = b"error[E0425]: cannot find value `missing`\n --> src/lib.rs:3:26\n\nerror: could not compile `my-shop` (lib)\n"

    assert cargo.parse(text).problems == (Problem("cannot find value `missing`", file="src/lib.rs", line=3),)


def test_libtest_tells_the_same_in_json() -> None:
    report = lines(
        "     Running unittests src/lib.rs (target/debug/deps/my_shop-0123456789abcdef)",
        {"type": "suite", "event": "started", "test_count": 2},
        {"type": "test", "event": "started", "name": "tests::adds"},
        {"type": "test", "name": "tests::adds", "event": "ok"},
        {"type": "test", "name": "tests::fails", "event": "failed", "stdout": "oh\n"},
    )

    assert cargo.parse_json(report).cases == (
        Case("tests::adds", "passed", group="my_shop:src/lib.rs"),
        Case("tests::fails", "failed", "oh", group="my_shop:src/lib.rs"),
    )


def test_node_tells_suites_tests_and_a_file_that_cannot_be_loaded() -> None:
    file, broken = "/work/test/cart.test.js", "/work/test/broken.test.js"
    report = lines(
        {"type": "test:start", "name": "cart", "nesting": 0, "file": file},
        {"type": "test:start", "name": "adds", "nesting": 1, "file": file},
        {"type": "test:pass", "name": "adds", "nesting": 1, "file": file},
        {"type": "test:start", "name": "fails", "nesting": 1, "file": file},
        {"type": "test:fail", "name": "fails", "nesting": 1, "file": file, "message": "no"},
        {"type": "test:fail", "name": "cart", "nesting": 0, "file": file, "failureType": "subtestsFailed"},
        "noise",
        {
            "type": "test:fail",
            "name": broken,
            "nesting": 0,
            "file": broken,
            "isFile": True,
            "message": f"{broken}:1\nSyntaxError: no",
        },
    )
    parsed = node_test.parse(report)

    assert names(parsed) == [("cart > adds", "passed"), ("cart > fails", "failed")]
    assert [(each.file, each.line) for each in parsed.problems] == [(broken, 1)]
    assert parsed.problems[0].message.startswith("SyntaxError: no")


@pytest.mark.parametrize("kind", sorted(READERS))
@given(
    noise=st.binary(max_size=200),
    text=st.sampled_from([PROVE, NODE_TAP, CARGO.encode()]),
    place=st.integers(0, 400),
)
def test_whatever_the_bytes_are_something_is_told(kind: str, noise: bytes, text: bytes, place: int) -> None:
    assert isinstance(READERS[kind](noise), Parsed)
    assert isinstance(READERS[kind](text[:place] + noise + text[place:]), Parsed)


@pytest.mark.parametrize("kind", ["go-json", "libtest-json", "node-test", "jest-json"])
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "Action",
                        "Test",
                        "type",
                        "event",
                        "name",
                        "nesting",
                        "file",
                        "testResults",
                        "assertionResults",
                        "Output",
                    ]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    )
)
def test_json_of_any_shape_is_survived(kind: str, value: object) -> None:
    assert isinstance(READERS[kind](json.dumps(value).encode()), Parsed)


def test_a_failure_of_ava_begins_with_what_it_says_and_not_with_the_kind_of_all_of_them() -> None:
    text = (
        b"TAP version 13\nnot ok 1 - eq\n  ---\n    name: AssertionError\n    assertion: t.is()\n    details:\n      'Difference':\n"
        b"        - 1\n    message: ''\n  ...\nnot ok 2 - deep\n  ---\n    name: AssertionError\n    assertion: t.is()\n"
        b"    message: 'my own'\n  ...\nnot ok 3 - plain\n  ---\n    operator: equal\n  ...\n1..3\n"
    )
    lines = [case.message.splitlines()[0].strip() for case in tap.parse(text).cases]

    assert lines == ["AssertionError: t.is()", "AssertionError: my own", "operator: equal"]
