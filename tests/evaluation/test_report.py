import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cogworks.evaluation.report import (
    Report,
    Result,
    Stage,
    as_text,
    predictions,
    report_of,
    schema_text,
    summed,
    usual_min_solved,
    without_clock,
)
from tests.evaluation.results import result


@pytest.mark.parametrize(("instances", "wanted"), [(1, 1), (5, 1), (6, 2), (10, 2), (11, 3)], ids=str)
def test_one_in_five_has_to_be_solved_where_nothing_else_is_asked_for(instances: int, wanted: int) -> None:
    assert usual_min_solved(instances) == wanted


@pytest.mark.parametrize(
    ("results", "min_solved", "problems"),
    [
        ([result("a"), result("b", "not_solved", reason="no idea")], None, ()),
        ([result("a", "not_solved")], None, ("0 of 1 solved, and at least 1 are required",)),
        ([result("a"), result("b")], 3, ("2 of 2 solved, and at least 3 are required",)),
        ([result("a", "not_solved")], 0, ()),
        (
            [result("a"), result("b", "not_solved", regressions=("t.py::one",))],
            1,
            ("b: t.py::one passed before and does not with the patch",),
        ),
        ([result("a"), result("b", "error", reason="no such commit")], 1, ("b: no such commit",)),
        ([result("a"), result("b", "unbudgeted", reason="not begun")], 1, ("b: not begun",)),
    ],
    ids=["met", "too few", "fewer than asked for", "none asked for", "regression", "error", "no budget"],
)
def test_when_an_evaluation_ends_well(
    results: list[Result], min_solved: int | None, problems: tuple[str, ...]
) -> None:
    report = report_of(results, version="1", min_solved=min_solved)

    assert (report.problems, report.is_met) == (problems, not problems)


def test_what_could_not_be_begun_is_counted_apart() -> None:
    report = report_of(
        [result("a"), result("b", "unbudgeted", reason="not begun")], version="1", max_cost_usd=2.5
    )

    assert (report.totals.unbudgeted, report.totals.errors, report.totals.not_solved) == (1, 0, 0)
    assert report.criteria.max_cost_usd == 2.5


def test_sums_are_over_all_instances_and_stages() -> None:
    report = report_of([result("a"), result("b", "not_solved")], version="1")

    assert (report.totals.instances, report.totals.solved, report.totals.success_rate) == (2, 1, 0.5)
    assert (report.totals.changed_lines, report.totals.files, report.totals.transactions) == (6, 2, 4)
    assert (report.totals.kept, report.totals.cost_usd, report.totals.duration_s) == (2, 0.2, 9.0)
    assert [(stage.name, stage.runs, stage.duration_s) for stage in report.stages] == [
        ("prepare", 2, 1.0),
        ("analyze_failure", 2, 4.5),
        ("judge", 2, 3.0),
    ]
    assert report.stages[1].calls == 4


@given(st.permutations(["a", "b", "c", "d"]), st.lists(st.floats(0, 3), min_size=4, max_size=4))
def test_the_report_does_not_depend_on_the_order_in_which_results_come(
    order: list[str], costs: list[float]
) -> None:
    priced = dict(zip("abcd", costs, strict=True))
    results = [result(name, cost_usd=priced[name]) for name in order]

    assert report_of(results, version="1") == report_of(
        sorted(results, key=lambda each: each.instance_id), version="1"
    )


def test_without_its_clock_two_reports_of_the_same_work_are_equal() -> None:
    slow = [Stage(name="judge", runs=1, duration_s=60)]
    one = report_of([result("a", stages=summed(slow), duration_s=90.0)], version="1")
    two = report_of([result("a", stages=[Stage(name="judge", runs=1)], duration_s=2.0)], version="1")

    assert one != two
    assert without_clock(one) == without_clock(two)


def test_predictions_have_the_form_of_the_harness_and_an_empty_patch_where_there_is_none() -> None:
    lines = predictions([result("b", "error", model=""), result("a")]).splitlines()

    assert [json.loads(line) for line in lines] == [
        {"instance_id": "a", "model_name_or_path": "claude-sonnet-5-5", "model_patch": "patch of a\n"},
        {"instance_id": "b", "model_name_or_path": "none", "model_patch": ""},
    ]


def test_a_report_fits_its_published_schema_and_can_be_read_back() -> None:
    patch = "bytes that are no text: \udc80\n"
    report = report_of([result("a", patch=patch), result("b", "error", mu=None)], version="1")

    document = json.loads(as_text(report))

    Draft202012Validator(json.loads(schema_text())).validate(document)
    assert Report.model_validate(document) == report


def test_what_a_field_means_is_in_the_schema() -> None:
    properties = json.loads(schema_text())["$defs"]["Result"]["properties"]

    assert "fresh checkout" in properties["outcome"]["description"]
