"""Which single Go tests are run in which order, and by which lines."""

import re
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.messages import TestCase
from cogworks.services.command.go_tests import (
    MOST_AT_ONCE,
    Job,
    jobs_of,
    line_of,
    pattern_of,
    runs_go_test,
    without_vet,
)
from cogworks.services.command.recipe import Recipe

GO = Recipe(language="go", runner="go test", test="go test -json ./...")


def case(test: str, outcome: Literal["passed", "failed", "error", "skipped"] = "passed") -> TestCase:
    return TestCase(id=test, outcome=outcome)


def jobs(*cases: TestCase) -> list[tuple[str, list[str]]]:
    files = {each.id: each.id.split("::")[0] for each in cases}
    return [(job.folder, [each.id.split("::")[1] for each in job.cases]) for job in jobs_of(files, cases)]


def test_failing_tests_come_first_then_others_of_their_packages_then_the_rest() -> None:
    found = jobs(
        case("a/a_test.go::TestFar"),
        case("b/b_test.go::TestNear"),
        case("b/b_test.go::TestBad", "failed"),
        case("b/c_test.go::TestWorse", "error"),
        case("b/b_test.go::TestNo", "skipped"),
        case("top_test.go::TestTop"),
    )

    assert found == [
        ("b", ["TestBad", "TestWorse"]),
        ("b", ["TestNear"]),
        ("", ["TestTop"]),
        ("a", ["TestFar"]),
    ]


def test_what_only_holds_other_tests_is_told_by_them() -> None:
    found = jobs(
        case("a_test.go::TestTable", "failed"),
        case("a_test.go::TestTable/one"),
        case("a_test.go::TestTable/two/deep", "failed"),
        case("a_test.go::TestTable/two", "failed"),
        case("a_test.go::TestTab"),
    )

    assert found == [("", ["TestTable/two/deep"]), ("", ["TestTable/one", "TestTab"])]


def test_what_fails_although_all_that_it_holds_passes_is_a_test_of_its_own() -> None:
    found = jobs(
        case("a_test.go::TestTable", "failed"),
        case("a_test.go::TestTable/one"),
        case("a_test.go::TestTable/two", "skipped"),
    )

    assert found == [("", ["TestTable"]), ("", ["TestTable/one"])]


def test_no_run_is_made_of_what_go_does_not_know_by_that_name_or_whose_file_is_unknown() -> None:
    cases = [case("a_test.go::TestA"), case("a_test.go::TestA #2"), case("a_test.go::"), case(".::TestB")]

    assert [each.cases for each in jobs_of({each.id: "a_test.go" for each in cases[:3]}, cases)] == [
        (cases[0],)
    ]


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 40), st.sampled_from(["passed", "failed"])),
        max_size=90,
        unique_by=lambda each: each[:2],
    )
)
def test_each_test_is_in_one_job_and_each_package_has_one_last(found: list[tuple[str, int, str]]) -> None:
    cases = [TestCase.model_validate({"id": f"{at}/x_test.go::T{n}", "outcome": how}) for at, n, how in found]

    told = jobs_of({each.id: each.id.split("::")[0] for each in cases}, cases)

    assert sorted(each.id for job in told for each in job.cases) == sorted(each.id for each in cases)
    assert all(0 < len(job.cases) <= MOST_AT_ONCE for job in told)
    assert sorted(job.folder for job in told if job.is_last) == sorted({at for at, _, _ in found})
    for folder in {job.folder for job in told}:
        assert [job.is_last for job in told if job.folder == folder][-1]
        assert len({job.number for job in told if job.folder == folder}) == 1


def test_one_test_and_no_other_fits_a_pattern() -> None:
    assert pattern_of("a_test.go::TestA/b.c_(d)/#00") == r"^TestA$/^b\.c_\(d\)$/^\#00$"


@given(st.lists(st.text(st.characters(codec="ascii", exclude_characters="/\n"), min_size=1), min_size=1))
def test_every_part_of_a_name_fits_its_own_part_of_the_pattern(parts: list[str]) -> None:
    name = "/".join(parts)
    pattern = pattern_of(f"a_test.go::{name}")

    assert re.fullmatch(pattern.replace("$/^", "/"), name)


def test_the_options_without_which_a_package_is_another_one_are_kept() -> None:
    recipe = GO._replace(test="go test -json -short -tags 'a b' -count=1 --mod=vendor -run TestX ./...")
    job = Job("in/ner", 2, (case("in/ner/a_test.go::TestA"),), is_last=True)

    line = line_of(job, {"in/ner/a_test.go::TestA": 7}, recipe, test_timeout_s=2.5)

    assert "'-tags=a b' --mod=vendor -o" in line
    assert "-count" not in line
    assert "-test.timeout=3s -test.short" in line
    assert "alone 7 '^TestA$'" in line
    assert line.endswith('rm -f "$built"')


@pytest.mark.parametrize(
    ("line", "is_it"),
    [("go test ./...", True), ("cd a && go test -json .", True), ("make test", False), ("cargo test", False)],
)
def test_what_starts_go_test_is_told(line: str, is_it: bool) -> None:
    assert runs_go_test(line) is is_it


def test_vet_is_left_out_wherever_go_test_is_started() -> None:
    recipe = without_vet(GO._replace(test_one="go test -json -run {name} {folder}"))

    assert recipe.test == "go test -vet=off -json ./..."
    assert recipe.test_one == "go test -vet=off -json -run {name} {folder}"
