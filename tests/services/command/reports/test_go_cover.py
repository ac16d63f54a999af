"""Runs of single Go tests, as our script writes them down."""

from hypothesis import given
from hypothesis import strategies as st

from cogworks.services.command.reports.go_cover import Measured, parse_runs

PROFILE = b"""cogworks begin 3
mode: set
example.com/shop/total.go:5.31,6.12 1 1
example.com/shop/total.go:6.12,8.3 1 7
example.com/shop/total.go:12.2,12.9 1 1
example.com/shop/total.go:20.2,22.9 1 0
example.com/shop/stock/stock.go:3.17,3.30 1 1

cogworks end 3
"""
PANIC = b"""cogworks begin 0
| 2026/01/01 a log of its own: /work/shop/log.go:1
| panic: runtime error: index out of range [3] with length 2 [recovered]
|
| goroutine 6 [running]:
| testing.tRunner.func1.2({0x5, 0x1})
| \t/usr/local/go/src/testing/testing.go:1396 +0x24e
| example.com/shop.Total(...)
| \t/work/shop/total.go:9
| example.com/shop.TestTotal(0x0?)
| \t/work/shop/total_test.go:6 +0x1d
| created by testing.(*T).Run
| \t/usr/local/go/src/testing/testing.go:1493 +0x35f

cogworks end 0
"""


def test_a_profile_tells_the_lines_of_blocks_that_ran() -> None:
    assert parse_runs(PROFILE) == (
        Measured(
            3,
            {
                "example.com/shop/stock/stock.go": ((3, 3),),
                "example.com/shop/total.go": ((5, 8), (12, 12)),
            },
        ),
    )


def test_a_process_that_died_tells_the_calls_it_was_in() -> None:
    (run,) = parse_runs(PANIC)

    assert run.number == 0
    assert run.lines["/work/shop/total.go"] == ((9, 9),)
    assert run.lines["/work/shop/total_test.go"] == ((6, 6),)
    assert "/work/shop/log.go" not in run.lines


def test_what_a_test_prints_is_no_stack_unless_its_process_ended() -> None:
    assert parse_runs(b"cogworks begin 1\n| \t/work/shop/total.go:9 +0x1d\ncogworks end 1\n") == ()


def test_a_run_without_its_end_is_left_out_and_the_others_are_told() -> None:
    cut = PROFILE + PANIC + b"cogworks begin 4\nmode: set\na/b.go:1.1,2.2 1 1\n"

    assert [run.number for run in parse_runs(cut)] == [3, 0]
    assert parse_runs(b"cogworks begin 4\na/b.go:1.1,2.2 1 1\ncogworks end 5\n") == ()


def test_lines_that_are_no_blocks_are_passed_over() -> None:
    odd = (
        b"cogworks begin 1\nno block\n:1.1,2.2 1 1\na.go:1.1,2.2 1\na.go:0.1,2.2 1 1\na.go:9.1,2.2 1 1\n"
        b"a.go:99999999999.1,2.2 1 1\na.go:1.1,2.2 1 -1\n\xff\xfe:1.1,1.2 1 1\na.go:4.1,4.2 1 1\ncogworks end 1\n"
    )

    (run,) = parse_runs(odd)
    assert run.lines["a.go"] == ((4, 4),)


@given(st.binary(max_size=400))
def test_bytes_of_any_kind_are_read(data: bytes) -> None:
    parse_runs(data)
    parse_runs(PROFILE[:60] + data + PROFILE[60:])


files = st.sampled_from(["m/a.go", "m/b/c.go", "m/with space.go", "m/with:colon.go"])
blocks = st.tuples(files, st.integers(1, 90), st.integers(0, 9), st.integers(0, 3))


@given(st.lists(st.lists(blocks, max_size=12), max_size=5))
def test_each_run_has_exactly_the_lines_of_its_blocks(runs: list[list[tuple[str, int, int, int]]]) -> None:
    text = "".join(
        f"cogworks begin {number}\nmode: count\n"
        + "".join(f"{file}:{first}.2,{first + more}.7 1 {count}\n" for file, first, more, count in run)
        + f"\ncogworks end {number}\n"
        for number, run in enumerate(runs)
    )
    wanted = {
        number: {
            file: {
                line
                for each, first, more, count in run
                if each == file and count
                for line in range(first, first + more + 1)
            }
            for file, _, _, count in run
            if count
        }
        for number, run in enumerate(runs)
    }

    told = {
        run.number: {
            file: {line for first, last in lines for line in range(first, last + 1)}
            for file, lines in run.lines.items()
        }
        for run in parse_runs(text.encode())
    }

    assert told == {number: lines for number, lines in wanted.items() if lines}
