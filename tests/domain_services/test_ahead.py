"""A service that is started ahead: who gets its process, and what becomes of it when nobody does."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cogworks.domain_services.ahead import Ahead, started_ahead
from cogworks.domain_services.opening import open_transport
from cogworks.domain_services.process import ServiceProcess
from cogworks.settings.config import read_environment
from cogworks.wiring.services import services_of

SCRIPT = Path(__file__).parent / "broken" / "service.py"
LOADING = "import sys, cogworks.domain_services.ahead; print(*sys.modules)"


def command(folder: Path, behaviour: str = "good") -> list[str]:
    (folder / behaviour).touch()
    return [sys.executable, "-S", "-E", str(SCRIPT), behaviour, str(folder / behaviour)]


def handshake(process: ServiceProcess) -> bytes:
    asked = b'{"request_id": "a", "method": "handshake", "params": {}}\n'
    return process.exchange("handshake", asked, limit_s=10.0)


def test_whoever_orders_the_same_gets_the_process_that_was_started_ahead(tmp_path: Path) -> None:
    words = command(tmp_path)
    ahead = Ahead(words, environment=os.environ, variables={"A": "b"})

    process = ahead(words, environment=os.environ, start_s=10.0, variables={"A": "b"})
    another = ahead(words, environment=os.environ, start_s=10.0, variables={"A": "b"})
    ahead.close()

    try:
        assert b"scripted" in handshake(process)
        assert b"scripted" in handshake(another)
        assert process.pid != another.pid
    finally:
        process.close()
        another.close()


@pytest.mark.parametrize("other", ["command", "variables", "search path"])
def test_whoever_orders_something_else_gets_a_process_of_their_own(tmp_path: Path, other: str) -> None:
    words = command(tmp_path)
    ahead = Ahead(words, environment=os.environ)
    variables = {"A": "b"} if other == "variables" else {}
    environment = {**os.environ, "PATH": "/usr/bin"} if other == "search path" else os.environ

    wanted = [*words, "more"] if other == "command" else words
    process = ahead(wanted, environment=environment, start_s=10.0, variables=variables)

    try:
        again = ahead(words, environment=os.environ, start_s=10.0)
        assert again.pid != process.pid
        again.close()
    finally:
        process.close()
        ahead.close()


def test_the_process_that_nobody_ordered_ends_with_the_block_and_its_folder_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TemporaryDirectory(prefix="ahead-", dir="/tmp") as temporary:
        monkeypatch.setattr("tempfile.tempdir", temporary)
        ahead = Ahead(command(tmp_path), environment=os.environ)
        began = list(Path(temporary).iterdir())
        ahead.close()
        left = list(Path(temporary).iterdir())

    assert (len(began), left) == (1, [])


def test_a_process_that_cannot_be_started_is_left_to_whoever_orders_it() -> None:
    ahead = Ahead(["/nowhere/at-all"], environment=os.environ)

    ahead.close()


def test_what_a_repository_gets_without_saying_anything_is_what_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work.py").touch()
    environ = {**os.environ, "COGWORKS_WORK_DIR": str(tmp_path / "work"), "PIP_NO_INDEX": "1"}
    (service,) = services_of(read_environment(environ), {}, ["work.py"])

    # The path of a socket must be short.
    with TemporaryDirectory(prefix="ahead-", dir="/tmp") as temporary:
        monkeypatch.setattr("tempfile.tempdir", temporary)
        with started_ahead(tmp_path, environ) as starts:
            transport = open_transport(service, environ, starts=starts)
            processes = list(Path(temporary).iterdir())
            transport.close()
        left = list(Path(temporary).iterdir())

    assert (len(processes), left) == (1, [])


@pytest.mark.parametrize(
    ("files", "variables"),
    [
        (["work.py", ".cogworks/services.toml"], {}),
        (["go.mod"], {}),
        (["work.py"], {"COGWORKS_DOMAIN_SERVICES_CONFIG": "/etc/services.toml"}),
    ],
    ids=["the-repository-names-services", "another-language", "the-operator-names-services"],
)
def test_nothing_is_started_where_something_else_will_be_asked(
    tmp_path: Path, files: list[str], variables: dict[str, str]
) -> None:
    for each in files:
        place = tmp_path / each
        place.parent.mkdir(exist_ok=True)
        place.touch()

    with started_ahead(tmp_path, {**os.environ, **variables}) as starts:
        assert starts is ServiceProcess


def test_it_is_started_before_anything_that_takes_long_is_loaded() -> None:
    told = subprocess.run(
        [sys.executable, "-c", LOADING], capture_output=True, text=True, check=True, timeout=120
    )  # our own words

    assert not {"pydantic", "httpx", "cogworks.settings.config"} & set(told.stdout.split())
