"""Small programs with one bug each; the whole benchmark is `./scripts/bench smallbugs`."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from scripts.benchmarks.smallbugs.bench import is_met, play, report
from scripts.benchmarks.smallbugs.playing import Played, played
from scripts.benchmarks.smallbugs.programs import Program, in_order, programs

PROGRAMS = programs()
PUBLISHED = Path(__file__).parents[3] / "docs" / "benchmarks" / "small-bugs.md"
SAMPLE = 6
LEAST = 40
LEAST_KINDS = 12


def named(name: str) -> Program:
    (program,) = (each for each in PROGRAMS if each.name == name)
    return program


def test_there_are_many_programs_of_many_kinds() -> None:
    assert len(PROGRAMS) >= LEAST
    assert len({each.kind for each in PROGRAMS}) >= LEAST_KINDS


@pytest.mark.parametrize("program", PROGRAMS, ids=[each.name for each in PROGRAMS])
def test_each_has_one_bug_one_fix_and_several_diffs_that_are_none(program: Program) -> None:
    ways = (program.bug, program.fix, *program.wrong)

    assert program.code.count(program.bug) == 1
    assert len(program.wrong) >= 3
    assert len(set(ways)) == len(ways)
    for text in map(program.with_change, ways):
        compile(text, program.name, "exec")


def test_a_suite_can_be_made_longer_by_tests_that_say_nothing() -> None:
    program = named("clamp")

    longer = program.with_tests(30)

    assert len(re.findall(r"^def test_", longer.tests, re.MULTILINE)) == 30
    assert longer.tests.startswith(program.tests)
    compile(longer.tests, "tests", "exec")
    assert longer.with_tests(30) == longer


def test_the_fix_stands_at_every_place_among_the_diffs() -> None:
    orders = [in_order(program, number) for number, program in enumerate(PROGRAMS)]
    places = {order.index(program.fix) for program, order in zip(PROGRAMS, orders, strict=True)}

    assert places == {0, 1, 3}


def test_the_report_says_what_was_kept_and_is_met_only_where_all_are_fixed() -> None:
    good = Played(
        "a",
        "text",
        "fixed",
        1,
        is_untouched=True,
        took_s=6,
        by_hand_s=2,
        processor_s=8,
        by_hand_processor_s=2,
        said="",
    )

    assert "| a | text | fixed | 1 | 3.0 | 4.0 | – |" in report([good])
    assert "| a | text | fixed | 1 | 3.0 | 4.0 | 2 |" in report([good._replace(warnings=("x", "y"))])
    assert "| true fixes that are kept with a warning | 1 |" in report([good, good._replace(warnings=("x",))])
    assert "| wrong diffs kept | 1 |" in report([good, good._replace(end="wrong")])
    assert is_met([good])
    assert not is_met([good, good._replace(end="wrong")])
    assert not is_met([good._replace(is_untouched=False)])


def test_what_is_published_was_fixed() -> None:
    text = PUBLISHED.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| [\w ]+ \| (fixed|wrong|nothing) \| ", text, re.MULTILINE))

    assert rows.keys() <= {each.name for each in PROGRAMS}
    assert set(rows.values()) == {"fixed"}
    assert "| wrong diffs kept | 0 |" in text


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_some_of_them_another_six_each_day_are_repaired_by_the_command() -> None:
    first = datetime.now(UTC).date().toordinal() * SAMPLE
    found = play(numbers=[(first + each) % len(PROGRAMS) for each in range(SAMPLE)])

    assert len(found) == SAMPLE
    assert is_met(found), report(found)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_table_of_the_tests_own_inputs_is_never_called_repaired_without_a_warning() -> None:
    program = named("median")
    table = next(each for each in program.wrong if "{" in each)

    found = played(program, [table])

    # It was sent back, and given again.
    assert (found.end, found.tried) == ("wrong", 1)
    assert found.said.startswith("The change holds data of the tests it repairs (")
    assert played(program, [table, program.fix]).end == "fixed"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_change_that_looks_for_its_tests_reaches_no_file() -> None:
    program = named("brackets")
    looking = "    import sys\n\n    return not ('pytest' in sys.modules and text in ('((', '[a]{'))\n"

    found = played(program, [looking])

    assert (found.end, found.tried) == ("nothing", 0)
    assert found.is_untouched
