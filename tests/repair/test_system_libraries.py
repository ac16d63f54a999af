"""A library of the system that is missing is named with what to do."""

from hypothesis import given
from hypothesis import strategies as st

from cogworks.repair.unloaded import library_remedies


def test_a_library_that_cannot_be_opened_is_named_once() -> None:
    error = (
        "tests/test_a.py: ImportError: libfoo.so.1: cannot open shared object file: No such file or directory"
    )

    (told,) = library_remedies([error, error])

    assert told.startswith("`libfoo.so.1` belongs to the system")
    assert "`apt-file search libfoo.so.1`" in told


def test_other_errors_have_no_such_remedy() -> None:
    assert library_remedies(["tests/test_a.py: SyntaxError: invalid syntax"]) == ()


@given(st.lists(st.text(max_size=200)))
def test_whatever_a_loader_prints_is_survived(errors: list[str]) -> None:
    assert len(library_remedies(errors)) <= 1
