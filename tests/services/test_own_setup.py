"""The setup of a repository of Python: in its environment, once, in isolation; what tests find of it."""

import os
import subprocess
import sys
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest

from cogworks.domain_services.messages import Repository, Request
from cogworks.services.python.choosing import interpreter_for
from cogworks.services.python.environments import Environments
from cogworks.services.python.equipping import prepare
from cogworks.services.python.machine import Machine
from cogworks.services.python.pythons import Interpreter, NotBuilt
from cogworks.services.python.testrun import run_tests
from cogworks.services.python.wanted import Wanted
from cogworks.wiring.services import repository_settings
from tests import registries
from tests.limits import ENDS_WITHIN_S
from tests.services.asking import laid_out
from tests.services.package_server import repacked, serving, wheel, with_pytest
from tests.services.pythons import HERE, WITH_UV

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not HERE.is_complete, reason="no complete isolation on this machine"),
]
TEST = """
import pathlib

import till


def test_what_the_setup_left():
    assert till.NAME == "till"
    assert pathlib.Path("generated.txt").read_text() == "made\\n"
    assert (pathlib.Path.home() / "models/m").is_file()
"""
FILES = {"gen.sh": "echo made > generated.txt; mkdir -p ~/models; touch ~/models/m\n", "test_shop.py": TEST}
CONFIG = '[environment]\nsetup = ["python -m pip install till", "sh gen.sh"]\n'


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages")
    with_pytest(folder)
    repacked(folder, "pip")
    wheel(folder, "till", "1.0", {"till.py": "NAME = 'till'\n"})
    return folder


def asked(folder: Path, config: str, *, script: str = "") -> Request:
    files = {"config.toml": config, **({"setup.sh": script} if script else {})}
    repository = Repository(path=str(folder), settings=repository_settings(files))
    return Request(request_id="1", method="prepare", repository=repository)


def machine(kept: Path, index: str) -> Machine:
    return Machine(WITH_UV, HERE, Environments(kept, settings={"PIP_INDEX_URL": index}))


def made(request: Request, folder: Path, on: Machine) -> Interpreter:
    return interpreter_for(request, folder, on, limit_s=ENDS_WITHIN_S)


def committed(folder: Path, files: dict[str, str]) -> Path:
    laid_out(folder, dict(files))
    name = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    for words in (("init", "-q"), ("add", "."), (*name, "commit", "-q", "-m", "x")):
        subprocess.run(["git", *words], cwd=folder, check=True, timeout=ENDS_WITHIN_S)
    return folder


def outcomes(folder: Path, interpreter: Interpreter) -> list[tuple[str, str]]:
    report = run_tests(folder, Wanted(interpreter=interpreter), isolation=HERE, search_path=WITH_UV)
    assert report.collection_errors == ()
    return [(case.id, case.outcome) for case in report.cases]


def test_a_setup_runs_once_in_the_environment_and_every_run_finds_what_it_left(
    packages: Path, tmp_path: Path
) -> None:
    repository = committed(tmp_path / "repository", FILES)
    request = asked(repository, CONFIG)
    with serving(packages) as server:
        on = machine(tmp_path / "kept", server.address)
        first = made(request, repository, on)
        told = prepare(request, repository, on).result

    assert [each["what"] for each in told["choices"]][:2] == [
        "setup `python -m pip install till`",
        "setup `sh gen.sh`",
    ]
    assert told["is_reused"]
    assert not told["follows_from_files"]
    assert outcomes(repository, first) == [("test_shop.py::test_what_the_setup_left", "passed")]
    assert not (repository / "generated.txt").exists()
    # The index is gone, and other sources are no reason to run it again.
    (repository / "test_shop.py").write_text(f"{TEST}\n# changed\n")
    again = made(request, repository, machine(tmp_path / "kept", server.address))
    assert again.prefix == first.prefix
    with pytest.raises(NotBuilt):
        made(asked(repository, CONFIG.replace("sh gen.sh", "sh gen.sh now")), repository, on)


def test_two_at_once_run_a_setup_once_and_another_repository_its_own(packages: Path, tmp_path: Path) -> None:
    first, second = (committed(tmp_path / name, FILES) for name in ("first", "second"))
    with serving(packages) as server:
        on = [machine(tmp_path / "kept", server.address) for _ in range(3)]
        asks = zip((first, first, second), on, strict=True)
        with ThreadPool(3) as pool:
            found = pool.starmap(lambda place, at: made(asked(place, CONFIG), place, at), list(asks))

    assert found[0].prefix == found[1].prefix != found[2].prefix


def test_a_setup_that_fails_leaves_nothing_and_runs_again_when_it_is_mended(
    packages: Path, tmp_path: Path
) -> None:
    repository = committed(tmp_path / "repository", FILES)
    kept = tmp_path / "kept"
    with serving(packages) as server:
        on = machine(kept, server.address)
        with pytest.raises(NotBuilt, match="no-such-file"):
            made(asked(repository, "", script="sh no-such-file.sh\n"), repository, on)
        assert [each.name for each in kept.iterdir() if len(each.name) == 40] == []
        found = made(asked(repository, CONFIG, script="test -f generated.txt\n"), repository, on)

    assert outcomes(repository, found) == [("test_shop.py::test_what_the_setup_left", "passed")]


def test_a_setup_cannot_replace_the_python_of_its_environment(packages: Path, tmp_path: Path) -> None:
    repository = committed(tmp_path / "repository", FILES)
    config = '[environment]\nsetup = ["rm $VIRTUAL_ENV/bin/python; ln -s /bin/sh $VIRTUAL_ENV/bin/python"]\n'
    with serving(packages) as server, pytest.raises(NotBuilt, match="replaced the Python"):
        made(asked(repository, config), repository, machine(tmp_path / "kept", server.address))


def test_a_setup_is_not_run_in_a_prepared_environment_which_is_said(tmp_path: Path) -> None:
    config = f'[environment]\nmode = "prepared"\npython = "{sys.executable}"\nsetup = ["false"]\n'
    found = made(asked(laid_out(tmp_path, dict(FILES)), config), tmp_path, machine(tmp_path / "kept", ""))

    assert "`[environment] setup` is not run" in found.notes[1]


def test_a_package_of_the_public_index_is_installed_through_the_door(tmp_path: Path) -> None:
    registries.need(registries.PYPI)
    repository = committed(
        tmp_path / "repository", {"test_six.py": "import six\n\n\ndef test_six():\n    assert six.PY3\n"}
    )
    on = Machine(WITH_UV, HERE, Environments(tmp_path / "kept", settings=dict(os.environ)))
    found = made(asked(repository, '[environment]\nsetup = ["pip install six==1.17.0"]\n'), repository, on)

    assert outcomes(repository, found) == [("test_six.py::test_six", "passed")]
