"""The address of tests: reported before stored before planned before conventional, and kept as it was said."""

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import cogworks
from cogworks.codegen.handoff import (
    Convention,
    RedRun,
    TestHandoff,
    extension_of,
    is_test_path,
    regression_paths,
    resolved,
)

CONVENTION = Convention(work_item=42, sub_work_item=57, extension=".py")
USUAL = "tests/generated/wi-42/test_issue_57.py"
PATHS = st.from_regex(r"[a-z]{1,6}(/[a-z]{1,6}){0,3}\.py", fullmatch=True)


def handoff(**changes: Any) -> TestHandoff:
    fields: dict[str, Any] = {
        "schema": 1,
        "work_item": 42,
        "sub_work_item": 57,
        "feature_id": "wi-42",
        "test_path": "tests/custom/test_rates.py",
        "extra_paths": ("tests/custom/data.json",),
        "source": "reported",
        "sha256": "a" * 64,
        "extra_sha256": ("b" * 64,),
        "test_ids": ("tests/custom/test_rates.py::test_half_up",),
        "red": RedRun(collected=3, failed=3, passed=0),
        "written_by": "test-writer",
        "attempt": 1,
        "commit": "c" * 40,
    }
    return TestHandoff.model_validate({**fields, **changes})


@pytest.mark.parametrize(
    ("reported", "stored", "planned", "wanted"),
    [
        ("a/test_a.py", "b/test_b.py", ("c/test_c.py",), ("a/test_a.py", "reported")),
        ("", "b/test_b.py", ("c/test_c.py",), ("b/test_b.py", "stored")),
        ("", "", ("src/c.py", "c/test_c.py"), ("c/test_c.py", "planned")),
        ("", "", ("c/test_c.py", "c/test_d.py"), (USUAL, "convention")),
        ("", "", ("src/c.py",), (USUAL, "convention")),
        ("", "", (), (USUAL, "convention")),
    ],
    ids=["reported", "stored", "planned", "planned-twice", "planned-nowhere", "nothing"],
)
def test_who_says_where_the_tests_are(
    reported: str, stored: str, planned: tuple[str, ...], wanted: tuple[str, str]
) -> None:
    found = resolved(reported=reported, stored=stored, planned=planned, convention=CONVENTION)

    assert found == (*wanted, USUAL)


@given(reported=PATHS, stored=PATHS, planned=st.lists(PATHS))
def test_a_reported_path_is_never_recomputed(reported: str, stored: str, planned: list[str]) -> None:
    found = resolved(reported=reported, stored=stored, planned=planned, convention=CONVENTION)

    assert (found.path, found.source) == (reported, "reported")


@pytest.mark.parametrize(
    ("planned", "extension"),
    [
        (("src/adder/adding.py", "tests/test_adding.py", "README.md"), ".py"),
        (("src/lib.rs", "README.md", "CHANGELOG.md"), ".rs"),
        (("cmd/main.go", "cmd/main_test.go", "deploy.yml"), ".go"),
        (("README.md",), ""),
    ],
    ids=["python", "rust", "go", "prose"],
)
def test_the_convention_has_the_extension_of_the_code(planned: tuple[str, ...], extension: str) -> None:
    convention = Convention(work_item=42, sub_work_item=57, extension=extension_of(planned))

    found = resolved(reported="", convention=convention)

    assert found.path == f"tests/generated/wi-42/test_issue_57{extension}"


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("tests/data/rates.json", True),
        ("src/adder/test_adding.py", True),
        ("cmd/main_test.go", True),
        ("web/button.spec.ts", True),
        ("app/AdderTest.java", True),
        ("tests/conftest.py", True),
        ("test.js", True),
        ("packages/queue/test.mjs", True),
        ("index.test-d.ts", True),
        ("polls/tests.py", True),
        ("polls/view_tests.py", True),
        ("src/adder/adding.py", False),
        ("src/contest.py", False),
        ("src/testing_tools.py", False),
        ("docs/specification.md", False),
        (".github/workflows/test.yaml", False),
    ],
)
def test_what_is_a_test_file_by_its_name(path: str, is_test: bool) -> None:
    assert is_test_path(path) is is_test


def test_it_is_kept_as_json_and_read_back_the_same() -> None:
    kept = handoff().as_json()

    assert kept == {
        "schema": 1,
        "work_item": 42,
        "sub_work_item": 57,
        "feature_id": "wi-42",
        "test_path": "tests/custom/test_rates.py",
        "extra_paths": ["tests/custom/data.json"],
        "source": "reported",
        "sha256": "a" * 64,
        "extra_sha256": ["b" * 64],
        "test_ids": ["tests/custom/test_rates.py::test_half_up"],
        "red": {"collected": 3, "failed": 3, "passed": 0, "missing": [], "failing_before": []},
        "written_by": "test-writer",
        "attempt": 1,
        "commit": "c" * 40,
    }
    assert TestHandoff.model_validate(kept) == handoff()


@pytest.mark.parametrize("changes", [{"schema": 2}, {"test_path": ""}, {"where": "x"}], ids=str)
def test_another_shape_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        handoff(**changes)


def test_regressions_are_looked_for_where_the_finished_work_stored_its_tests() -> None:
    outputs: list[dict[str, object]] = [
        {"test_handoff": handoff().as_json()},
        {"test_handoff": handoff(test_path="checks/rates.py").as_json()},
        {"test_handoff": handoff().as_json()},
        {"summary": "tests came with the code"},
    ]

    assert regression_paths(outputs) == ("tests/custom/test_rates.py", "checks/rates.py")


def test_one_function_knows_the_convention_and_is_called_in_one_place() -> None:
    defined, called = [], []
    for source in Path(cogworks.__file__).parent.rglob("*.py"):
        text = source.read_text("utf-8")
        if "tests/generated" in text or "conventional_path" in text:
            nodes = list(ast.walk(ast.parse(text)))
            defined += [n.name for n in nodes if isinstance(n, ast.FunctionDef) and "conventional" in n.name]
            called += [
                n
                for n in nodes
                if isinstance(n, ast.Call) and ast.unparse(n.func).endswith("conventional_path")
            ]

    assert defined == ["conventional_path"]
    assert len(called) == 1
