"""The operation `coverage` of the service of commands, with a real Go behind walls."""

from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.exploring import Coverage
from cogworks.domain_services.messages import Response
from cogworks.services.command import covering
from cogworks.services.command.ground import Commands
from tests.services.asking import laid_out
from tests.services.command.commanding import ask, needs, outcomes

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), needs("go")]
GO = Commands(language="go")
SHOP = {
    "go.mod": "module example.com/shop\n\ngo 1.18\n",
    "shop.go": (
        "package shop\n\n"  # 1
        'import "example.com/shop/rate"\n\n'  # 3
        "func Total(prices []int) int {\n"  # 5
        "\tall := 0\n"
        "\tfor _, each := range prices {\n"
        "\t\tif each < 0 {\n"
        "\t\t\tpanic(each)\n"  # 9
        "\t\t}\n"
        "\t\tall += each\n"
        "\t}\n"
        "\treturn rate.Of(all)\n"  # 13
        "}\n\n"
        "func Idle() int {\n"  # 16
        "\treturn 1\n"
        "}\n"
    ),
    "rate/rate.go": "package rate\n\nfunc Of(sum int) int {\n\treturn sum\n}\n",
    "rate/rate_test.go": 'package rate\n\nimport "testing"\n\nfunc TestOf(t *testing.T) {\n\tOf(1)\n}\n',
    "shop_test.go": (
        'package shop\n\nimport "testing"\n\n'
        "func TestTotal(t *testing.T) {\n\tif Total([]int{1, 2}) != 4 {\n\t\tt.Error()\n\t}\n}\n\n"
        "func TestNothing(t *testing.T) {\n\tTotal(nil)\n}\n"
    ),
}
HEADINGS = {"shop.go": {5, 16}, "rate/rate.go": {3}, "back/rate/rate.go": {3}, "special.go": {5}}


def measured(folder: Path, **asked: Any) -> tuple[Response, Coverage]:
    response = ask("coverage", folder, **{"commands": GO, **asked})
    assert response.error is None, response.error
    return response, Coverage.model_validate(response.result)


def lines(coverage: Coverage) -> dict[str, dict[str, set[int]]]:
    """Without the headings of functions, of which one version of Go says that they ran and another does not."""
    return {
        each.test: {
            artifact: {line for first, last in stretches for line in range(first, last + 1)}
            - HEADINGS.get(artifact, set())
            for artifact, stretches in each.lines.items()
        }
        for each in coverage.tests
    }


def test_the_lines_are_those_that_each_test_executes_failed_or_not(tmp_path: Path) -> None:
    response, coverage = measured(laid_out(tmp_path, SHOP))

    assert outcomes(coverage.report) == {
        "shop_test.go::TestTotal": "failed",
        "shop_test.go::TestNothing": "passed",
        "rate/rate_test.go::TestOf": "passed",
    }
    assert lines(coverage) == {
        "shop_test.go::TestTotal": {"shop.go": {6, 7, 8, 11, 13}, "rate/rate.go": {4, 5}},
        "shop_test.go::TestNothing": {"shop.go": {6, 7, 13}, "rate/rate.go": {4, 5}},
        "rate/rate_test.go::TestOf": {"rate/rate.go": {4, 5}},
    }
    assert response.metadata.counts["measured"] == 3
    assert response.status == "failure"
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".test", ".out")]


def test_named_tests_and_artifacts_alone_are_told(tmp_path: Path) -> None:
    asked = {"tests": ["shop_test.go::TestNothing"], "artifacts": ["rate/rate.go"]}

    _, coverage = measured(laid_out(tmp_path, SHOP), **asked)

    assert lines(coverage) == {"shop_test.go::TestNothing": {"rate/rate.go": {4, 5}}}


def test_in_a_root_paths_are_those_of_the_repository(tmp_path: Path) -> None:
    laid_out(tmp_path / "back", SHOP)

    _, coverage = measured(tmp_path, root="back", tests=["back/rate/rate_test.go"])

    assert lines(coverage) == {"back/rate/rate_test.go::TestOf": {"back/rate/rate.go": {4, 5}}}


def test_each_subtest_is_told_by_itself_under_whatever_name(tmp_path: Path) -> None:
    test = (
        'package shop\n\nimport "testing"\n\nfunc TestAll(t *testing.T) {\n'
        '\tt.Run("a sum (of 2)/or #3", func(t *testing.T) {\n\t\tTotal([]int{1})\n\t})\n'
        '\tt.Run("", func(t *testing.T) {\n\t\tIdle()\n\t\tt.Error()\n\t})\n}\n'
    )
    _, coverage = measured(laid_out(tmp_path, {**SHOP, "shop_test.go": test}))

    found = {test: told.get("shop.go") for test, told in lines(coverage).items()}
    assert found == {
        "shop_test.go::TestAll/a_sum_(of_2)/or_#3": {6, 7, 8, 11, 13},
        "shop_test.go::TestAll/#00": {17, 18},
        "rate/rate_test.go::TestOf": None,
    }


def test_a_test_whose_process_dies_tells_the_calls_it_was_in(tmp_path: Path) -> None:
    test = 'package shop\n\nimport "testing"\n\nfunc TestAll(t *testing.T) {\n\tTotal([]int{-1})\n}\n'

    _, coverage = measured(laid_out(tmp_path, {**SHOP, "shop_test.go": test}), tests=["shop_test.go"])

    assert lines(coverage) == {"shop_test.go::TestAll": {"shop.go": {9}}}


def test_what_leaves_no_line_is_said(tmp_path: Path) -> None:
    test = (
        'package shop\n\nimport (\n\t"os"\n\t"testing"\n)\n\n'
        "func TestGone(t *testing.T) {\n\tTotal(nil)\n\tos.Exit(3)\n}\n"
    )

    response, coverage = measured(laid_out(tmp_path, {**SHOP, "shop_test.go": test}), tests=["shop_test.go"])

    assert coverage.tests == ()
    assert "of 1 of 1 tests no line is known" in " ".join(each.message for each in response.diagnostics)


def test_a_package_that_vet_refuses_is_measured(tmp_path: Path) -> None:
    test = SHOP["shop_test.go"].replace("t.Error()", 't.Errorf("%d", "a")')

    _, coverage = measured(laid_out(tmp_path, {**SHOP, "shop_test.go": test}))

    assert coverage.report.collection_errors == ()
    assert "shop_test.go::TestTotal" in lines(coverage)


def test_a_package_that_does_not_build_hides_no_other(tmp_path: Path) -> None:
    broken = {**SHOP, "shop.go": "package shop\n\nfunc Total(prices []int) int { return lost }\n"}

    _, coverage = measured(laid_out(tmp_path, broken))

    assert [error.split(":")[0] for error in coverage.report.collection_errors] == ["."]
    assert list(lines(coverage)) == ["rate/rate_test.go::TestOf"]


def test_failing_tests_are_measured_when_there_is_time_for_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(covering, "MOST_CHARS", 1)

    response, coverage = measured(laid_out(tmp_path, SHOP))

    assert [each.test for each in coverage.tests] == ["shop_test.go::TestTotal"]
    assert len(coverage.report.cases) == 3
    assert any("of 2 of 3 tests no line is known" in each.message for each in response.diagnostics)


def test_options_and_variables_of_the_run_reach_each_test(tmp_path: Path) -> None:
    tagged = "//go:build special\n\npackage shop\n\nfunc Special() int {\n\treturn 2\n}\n"
    test = (
        '//go:build special\n\npackage shop\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestSpecial(t *testing.T) {\n'
        '\tif os.Getenv("WISH") == "yes" && testing.Short() {\n\t\tSpecial()\n\t}\n}\n'
    )
    laid_out(tmp_path, {**SHOP, "special.go": tagged, "special_test.go": test})

    _, coverage = measured(
        tmp_path,
        commands=Commands(language="go", test="go test -short -tags=special ./..."),
        environment={"WISH": "yes"},
        artifacts=["special.go"],
    )

    assert lines(coverage) == {"special_test.go::TestSpecial": {"special.go": {6, 7}}}


def test_what_one_test_leaves_running_keeps_no_other_waiting(tmp_path: Path) -> None:
    test = (
        'package shop\n\nimport (\n\t"os/exec"\n\t"testing"\n)\n\n'
        'func TestLeaves(t *testing.T) {\n\texec.Command("sleep", "1000").Start()\n\tTotal(nil)\n}\n\n'
        "func TestAfter(t *testing.T) {\n\tTotal(nil)\n}\n"
    )

    _, coverage = measured(laid_out(tmp_path, {**SHOP, "shop_test.go": test}), tests=["shop_test.go"])

    assert list(lines(coverage)) == ["shop_test.go::TestLeaves", "shop_test.go::TestAfter"]
