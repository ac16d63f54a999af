"""A library of the system that is missing is named with what to do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.repair.unloaded import debian_package, library_remedies


def test_a_library_that_cannot_be_opened_is_named_once() -> None:
    error = (
        "tests/test_a.py: ImportError: libfoo.so.1: cannot open shared object file: No such file or directory"
    )

    (told,) = library_remedies([error, error])

    assert told.startswith("`libfoo.so.1` belongs to the system")
    assert "`apt-get install libfoo1`" in told
    assert "apt-file search libfoo.so.1`" in told
    assert "`dnf provides '*/libfoo.so.1'`" in told


@pytest.mark.parametrize(
    ("library", "package"),
    [
        ("libpq.so.5", "libpq5"),
        ("libGL.so.1", "libgl1"),
        ("libusb-1.0.so.0", "libusb-1.0-0"),
        ("libgeos_c.so.1", "libgeos-c1"),
        ("libnss3.so", "libnss3"),
        ("libglib-2.0.so.0", "libglib2.0-0"),
        (".so", ""),
    ],
)
def test_the_package_has_the_name_that_debian_gives_it(library: str, package: str) -> None:
    assert debian_package(library) == package


def test_other_errors_have_no_such_remedy() -> None:
    assert library_remedies(["tests/test_a.py: SyntaxError: invalid syntax"]) == ()


@given(st.lists(st.text(max_size=200)))
def test_whatever_a_loader_prints_is_survived(errors: list[str]) -> None:
    assert len(library_remedies(errors)) <= 1
