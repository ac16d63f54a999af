"""A prepared environment is used as it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cogworks.domain_services.messages import ErrorCode, Repository, Request
from cogworks.services.python.choosing import interpreter_for
from cogworks.services.python.environments import Environments
from cogworks.services.python.machine import Machine
from cogworks.services.python.pythons import Interpreter, NotBuilt
from cogworks.services.python.testrun import run_tests
from cogworks.services.python.wanted import Wanted
from cogworks.wiring.services import repository_settings
from tests.limits import ENDS_WITHIN_S
from tests.services.asking import laid_out
from tests.services.package_server import wheel, with_pytest
from tests.services.pythons import HERE, WITH_UV

FILES = {
    "pyproject.toml": '[build-system]\nrequires = ["nowhere-to-be-had"]\n[project]\nname = "shop"\nversion = "1"\n'
    'dependencies = ["also-nowhere"]\n',
    "shop.py": "import till\n\nNAME = till.NAME\n",
    "test_shop.py": "import shop\n\n\ndef test_name():\n    assert shop.NAME == 'till'\n",
}


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an earlier step prepared: an environment with pytest and one more package."""
    folder = tmp_path_factory.mktemp("prepared")
    with_pytest(folder)
    wheel(folder, "till", "1.0", {"till.py": "NAME = 'till'\n"})
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True, timeout=ENDS_WITHIN_S
    )
    python = folder / "venv" / "bin" / "python"
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-index",
    ]
    subprocess.run([*command, f"--find-links={folder}", "pytest", "till"], check=True, timeout=ENDS_WITHIN_S)
    return folder / "venv"


def chosen(folder: Path, configured: str) -> Interpreter:
    files = {"config.toml": configured}
    repository = Repository(path=str(folder), settings=repository_settings(files))
    request = Request(request_id="1", method="simulate", repository=repository)
    machine = Machine(WITH_UV, HERE, Environments(Path(os.devnull), settings={}))
    return interpreter_for(request, folder, machine, limit_s=100)


def test_a_prepared_environment_is_used_as_it_is(venv: Path, tmp_path: Path) -> None:
    copy = laid_out(tmp_path, FILES)

    found = chosen(copy, f'[environment]\nmode = "prepared"\npython = "{venv}/bin/python"\n')
    report = run_tests(copy, Wanted(interpreter=found), isolation=HERE, search_path=WITH_UV)

    assert [(case.id, case.outcome) for case in report.cases] == [("test_shop.py::test_name", "passed")]
    assert "nothing was installed" in found.notes[0]


def test_the_short_form_takes_the_active_virtual_environment(
    venv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(venv))

    assert chosen(laid_out(tmp_path, FILES), 'environment = "prepared"\n').python == venv / "bin" / "python"


def test_a_prepared_python_that_does_not_run_is_refused_with_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(NotBuilt) as refused:
        chosen(laid_out(tmp_path, FILES), '[environment]\nmode = "prepared"\npython = "/nowhere/python"\n')

    assert "`[environment] python` (/nowhere/python) is none that runs" in str(refused.value)
    assert refused.value.code == ErrorCode.TOOL_NOT_FOUND
