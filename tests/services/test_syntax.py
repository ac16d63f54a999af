"""What the Python service says of syntax."""

import pytest

from cogworks.domain_services.messages import Diagnostic
from cogworks.services.python.syntax import is_python, syntax_problems
from cogworks.vocabulary import Severity


def test_a_good_file_has_no_problem() -> None:
    assert syntax_problems("a.py", b"x = 1\n") == ()


def test_a_problem_has_line_column_and_source() -> None:
    assert syntax_problems("a.py", b"x = 1\nif x\n    pass\n") == (
        Diagnostic(
            artifact="a.py",
            line=2,
            severity=Severity.BLOCKING,
            category="syntax_error",
            message="expected ':', column 5: if x",
        ),
    )


def test_a_warning_of_the_compiler_does_not_block() -> None:
    (found,) = syntax_problems("a.py", b"x = 1\ny = '\\d'\n")

    assert (found.line, found.severity) == (2, Severity.WARNING)


@pytest.mark.parametrize(
    "source",
    [
        b"return 1\n",
        b"x = '\0'\n",
        b"# coding: nonsense\n",
        b"\xff\xfe",
        b"(" * 5000,
        b"def f(:\n",
        b"x = 1\n\ty = 2\n",
    ],
    ids=["return", "nul", "coding", "bytes", "deep", "parameters", "indent"],
)
def test_whatever_cannot_be_compiled_is_one_blocking_diagnostic(source: bytes) -> None:
    (found,) = syntax_problems("a.py", source)

    assert found.severity is Severity.BLOCKING
    assert found.message


def test_nothing_is_run() -> None:
    assert syntax_problems("a.py", b"raise SystemExit\n") == ()


def test_only_python_files_are_its_business() -> None:
    assert [path for path in ("a.py", "b.pyi", "c.txt", "py") if is_python(path)] == ["a.py", "b.pyi"]
