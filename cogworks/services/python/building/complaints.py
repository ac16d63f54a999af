"""Why a build failed, in words of which somebody can make use."""

import re
from collections.abc import Mapping

_SIGNS: Mapping[str, str] = {
    r"Python\.h: No such file": "the headers of Python are missing (Debian: `apt-get install python3-dev`)",
    r"(command '?(/\S+/)?(x86_64-linux-gnu-)?g?cc'? failed: No such file|unable to execute '?(x86_64-linux-gnu-)?gcc|"
    r"No such file or directory: '?(gcc|cc|c\+\+|g\+\+)|Unknown compiler\(s\))": (
        "a C compiler is missing (Debian: `apt-get install build-essential`)"
    ),
    r"(can't find Rust compiler|Rust not found|cargo, the Rust package manager, is not installed|`cargo` .* not found|"
    r"No such file or directory: '?(cargo|rustc)|rustc, the rust compiler, is not installed)": (
        "a Rust toolchain is missing (Debian: `apt-get install cargo`, or rustup)"
    ),
    r"pg_config executable not found|libpq-fe\.h": "libpq is missing (Debian: `apt-get install libpq-dev`)",
    r"(libxml2|libxslt)[^\n]{0,60}(not found|packages are installed)|libx(ml|slt)/\w+\.h: No such file": "libxml2 and libxslt are missing (Debian: `apt-get install libxml2-dev libxslt1-dev`)",
    r"ffi\.h: No such file": "libffi is missing (Debian: `apt-get install libffi-dev`)",
    r"openssl/\w+\.h: No such file": "OpenSSL's headers are missing (Debian: `apt-get install libssl-dev`)",
    r"mysql_config|mysql\.h": "MySQL's client is missing (Debian: `apt-get install default-libmysqlclient-dev`)",
    r"zlib\.h: No such file": "zlib is missing (Debian: `apt-get install zlib1g-dev`)",
    r"jpeglib\.h|headers or library files could not be found for jpeg": "libjpeg is missing (Debian: `apt-get install libjpeg-dev`)",
    r"CMake must be installed|cmake: (command )?not found|No such file or directory: '?cmake": (
        "CMake is missing (Debian: `apt-get install cmake`)"
    ),
    r"gfortran.*not found|Unknown compiler.*gfortran": "a Fortran compiler is missing (Debian: `apt-get install gfortran`)",
}
_CRATES = re.compile(r"(index|static)\.crates\.io|failed to get `[\w-]{1,64}` as a dependency of package")
_HEADER = re.compile(r"fatal error: (?P<name>[\w./+-]{1,100}): No such file")
_SAID_LINES = 6
_SAID_CHARS = 800
_NOISE = re.compile(r"\s*(\[notice\]|\[end of output\]|note: |hint: |×|╰|│|-----|error: subprocess-exited)")


def build_complaint(output: str, backend: str) -> str:
    """What went wrong, what is missing where that is known, and the backend's own last words.

    Args:
        output: the last that the build printed.
    """
    lines = [line.strip() for line in output.splitlines() if line.strip() and not _NOISE.match(line)]
    last_words = " | ".join(lines[-_SAID_LINES:])[-_SAID_CHARS:] or "nothing"
    remedy = missing_tools(output)
    return f"the project cannot be built by {backend}.{remedy and f' {remedy}'} It said: {last_words}."


def missing_tools(output: str) -> str:
    """What a machine lacks on which something cannot be compiled, with what to do, as a sentence; empty: unknown.

    Args:
        output: the last that a build printed.
    """
    if _CRATES.search(output):
        return (
            "It wants crates that are not in the repository, and a build reaches the index of Python packages alone: keep them there "
            '(`cargo vendor`), or let `environment = "prepared"` use what an earlier step built.'
        )
    cause = next((text for sign, text in _SIGNS.items() if re.search(sign, output)), "")
    if not cause and (header := _HEADER.search(output)):
        cause = f"the header {header['name']} is missing (a package of development files brings it)"
    return f"{cause[0].upper()}{cause[1:]}; install it on the machine that runs cogworks." if cause else ""
