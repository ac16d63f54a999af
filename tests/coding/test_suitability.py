"""What a run of the suite means for the task at hand."""

from cogworks.coding.suitability import limited_to, unfit
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.instance import Instance

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


def test_a_report_is_cut_to_the_tests_that_matter_and_the_files_they_are_in() -> None:
    found = limited_to(REPORT, ["tests/b.py::two", "tests/d.py::four"])

    assert [case.id for case in found.cases] == ["tests/b.py::two"]
    assert found.collection_errors == REPORT.collection_errors[1:]
    assert limited_to(REPORT, ()) == REPORT
