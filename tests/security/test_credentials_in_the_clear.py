"""Whoever listens between this machine and a server, and whoever reads what is printed, gets no credential."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from cogworks.errors import ConfigurationError
from cogworks.services.python.index_gateway import Gateway, Unreachable
from cogworks.services.python.package_index import Indexes
from cogworks.settings.config import Config, read_environment
from cogworks.settings.sections import LlmConfig
from cogworks.wiring.model import open_provider
from tests import forking
from tests.codebase.test_git_redirects import Listener, listening
from tests.end_to_end.scene import HOST_ENVIRONMENT

TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ"
PASSWORD = "hunter2"


@pytest.fixture
def wire() -> Iterator[Listener]:
    """Somebody between us and every server: the proxy that all requests without encryption pass."""
    with listening(Listener()) as listener:
        yield listener


@pytest.mark.parametrize("command", ["process", "status", "poll", "doctor", "fsck", "gc"])
def test_no_token_passes_the_wire_unencrypted(tmp_path: Path, wire: Listener, command: str) -> None:
    where = "http://ghe.example/o/r" + ("" if command in ("poll", "gc") else "/issues/1")
    environment = {
        **HOST_ENVIRONMENT,
        "HOME": str(tmp_path),
        "GH_TOKEN": TOKEN,
        "GITHUB_SERVER_URL": "http://ghe.example",
        "http_proxy": wire.url,
    }

    ended = forking.cogworks(command, where, env=environment, timeout=60)

    assert wire.arrived == []
    assert ended.returncode == 2
    assert "https://ghe.example/o/r" in ended.stderr


def test_no_key_of_a_model_passes_the_wire_unencrypted(wire: Listener) -> None:
    environment = read_environment(
        {"ANTHROPIC_API_KEY": "key", "COGWORKS_LLM_BASE_URL": "http://llm.example"}
    )
    config = Config(llm=LlmConfig(model="claude-sonnet-5-5"))

    with (
        pytest.raises(ConfigurationError, match=re.escape("use https://llm.example")),
        open_provider(config, environment),
    ):
        pass

    assert wire.arrived == []


def test_no_password_of_a_package_index_passes_the_wire_unencrypted(
    wire: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", wire.url)
    gateway = Gateway(Indexes(urls=(f"http://me:{PASSWORD}@index.example/simple/",)))

    with pytest.raises(Unreachable, match=re.escape("use https://index.example/simple/")) as told:
        gateway.page("pytest")
    gateway.close()

    assert wire.arrived == []
    assert PASSWORD not in str(told.value)


def test_an_index_without_a_password_may_be_asked_as_pip_may(
    wire: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", wire.url)
    gateway = Gateway(Indexes(urls=("http://index.example/simple/",)))

    with suppress(Unreachable):
        gateway.page("pytest")
    gateway.close()

    assert wire.arrived != []


@pytest.mark.parametrize("password", [PASSWORD, f"a/{PASSWORD}", f"a?{PASSWORD}", f"a#{PASSWORD}"])
def test_no_password_of_a_package_index_is_told(password: str) -> None:
    gateway = Gateway(Indexes(urls=(f"https://me:{password}@127.0.0.1:1/simple/",)))

    with pytest.raises(Unreachable) as told:
        gateway.page("pytest")
    gateway.close()

    assert PASSWORD not in str(told.value)
    assert not any(PASSWORD in problem for problem in gateway.problems)


@pytest.mark.parametrize(
    "where",
    [f"https://me:{PASSWORD}@github.com:x/o/r/issues/1", f"ftp://me:a/{PASSWORD}@github.com/o/r/issues/1"],
)
def test_no_password_in_a_url_is_repeated(tmp_path: Path, where: str) -> None:
    environment = {**HOST_ENVIRONMENT, "HOME": str(tmp_path), "GH_TOKEN": TOKEN}

    ended = forking.cogworks("process", where, "--json", env=environment, timeout=60)

    assert ended.returncode == 2
    assert PASSWORD not in ended.stdout + ended.stderr
