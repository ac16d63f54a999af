"""Which tests a repair is about, where nobody names any."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport
from cogworks.errors import UsageError
from cogworks.repair.instance import Instance
from cogworks.repair.violations import Reading
from cogworks.settings.config import read_environment
from cogworks.wiring.fix import open_repair
from cogworks.wiring.fix_order import Order
from cogworks.wiring.fix_targets import with_failing
from tests.fakes import ScriptedModel
from tests.fixing import PATIENT, make_shop

ENVIRONMENT = read_environment({"COGWORKS_LLM_PROVIDER": "cassette", "HOME": "/nonexistent"})

INSTANCE = Instance(instance_id="shop", failing_tests=())
UNDECLARED = (
    "tests/test_cart.py: shop/cart.py:1: in <module>\nE   ModuleNotFoundError: No module named 'yaml'"
)
REMEDY = 'Write `packages = ["pyyaml"]` below `[environment]`.'


class Suite:
    """Checks whose tests always give one report."""

    def __init__(self, report: TestReport) -> None:
        self.report = report

    def static(self, paths: Sequence[str]) -> Sequence[Diagnostic]:
        raise AssertionError(f"nobody asks for findings in {paths}")

    def read(self, images: Mapping[str, str | None]) -> Reading:
        raise AssertionError(f"nobody asks what the language says of {images}")

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport:
        return self.report


def targets(report: TestReport) -> tuple[str, ...]:
    return with_failing(INSTANCE, Suite(report), lambda _: None).failing_tests


def test_where_no_test_loads_for_what_is_not_installed_nobody_is_asked_and_the_remedy_is_told() -> None:
    with pytest.raises(UsageError) as refused:
        targets(TestReport(cases=(), collection_errors=(UNDECLARED,), remedies=(REMEDY,)))

    said = str(refused.value)
    assert (
        "`tests/test_cart.py` ends with `ModuleNotFoundError: No module named 'yaml'` (at `shop/cart.py:1`)"
        in said
    )
    assert REMEDY in said
    assert "--test ID" in said


def test_where_the_code_keeps_tests_from_being_loaded_their_files_are_repaired() -> None:
    error = "tests/test_cart.py: shop/cart.py:1: in <module>\nE   NameError: name 'euro' is not defined"

    assert targets(TestReport(cases=(), collection_errors=(error,))) == ("tests/test_cart.py",)


def test_where_a_module_of_the_repository_is_missing_what_imports_it_is_repaired() -> None:
    error = "tests/test_cart.py: shop/__init__.py:1: in <module>\nE   ModuleNotFoundError: No module named 'shop.crat'"
    report = TestReport(cases=(), collection_errors=(error,), remedies=("It belongs to this repository.",))

    found = with_failing(INSTANCE, Suite(report), lambda _: None, is_own=lambda name: name == "shop")

    assert found.failing_tests == ("tests/test_cart.py",)


@pytest.mark.parametrize(
    ("failing", "wanted"),
    [
        (["tests/test_a.py::x", "a.py::ruff", "a.py::ruff::format", "b.py::mypy"], ["tests/test_a.py::x"]),
        (["a.py::ruff", "b.py::FLAKE8"], ["a.py::ruff", "b.py::FLAKE8"]),
    ],
    ids=["linters beside a test", "nothing but linters"],
)
def test_checks_of_linters_are_repaired_only_where_nothing_else_fails(
    failing: list[str], wanted: list[str]
) -> None:
    said: list[str] = []

    found = with_failing(INSTANCE, Suite(_failed(failing)), said.append)

    assert list(found.failing_tests) == wanted
    assert ("3 check(s) of a linter fail and are left alone: a.py::ruff," in "\n".join(said)) == (
        len(wanted) == 1
    )


@pytest.mark.parametrize(
    ("uncommitted", "hint"),
    [
        (
            ["tests/test_b.py", "a.py"],
            "1 of them in uncommitted file(s) of tests; for those alone: --test 'tests/test_b.py::y[a b]'",
        ),
        (["a.py"], ""),
        (["tests/test_a.py", "tests/test_b.py"], ""),
    ],
    ids=["one of two", "no tests", "all"],
)
def test_failing_tests_in_uncommitted_files_are_pointed_out_among_others(
    uncommitted: list[str], hint: str
) -> None:
    said: list[str] = []
    failing = ["tests/test_a.py::x", "tests/test_b.py::y[a b]"]

    found = with_failing(INSTANCE, Suite(_failed(failing)), said.append, uncommitted=uncommitted)

    assert list(found.failing_tests) == failing
    assert said[1:] == ([hint] if hint else [])


def _failed(tests: Sequence[str]) -> TestReport:
    return TestReport(cases=tuple(TestCase(id=each, outcome="failed") for each in tests))


def test_tests_that_run_and_fail_are_repaired_whatever_else_lacks_a_package() -> None:
    report = TestReport(
        cases=(TestCase(id="tests/test_till.py::test_sum", outcome="failed"),),
        collection_errors=(UNDECLARED,),
        remedies=(REMEDY,),
    )

    assert targets(report) == ("tests/test_till.py::test_sum",)


def test_places_that_cannot_be_loaded_are_named_beside_the_tests_that_are_repaired() -> None:
    errors = (
        "compiler: compiler/compiler.go:376: redundant and",
        "syntax/ast: syntax/ast/a_test.go:2: Errorf",
    )
    report = TestReport(
        cases=(TestCase(id="glob_test.go::TestGlob", outcome="failed"),), collection_errors=errors
    )
    said: list[str] = []

    found = with_failing(INSTANCE, Suite(report), said.append)

    assert found.failing_tests == ("glob_test.go::TestGlob",)
    assert said == [
        "1 of 1 test(s) to repair: glob_test.go::TestGlob",
        "tests in 2 place(s) cannot be loaded and are left alone: compiler, syntax/ast",
    ]


def test_where_no_test_ran_since_no_service_knows_the_language_that_is_said() -> None:
    nothing = Suite(TestReport(cases=()))

    with pytest.raises(
        UsageError, match=r"^no test ran in this repository: it is written in Go\. Add `go\.mod`\.$"
    ):
        with_failing(INSTANCE, nothing, lambda _: None, unserved=lambda: "it is written in Go. Add `go.mod`.")
    with pytest.raises(UsageError, match="--test-cmd"):
        with_failing(INSTANCE, nothing, lambda _: None, unserved=lambda: "")


def test_a_checkout_in_a_language_without_its_manifest_ends_before_a_model_is_asked(tmp_path: Path) -> None:
    glob = make_shop(tmp_path, {"glob.go": "package glob\n", "glob_test.go": "package glob\n"})
    model = ScriptedModel()
    order = Order(glob, INSTANCE, PATIENT)

    with (
        pytest.raises(
            UsageError,
            match=r"^no test ran in this repository: it is written in Go \(100 %\).*\(Go: `go\.mod`\)",
        ),
        open_repair(order, ENVIRONMENT, say=lambda _: None, provider=model),
    ):
        pass
    assert model.requests == []
