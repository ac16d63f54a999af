"""`environment = "prepared"`: the Python that an earlier step of this machine or workflow put packages into."""

import os
import shutil
import sys
from pathlib import Path

from cogworks.domain_services.messages import ErrorCode, RepositorySettings
from cogworks.services.python.interpreters import Interpreter, NotBuilt
from cogworks.services.python.pythons import asked_python


def prepared_interpreter(
    settings: RepositorySettings, search_path: str, virtual_env: str = ""
) -> Interpreter:
    """The interpreter that is configured, else that of `$VIRTUAL_ENV`, else the `python3` of PATH; nothing is installed.

    Raises:
        NotBuilt: there is none, or it does not run.
    """
    program, source = _named(settings.python, search_path, virtual_env)
    python = asked_python(program) if program else None
    if program is None or python is None:
        raise NotBuilt(
            f'`environment = "prepared"` wants a Python that an earlier step prepared, and {source} is none that runs. Name it '
            'by `python = "/path/to/python"` under `[environment]`, or activate its virtual environment before cogworks starts.',
            ErrorCode.TOOL_NOT_FOUND,
        )
    # The folder that is named and not where links of it lead: packages may have put those there.
    prefix = program.parent.parent
    return Interpreter(
        program,
        prefix,
        f"the prepared Python {python.version} at {prefix}",
        (program.parent,),
        (
            f"nothing was installed: the tests run with the prepared Python {python.version} ({source})",
            *_not_run(settings),
        ),
        variables=dict(settings.variables),
        base=python.base,
    )


def _named(configured: str, search_path: str, virtual_env: str) -> tuple[Path | None, str]:
    if configured:
        return Path(configured), f"`[environment] python` ({configured})"
    if virtual_env:
        return Path(virtual_env, "bin", "python"), f"$VIRTUAL_ENV ({virtual_env})"
    own = Path(sys.executable).parent
    others = os.pathsep.join(each for each in search_path.split(os.pathsep) if each and Path(each) != own)
    found = shutil.which("python3", path=others)
    return (Path(found) if found else None), "`python3` on PATH"


def _not_run(settings: RepositorySettings) -> tuple[str, ...]:
    """That a setup is not run, where there is one."""
    if not (settings.setup or settings.setup_script):
        return ()
    key = "`[environment] setup`" if settings.setup else "`.cogworks/setup.sh`"
    return (f'{key} is not run: `environment = "prepared"` says that an earlier step did everything',)
