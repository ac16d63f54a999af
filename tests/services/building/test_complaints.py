"""Why a build failed, in words of which somebody can make use."""

import pytest

from cogworks.services.python.building.complaints import build_complaint, missing_tools


@pytest.mark.parametrize(
    ("output", "named"),
    [
        ("src/fast.c:1:10: fatal error: Python.h: No such file or directory", "apt-get install python3-dev"),
        ("error: command 'gcc' failed: No such file or directory", "apt-get install build-essential"),
        ("error: command 'x86_64-linux-gnu-gcc' failed: No such file or directory", "build-essential"),
        ("ERROR: Unknown compiler(s): [['cc'], ['gcc'], ['clang']]", "build-essential"),
        ("[Errno 2] No such file or directory: 'cargo'", "apt-get install cargo"),
        ("error: can't find Rust compiler", "apt-get install cargo"),
        ("Rust not found, installing into a temporary directory", "apt-get install cargo"),
        ("Error: pg_config executable not found.", "apt-get install libpq-dev"),
        ("Please make sure the libxml2 and libxslt development packages are installed.", "libxml2-dev"),
        ("fatal error: libxml/xmlversion.h: No such file or directory", "libxslt1-dev"),
        ("c/_cffi_backend.c:15:10: fatal error: ffi.h: No such file or directory", "libffi-dev"),
        ("fatal error: openssl/opensslv.h: No such file or directory", "libssl-dev"),
        ("/bin/sh: 1: mysql_config: not found", "default-libmysqlclient-dev"),
        ("zlib.h: No such file or directory", "zlib1g-dev"),
        ("The headers or library files could not be found for jpeg,", "libjpeg-dev"),
        ("CMake Error: cmake: command not found", "apt-get install cmake"),
        ("fatal error: sodium/core.h: No such file or directory", "The header sodium/core.h is missing"),
    ],
)
def test_what_the_machine_lacks_is_named_with_the_package_that_brings_it(output: str, named: str) -> None:
    told = missing_tools(f"building\n{output}\nerror: subprocess-exited-with-error\n")

    assert named in told
    assert told.endswith("install it on the machine that runs cogworks.")


@pytest.mark.parametrize(
    "output", ["", "Collecting libxml2-python", "KeyError: 'version'", "gcc -c fast.c\nerror: expected ;"]
)
def test_nothing_is_named_where_nobody_can_tell(output: str) -> None:
    assert missing_tools(output) == ""


def test_the_last_lines_that_mean_something_are_told() -> None:
    output = "\n".join(
        [*map(str, range(20)), "ValueError: no version", "[end of output]", "", "note: not pip", "╰─> here"]
    )

    told = build_complaint(output, "hatchling.build")

    assert (
        told
        == "the project cannot be built by hatchling.build. It said: 15 | 16 | 17 | 18 | 19 | ValueError: no version."
    )


@pytest.mark.parametrize(
    "output",
    [
        "error: failed to get `pyo3` as a dependency of package `fast v0.1.0 (/fast)`",
        "[6] Could not resolve hostname (Could not resolve host: index.crates.io)",
    ],
)
def test_crates_that_a_build_cannot_fetch_are_told_with_both_ways_out(output: str) -> None:
    told = missing_tools(output)

    assert "`cargo vendor`" in told
    assert '`environment = "prepared"`' in told
