"""Runs the scripts that ship with cogworks."""

import sys
from collections.abc import Callable
from importlib.resources import as_file
from importlib.resources import files as package_files

from cogworks.codebase.scripts import ScriptRun, run_script
from cogworks.errors import NodeFailed
from cogworks.settings import child_environment


def shipped_script(name: str, stdin: str, *, left_s: Callable[[], float | None]) -> ScriptRun:
    """Run a script of the package's `pipeline/scripts/` with this Python.

    Raises:
        NodeFailed: there is no such script.
    """
    folder = package_files("cogworks.pipeline").joinpath("scripts")
    script = folder.joinpath(f"{name}.py")
    if not script.is_file():
        raise NodeFailed(f"this version ships no script {name!r}; correct `call` in the built-in pipeline.")
    with as_file(script) as path:
        command = (sys.executable, "-I", str(path))
        return run_script(command, stdin=stdin, environment=child_environment(), limit_s=left_s())
