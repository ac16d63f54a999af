"""The zoo compares two runs of a suite test by test, whatever the runners call the tests, and counts what is asked of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.benchmarks.zoo.animals import Animal, animals
from scripts.benchmarks.zoo.bench import ANIMALS, UNSEEN, kept_name, visited
from scripts.benchmarks.zoo.comparing import Compared, compared
from scripts.benchmarks.zoo.ourway import OurRun
from scripts.benchmarks.zoo.ownway import OwnRun, own_run
from scripts.benchmarks.zoo.table import is_met, table
from tests.limits import ENDS_WITHIN_S

ANT = Animal(name="ant", version="1", sha256="", shape=("flit",), install=(), test="pytest")


def seen(own: dict[str, str], here: dict[str, str], *, animal: Animal = ANT, refusal: str = "") -> Compared:
    return compared(animal, OwnRun(outcomes=own), OurRun(outcomes=here, refusal=refusal))


def test_a_test_is_the_same_under_the_name_that_unittest_gives_it() -> None:
    found = seen(
        {"tests.test_a.Case.test_b": "passed", "ant.tests.test_c.Case.test_d": "skipped"},
        {"tests/test_a.py::Case::test_b": "passed", "src/ant/tests/test_c.py::Case::test_d": "skipped"},
    )

    assert (found.agree, found.differ, found.only_own, found.only_here) == (2, {}, (), ())
    assert found.works


def test_a_test_is_the_same_where_discovery_began_in_a_folder() -> None:
    found = seen(
        {"tests.Case.test_b": "passed", "test_c.Case.test_d": "passed"},
        {"tests/tests.py::Case::test_b": "passed", "a/test_c.py::Case::test_d": "passed"},
    )
    unclear = seen({"t.Case.a": "passed"}, {"x/t.py::Case::a": "passed", "y/t.py::Case::a": "passed"})

    assert found.works
    assert unclear.only_own == ("t.Case.a",)


def test_a_test_is_the_same_in_the_file_that_imports_its_case() -> None:
    found = seen({"tests.test_a.Case.b": "passed"}, {"tests/__main__.py::Case::b": "passed"})
    unclear = seen(
        {"tests.test_a.Case.b": "passed", "tests.test_c.Case.b": "passed"},
        {"tests/__main__.py::Case::b": "passed"},
    )

    assert found.works
    assert unclear.only_own == ("tests.test_a.Case.b", "tests.test_c.Case.b")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("<object at 0x7f0012345678>", "<object at 0x7fee00abcdef>"),
        ("23:39:48 2026-11-23", "23:41:01 2026-11-24"),
    ],
    ids=["address", "time"],
)
def test_an_address_or_a_time_in_a_parameter_is_no_difference(first: str, second: str) -> None:
    own, here = (f"tests/test_a.py::test_b[{each}]" for each in (first, second))

    assert seen({own: "passed"}, {here: "passed"}).works


def test_a_test_that_passes_in_its_own_way_has_to_pass_here() -> None:
    lost = seen({"t.py::a": "passed", "t.py::b": "passed"}, {"t.py::a": "passed", "t.py::b": "failed"})
    gone = seen({"t.py::a": "passed", "t.py::b": "passed"}, {"t.py::a": "passed"})
    nothing = seen({"t.py::a": "passed"}, {}, refusal="needs libfoo")

    assert lost.differ == {"t.b": "own: passed, here: failed"}
    assert [lost.works, gone.works, nothing.works] == [False, False, False]


def test_a_test_that_fails_in_its_own_way_may_pass_here() -> None:
    assert seen({"t.py::a": "failed", "t.py::b": "passed"}, {"t.py::a": "passed", "t.py::b": "passed"}).works


def test_a_test_that_its_maintainers_mark_as_flaky_or_failing_may_go_either_way() -> None:
    passing = seen({"t.py::a": "unsure", "t.py::b": "passed"}, {"t.py::a": "passed", "t.py::b": "passed"})
    failing = seen({"t.py::a": "unsure", "t.py::b": "passed"}, {"t.py::a": "skipped", "t.py::b": "passed"})

    assert [passing.works, failing.works] == [True, True]
    assert [passing.differ, failing.differ] == [{}, {"t.a": "own: unsure, here: skipped"}]


def test_nine_in_ten_have_to_work_alone_and_the_others_with_two_lines_or_a_refusal_that_is_right() -> None:
    bare = seen({"t.py::a": "passed"}, {"t.py::a": "passed"})
    two = ANT.model_copy(update={"configuration": '[environment]\npackages = ["x"]\nextras = ["y"]\n'})
    three = two.model_copy(update={"configuration": f'{two.configuration}python = "3.12"\n'})
    helped, laden = (seen({"t.py::a": "passed"}, {"t.py::a": "passed"}, animal=each) for each in (two, three))
    refused = ANT.model_copy(update={"refusal": "needs cargo"})
    right, wrong = (
        seen({"t.py::a": "passed"}, {}, animal=refused, refusal=text) for text in ("it needs cargo", "?")
    )

    assert is_met([bare] * 9 + [helped])
    assert is_met([bare] * 9 + [right])
    assert not is_met([bare] * 9 + [laden])
    assert not is_met([bare] * 9 + [wrong])
    assert not is_met([bare] * 8 + [helped] * 2)
    assert not is_met([])


def test_single_tests_may_be_held_back_by_the_isolation_where_each_is_told_of_in_the_right_words() -> None:
    ant = ANT.model_copy(update={"held": ("no such device", "wanted the network")})
    own = OwnRun(outcomes={"t.py::a": "passed", "t.py::b": "passed", "t.py::c": "passed"})
    outcomes = {"t.py::a": "passed", "t.py::b": "skipped", "t.py::c": "failed"}
    reasons = {"t.py::b": "Skipped: no such device", "t.py::c": "exit 1; t.py::c: wanted the network; …"}

    told = compared(ant, own, OurRun(outcomes=outcomes, reasons=reasons))
    blamed = compared(ant, own, OurRun(outcomes=outcomes, reasons={**reasons, "t.py::c": "exit 1"}))
    gone = compared(ant, own, OurRun(outcomes={"t.py::a": "passed", "t.py::b": "skipped"}, reasons=reasons))
    bare = seen({"t.py::a": "passed"}, {"t.py::a": "passed"})

    assert [each.works or each.is_rightly_refused for each in (told, blamed, gone)] == [True, False, False]
    assert not told.works
    assert is_met([bare] * 9 + [told])
    assert not is_met([bare] * 8 + [told] * 2)
    assert "works but for 2 that it tells of" in table([told])
    assert "t.c (own: passed, here: failed; exit 1)" in table([blamed])


def test_a_package_whose_own_way_fails_here_is_counted_apart() -> None:
    broken = compared(
        ANT, OwnRun(outcomes={}, problem="pip install .: no"), OurRun(outcomes={"t.py::a": "passed"})
    )
    well = seen({"t.py::a": "passed"}, {"t.py::a": "passed"})

    assert is_met([well, broken])
    assert "1 packages whose own way works here: 1 work with no configuration" in table([well, broken])


def test_the_zoo_has_at_least_forty_packages_of_every_kind_and_each_is_named_with_its_hash() -> None:
    listed = [each for place in (ANIMALS, UNSEEN) for each in animals(place.read_text(encoding="utf-8"))]
    shapes = {shape for each in listed for shape in each.shape}

    assert len(listed) >= 40
    assert len({each.name for each in listed}) == len(listed)
    assert all(len(each.sha256) == 64 and each.install and each.test for each in listed)
    assert shapes >= {
        "hatchling", "hatch-vcs", "setuptools", "setuptools-scm", "flit", "pdm", "poetry", "maturin", "setup.py only",
        "src layout", "flat layout", "namespace package", "C extension", "Cython", "Django app", "unittest",
        "doctest by pytest", "pytest plugins", "async", "generated version file",
    }  # fmt: skip


def test_of_a_test_that_is_skipped_in_its_own_way_nothing_is_lost() -> None:
    found = seen({"t.py::a": "passed", "t.py::b": "skipped"}, {"t.py::a": "passed"})

    assert (found.only_own, found.missing) == (("t.b",), ())
    assert found.works


def test_what_does_not_work_is_told_with_its_reason() -> None:
    fails = seen({"t.py::a": "passed", "t.py::b": "passed"}, {"t.py::a": "failed"})
    refused = seen({"t.py::a": "passed"}, {}, refusal="first\nit needs libfoo")
    well = seen({"t.py::a": "passed"}, {"t.py::a": "passed"})

    told = table([fails, refused], [well])

    assert "- ant: t.a (own: passed, here: failed), t.b (not here)" in told
    assert "- ant: it needs libfoo" in told
    assert "3 packages whose own way works here: 1 work with no configuration" in told
    assert told.count("1 packages whose own way works here: 1 work with no configuration") == 1


def test_what_was_found_before_is_not_done_again(tmp_path: Path) -> None:
    here, own = OurRun(outcomes={"t.py::a": "passed"}), OwnRun(outcomes={"t.py::a": "passed"})
    for folder, run in (("here-0123456789ab", here), ("own", own)):
        place = tmp_path / folder / kept_name(ANT, "pytest" if run is own else "")
        place.parent.mkdir()
        place.write_text(run.model_dump_json())

    assert visited(ANT, tmp_path, limit_s=1, earlier=True).works


def test_the_own_way_tells_unittest_and_pytest_tests_alike(tmp_path: Path) -> None:
    checkout, room = tmp_path / "checkout", tmp_path / "room"
    checkout.mkdir()
    room.mkdir()
    (checkout / "test_a.py").write_text(
        "import unittest\n\n\nclass Case(unittest.TestCase):\n    def test_good(self):\n        pass\n\n"
        "    def test_bad(self):\n        self.fail('no')\n\n    @unittest.skip('later')\n    def test_left(self):\n        pass\n\n\n"
        "def made(name):\n    class Made(unittest.TestCase):\n        def test_alike(self):\n            pass\n\n"
        "    Made.__name__ = name\n    return Made\n\n\nFirst, Second = made('First'), made('Second')\n"
    )
    reporters = Path(own_run.__globals__["_REPORTERS"])
    told = room / "outcomes"

    subprocess.run(
        [sys.executable, "-m", "unittest", "test_a"],
        cwd=checkout,
        env={"PYTHONPATH": str(reporters), "ZOO_OUTCOMES": str(told), "PATH": "/usr/bin:/bin"},
        check=False,
        capture_output=True,
        timeout=ENDS_WITHIN_S,
    )

    assert sorted(told.read_text().splitlines()) == [
        '["test_a.Case.test_bad", "failed"]',
        '["test_a.Case.test_good", "passed"]',
        '["test_a.Case.test_left", "skipped"]',
        '["test_a.First.test_alike", "passed"]',
        '["test_a.Second.test_alike", "passed"]',
    ]


def test_the_own_way_by_pytest_tells_a_pass_that_may_be_a_failure_next_time(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import pytest\n\n\n@pytest.mark.flaky\ndef test_timed():\n    pass\n\n\n@pytest.mark.xfail\ndef test_lucky():\n    pass\n\n\n"
        "@pytest.mark.xfail\ndef test_slow():\n    assert False\n\n\ndef test_good():\n    pass\n"
    )
    told = tmp_path / "outcomes"
    reporters = Path(own_run.__globals__["_REPORTERS"])

    subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "zoo_outcomes", "-p", "no:cacheprovider", "test_a.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(reporters), "ZOO_OUTCOMES": str(told), "PATH": "/usr/bin:/bin"},
        check=False,
        capture_output=True,
        timeout=ENDS_WITHIN_S,
    )

    assert told.read_text().splitlines() == [
        '["test_a.py::test_timed", "unsure"]',
        '["test_a.py::test_lucky", "unsure"]',
        '["test_a.py::test_slow", "skipped"]',
        '["test_a.py::test_good", "passed"]',
    ]
