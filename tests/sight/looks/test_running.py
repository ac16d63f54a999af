"""What tests say, and what a change would do that nobody keeps."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from cogworks.domain_services.failing import MAX_SHOWN, excerpt, in_words
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.domain_services.transport import ServiceFailed
from cogworks.sight.looks.running import MAX_RUN_AGAIN, Trials
from cogworks.sight.looks.schema import RunningLook
from tests.fakes import MemoryWorkspace

FILES = {"src/a.py": "x = 1\ny = 2\n", "tests/test_a.py": "def test_a(): ...\n"}


class Place:
    """A working copy whose tests say what is in one file."""

    def __init__(self) -> None:
        self.copy = MemoryWorkspace(FILES)
        self.ran: list[tuple[str, ...]] = []
        self.seen: list[str | None] = []
        self.error: ServiceFailed | None = None
        self.failing: Mapping[str, bool] = {}
        """A test, file or folder -> whether it fails without the edits as well."""
        self.new: set[str] = set()
        """Tests that only the edits make."""
        self.needs_all = False
        """Whether nothing runs where one of the tests asked for is not there, as with pytest."""
        self.is_late = False
        """Whether a run without edits does not end in time."""

    def simulate(self, tests: Sequence[str]) -> TestReport:
        self.ran.append(tuple(tests))
        self.seen.append(self.copy.read("src/a.py"))
        if self.error:
            raise self.error
        is_edited = self.copy.tree != FILES
        if self.needs_all and not is_edited and self.new & set(tests):
            return TestReport(cases=())
        bad = [each for each, before in self.failing.items() if is_edited or before]
        return TestReport(
            cases=(
                *(
                    TestCase(id=each, outcome="passed", message="")
                    for each in (tests[:1] if is_edited else tests)
                    if (is_edited or each not in self.new) and each not in bad
                ),
                *(TestCase(id=each, outcome="failed", message="assert 0") for each in bad if "::" in each),
            ),
            collection_errors=tuple(f"{each}: no x" for each in bad if "::" not in each),
            timed_out=self.is_late and not is_edited,
        )

    @property
    def trials(self) -> Trials:
        return Trials(
            simulate=self.simulate, apply=self.copy.apply, roll_back=self.copy.roll_back, read=self.copy.read
        )


def look(**given: Any) -> RunningLook:
    return RunningLook.model_validate({"look": "try", "tests": ["tests/test_a.py"], **given})


def edit(search: str, replace: str, path: str = "src/a.py") -> dict[str, str]:
    return {"path": path, "search": search, "replace": replace}


def test_edits_are_there_for_the_run_and_gone_after_it() -> None:
    place = Place()

    said = place.trials.try_out(look(edits=[edit("x = 1", "x = 3"), edit("y = 2", "y = 4")]))

    assert said.startswith("1 passed, 0 failed")
    assert place.seen == ["x = 3\ny = 4\n"]
    assert place.copy.tree == FILES


def test_a_new_file_is_made_by_an_edit_without_search_and_is_gone_after_the_run() -> None:
    place = Place()

    place.trials.try_out(look(edits=[edit("", "def test_b(): ...\n", "tests/test_b.py")]))

    assert place.copy.tree == FILES


def test_failures_that_are_there_without_the_edits_are_told_from_the_others() -> None:
    place = Place()
    place.failing = {"tests/test_a.py::test_b": True, "tests/test_a.py::test_c": False, "tests": True}

    said = place.trials.try_out(look(edits=[edit("x = 1", "x = 3")]))

    assert said.startswith("1 passed, 2 failed, 1 file(s) or folder(s) not loaded\n")
    assert said.endswith("\n\nWithout the edits these fail as well: tests/test_a.py::test_b, tests.")
    assert place.ran[1:] == [("tests/test_a.py::test_b", "tests/test_a.py::test_c", "tests/test_a.py")]
    assert place.seen[1] == FILES["src/a.py"]


def test_where_only_the_edits_are_to_blame_that_is_told() -> None:
    place = Place()
    place.failing = {"tests/test_a.py::test_b": False}

    said = place.trials.try_out(look(edits=[edit("x = 1", "x = 3")]))

    assert said.endswith("\n\nWithout the edits none of these fails.")


def test_tests_that_only_the_edits_make_are_no_failures_of_the_edits() -> None:
    some, all_of_them = Place(), Place()
    for place, new in ((some, {"c"}), (all_of_them, {"b", "c"})):
        place.failing = {"tests/test_a.py::test_b": False, "tests/test_a.py::test_c": False}
        place.new = {f"tests/test_a.py::test_{name}" for name in new}

    said = [place.trials.try_out(look(edits=[edit("x = 1", "x = 3")])) for place in (some, all_of_them)]

    assert said[0].endswith(
        "\n\nOf these failing tests these pass without the edits: tests/test_a.py::test_b. The others are not there."
    )
    assert said[1].endswith("\n\nThese failing tests are new: without the edits there is none of them.")


def test_where_a_new_test_keeps_the_others_from_running_their_files_are_asked() -> None:
    place = Place()
    place.failing = {"tests/test_a.py::test_b": True, "tests/test_a.py::test_c": False}
    place.new, place.needs_all = {"tests/test_a.py::test_c"}, True

    said = place.trials.try_out(look(edits=[edit("x = 1", "x = 3")]))

    assert said.endswith("\n\nWithout the edits these fail as well: tests/test_a.py::test_b.")
    assert place.ran[2:] == [("tests/test_a.py",)]


def test_nothing_is_said_of_what_could_not_be_run_to_the_end_without_the_edits() -> None:
    many, late = Place(), Place()
    many.failing = {f"tests/test_a.py::test_{number}": False for number in range(MAX_RUN_AGAIN + 1)}
    late.failing, late.is_late = {"tests/test_a.py::test_b": False}, True

    for place in (many, late):
        said = place.trials.try_out(look(edits=[edit("x = 1", "x = 3")]))

        assert len(place.ran[1]) <= MAX_RUN_AGAIN
        assert "Without the edits" not in said


def test_nothing_is_run_again_of_what_only_the_edits_make() -> None:
    place = Place()
    place.failing = {"tests/test_new.py::test_b": False}

    said = place.trials.try_out(look(edits=[edit("", "def test_b(): ...\n", "tests/test_new.py")]))

    assert len(place.ran) == 1
    assert "Without the edits" not in said


def test_an_edit_that_has_no_place_runs_nothing() -> None:
    place = Place()

    assert "'src/a.py': the text to replace stands 0 times" in place.trials.try_out(
        look(edits=[edit("z = 1", "")])
    )
    assert "'src/b.py' does not exist" in place.trials.try_out(look(edits=[edit("z", "", "src/b.py")]))
    assert "'src/a.py' is there already" in place.trials.try_out(look(edits=[edit("", "z = 1\n")]))
    assert "two edits overlap" in place.trials.try_out(look(edits=[edit("x = 1", "a"), edit("= 1\n", "b")]))
    assert "There is no try 3" in place.trials.try_out(look(after=3))
    assert "were refused" in place.trials.try_out(look(edits=[edit("", "x", ".github/workflows/ci.yml")]))
    assert place.ran == []
    assert place.copy.tree == FILES


def test_a_service_that_breaks_is_told_and_nothing_is_left() -> None:
    place = Place()
    place.error = ServiceFailed("no room", service="python", method="simulate")

    assert "could not be run" in place.trials.try_out(look(edits=[edit("x = 1", "x = 3")]))
    assert place.copy.tree == FILES


def test_a_look_without_what_it_needs_says_so() -> None:
    assert "needs the ids of tests" in Place().trials.run(RunningLook(look="run"))
    assert "needs `edits` and the `tests`" in Place().trials.try_out(look())


def test_failures_are_told_with_their_messages_and_the_rest_by_number() -> None:
    cases = tuple(
        TestCase(id=f"t.py::test_{number}", outcome="failed", message=f"assert {number}")
        for number in range(20)
    )

    text = in_words(TestReport(cases=cases, collection_errors=("t2.py: no module",)))

    assert text.startswith("0 passed, 20 failed")
    assert "t.py::test_3 failed:\nassert 3" in text
    assert text.endswith(f"and {21 - MAX_SHOWN} more causes")
    assert "The tests could not be loaded:\nt2.py: no module" in text


def test_where_tests_of_several_files_ran_those_of_each_are_counted() -> None:
    outcomes = {"b.py::x": "passed", "a.py::x": "passed", "a.py::y": "error", "b.py::z": "skipped"}
    cases = tuple(
        TestCase.model_validate({"id": id_, "outcome": outcome}) for id_, outcome in outcomes.items()
    )

    text = in_words(TestReport(cases=cases))

    assert text.startswith(
        "2 passed, 1 failed, 1 skipped\n- a.py: 1 passed, 1 failed\n- b.py: 1 passed, 0 failed, 1 skipped\n\n"
    )


@pytest.mark.parametrize(
    "ids", [["a.py::x", "a.py::y"], ["TestA", "TestB"], [f"{n}.py::x" for n in range(30)]]
)
def test_tests_of_one_file_of_none_or_of_very_many_are_counted_together(ids: list[str]) -> None:
    text = in_words(TestReport(cases=tuple(TestCase(id=each, outcome="passed") for each in ids)))

    assert text == f"{len(ids)} passed, 0 failed"


def test_a_run_that_found_nothing_says_so() -> None:
    assert "No test was found" in in_words(TestReport(cases=()))


def test_what_differs_from_run_to_run_is_left_out() -> None:
    assert excerpt("<A object at 0x7f33aabbccdd> took 0.123s") == "<A object at 0x> took 0s"
    assert len(excerpt("x" * 100_000)) < 4_000
