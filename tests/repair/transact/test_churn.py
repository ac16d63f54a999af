"""Churn counts what a change says, not how it is set."""

from collections.abc import Mapping

import pytest

from cogworks.codebase.diffmodel import Diff
from cogworks.codebase.diffplacing import between
from cogworks.repair.transact.diffrules import DEFAULT_KINDS, FileKind, FileKinds, blank_pairs, churn


def of(path: str, before: str, after: str) -> float:
    return churn(Diff(files=(between(path, before, after),)))


@pytest.mark.parametrize(
    ("path", "before", "after", "wanted"),
    [
        ("src/a.py", "x = 1\n", "x = 2\n", 1.0),
        ("src/a.py", "", "x = 1\ny = 2\n", 1.0),
        ("src/a.py", "x = 1\n", "if y:\n    x = 1\n", 0.5),
        ("src/a.py", "x = 1\ny = 2\n", "    x = 1\n    y = 2\n", 0.0),
        ("src/a.py", "x = 1\n", "# why\n\nx = 1\n", 0.0),
        ("src/a.go", "x := 1\n", "// why\nx := 1\n", 0.0),
        ("src/a.c", "int x;\n", "#include <x.h>\nint x;\n", 0.5),
        ("notes.txt", "", "# not a comment\n", 0.5),
        ("tests/test_a.py", "x = 1\n", "x = 2\n", 0.5),
        ("pyproject.toml", "x = 1\n", "x = 2\n", 1.5),
        ("poetry.lock", "x = 1\n", "x = 2\n", 0.0),
    ],
)
def test_what_a_change_weighs(path: str, before: str, after: str, wanted: float) -> None:
    assert of(path, before, after) == wanted


def test_files_add_up() -> None:
    files = (between("src/a.py", "x\n", "y\n"), between("tests/t.py", "x\n", "y\n"))

    assert churn(Diff(files=files)) == 1.5


def test_weights_and_kinds_are_configurable() -> None:
    diff = Diff(files=(between("src/a.py", "x\n", "y\n"),))
    weights: Mapping[FileKind, float] = {"source": 1.0, "test": 0.0, "config": 0.0, "generated": 7.0}

    assert churn(diff, kinds=FileKinds(generated=("src/*",)), weights=weights) == 7.0


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/a.py", "source"),
        ("test_a.py", "test"),
        ("pkg/tests/a.py", "test"),
        ("a_test.go", "test"),
        ("setup.cfg", "config"),
        (".github/x.yml", "config"),
        ("web/package-lock.json", "generated"),
    ],
)
def test_the_kind_of_a_file(path: str, kind: str) -> None:
    assert DEFAULT_KINDS.kind(path) == kind


def test_lines_that_differ_in_blanks_alone_are_pairs() -> None:
    assert blank_pairs(between("a.py", "x = 1\ny\nz\n", "  x=1\ny\nw\n")) == 1
