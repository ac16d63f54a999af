"""What a run of the suite means for the task at hand."""

import pytest

from cogworks.codegen.suitability import (
    failing_targets,
    known_before,
    repair_proof,
    unfit,
    unproven,
)
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.instance import Instance
from cogworks.repair.proof import Runs, Tree, markdown, summarised
from cogworks.repair.transact.measure import limited_to
from cogworks.vocabulary import CommitOid

REPORT = TestReport(
    cases=(
        TestCase(id="tests/a.py::one", outcome="passed"),
        TestCase(id="tests/b.py::two", outcome="failed"),
    ),
    collection_errors=(
        "tests/c.py: ModuleNotFoundError: No module named 'yaml'",
        "tests/d.py: ImportError: cannot import name 'x'",
    ),
)


def test_a_test_whose_file_cannot_be_loaded_is_there_to_be_repaired() -> None:
    assert unfit(REPORT, Instance(instance_id="i", failing_tests=("tests/c.py::three",))) == ""


@pytest.mark.parametrize("place", ["tests/c.py", "tests", "."])
def test_a_test_below_a_folder_that_cannot_be_loaded_is_there_to_be_repaired(place: str) -> None:
    instance = Instance(instance_id="i", failing_tests=("tests/c.py::three",))
    report = TestReport(cases=(), collection_errors=(f"{place}: NameError: x", "docs: no"))

    assert unfit(report, instance) == ""
    assert failing_targets(report, instance) == TestReport(
        cases=(), collection_errors=report.collection_errors[:1]
    )
    assert known_before(report, instance).collection_errors == ("docs: no",)
    assert limited_to(report, ["tests/c.py::three"]).collection_errors == report.collection_errors[:1]


def test_a_suite_that_does_not_begin_is_told_with_what_it_said() -> None:
    report = TestReport(
        cases=(),
        collection_errors=("tests/a.py: no", "pytest ended early (exit code 4):\nunrecognized arguments"),
    )

    assert unfit(report, Instance(instance_id="i", failing_tests=("tests/c.py::three",))) == (
        "no test ran: pytest ended early (exit code 4):\nunrecognized arguments"
    )


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("tests/b.py::tow", "; did you mean tests/b.py::two or tests/a.py::one or tests/a.py::test_each[3]?"),
        ("b.py::two", "; did you mean tests/b.py::two?"),
        ("two", "; did you mean tests/b.py::two?"),
        ("test_both", "; did you mean shop/checks/cases.py::Case::test_both?"),
        (
            "test_bothh",
            "; did you mean shop/checks/cases.py::Case::test_both or tests/a.py::test_each[1::2] or tests/a.py::test_each[3]?",
        ),
        ("b.Case.test_both", "; did you mean shop/checks/cases.py::Case::test_both?"),
        ("test_each", "; did you mean tests/a.py::test_each[1::2] or tests/a.py::test_each[3]?"),
        ("everything", "; write an id as the runner does, e.g. tests/b.py::two"),
    ],
)
def test_a_mistyped_id_is_told_with_what_to_write(typed: str, said: str) -> None:
    others = (
        "tests/a.py::test_each[1::2]",
        "tests/a.py::test_each[3]",
        "shop/checks/cases.py::Case::test_both",
    )
    cases = (*(TestCase(id=each, outcome="passed") for each in others), *REPORT.cases)
    report = TestReport(cases=cases, collection_errors=())

    found = unfit(report, Instance(instance_id="i", failing_tests=(typed,)))

    assert found == f"{typed} is none of the 5 tests that ran{said}"


def test_what_was_hidden_and_cannot_be_loaded_yet_is_not_held_against_a_repair() -> None:
    trees = (Tree(commit=CommitOid("a" * 40), tree="a"), Tree(commit=CommitOid("b" * 40), tree="b"))
    base = TestReport(cases=(), collection_errors=(".: NameError: x",))
    head = TestReport(
        cases=(TestCase(id="tests/c.py::three", outcome="passed"),),
        collection_errors=("tests/d.py: ImportError: no y",),
    )

    proof = repair_proof(trees, Runs(base, head), weakened=(), command="", unstable=())

    assert proof.uncollected == ()
    assert unproven(proof, Instance(instance_id="i", failing_tests=("tests/c.py::three",))) == ()
    # Nothing speaks against the repair, and what never ran proves nothing.
    assert not proof.is_proven
    worse = repair_proof(trees, Runs(head, base), weakened=(), command="", unstable=())
    assert worse.uncollected == base.collection_errors


def test_a_repair_says_first_what_never_ran_but_not_that_its_target_could_not_be_loaded() -> None:
    trees = (Tree(commit=CommitOid("a" * 40), tree="a"), Tree(commit=CommitOid("b" * 40), tree="b"))
    target = TestCase(id="tests/c.py::three", outcome="passed")
    base = REPORT.model_copy(update={"cases": REPORT.cases[:1]})
    head = TestReport(cases=(*base.cases, target), collection_errors=base.collection_errors[1:])

    proof = repair_proof(
        trees, Runs(base, head), weakened=(), command="", unstable=(), targets=("tests/c.py::three",)
    )

    assert [each.place for each in proof.unloaded] == ["tests/d.py"]
    assert markdown(summarised(proof)).splitlines()[0] == (
        "Not proven for `tests/d.py`, which could not be loaded: `ImportError: cannot import name 'x'`."
    )


def test_a_report_is_cut_to_the_tests_that_matter_and_the_files_they_are_in() -> None:
    found = limited_to(REPORT, ["tests/b.py::two", "tests/d.py::four"])

    assert [case.id for case in found.cases] == ["tests/b.py::two"]
    assert found.collection_errors == REPORT.collection_errors[1:]
    assert limited_to(REPORT, ()) == REPORT
