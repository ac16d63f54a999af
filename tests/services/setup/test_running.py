"""A setup behind real walls: what it leaves, and one clear message for whatever goes wrong."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.messages import ErrorCode
from cogworks.services.python.building.checkout import checkout_of
from cogworks.services.python.pythons import NotBuilt
from cogworks.services.sandbox.running import Ended
from cogworks.services.setup.complaints import Attempt, not_set_up
from cogworks.services.setup.running import Ground, Means, set_up
from cogworks.services.setup.setups import Setup, commands_of
from tests.limits import ENDS_WITHIN_S
from tests.services.asking import HERE, laid_out

FILES = {"a.txt": "a\n", "tools/gen.sh": "cat a.txt a.txt > twice.txt\n"}
FETCH = "python3 -c \"import urllib.request; urllib.request.urlopen('{}')\""
pytestmark = pytest.mark.skipif(not HERE.is_complete, reason="no complete isolation on this machine")


class Done:
    """What came of a setup."""

    def __init__(self, place: Path, noted: dict[str, Any]) -> None:
        self.place = place
        self.notes = noted["notes"]

    def text(self, path: str) -> str:
        return (self.place / path).read_text("utf-8")


def done(folder: Path, *lines: str, limit_s: float = ENDS_WITHIN_S, script: str = "", **means: Any) -> Done:
    repository = laid_out(folder / "repository", FILES)
    ground = Ground(checkout_of(repository, None, search_path=os.environ["PATH"]))
    usual = Means(HERE, os.environ["PATH"], {"PIP_NO_INDEX": "1"}, folder)
    place = folder / "layer"
    noted = set_up(Setup(lines, script), ground, usual._replace(**means), place, limit_s=limit_s)
    return Done(place, dict(noted))


def refused(folder: Path, *lines: str, **asked: Any) -> NotBuilt:
    with pytest.raises(NotBuilt) as failure:
        done(folder, *lines, **asked)
    assert not (folder / "layer").exists()
    return failure.value


@pytest.mark.slow
def test_what_a_setup_makes_in_copy_and_home_is_kept_and_the_repository_is_not_touched(
    tmp_path: Path,
) -> None:
    made = done(tmp_path, "sh tools/gen.sh", "mkdir ~/models && echo m > ~/models/m.bin", "echo b >> a.txt")

    assert made.text("files/twice.txt") == "a\na\n"
    assert made.text("home/models/m.bin") == "m\n"
    assert not (made.place / "files/a.txt").exists()
    assert "changed `a.txt` of the repository" in made.notes[0]
    assert (tmp_path / "repository/a.txt").read_text() == "a\n"


def test_lines_run_before_the_script_and_windows_line_ends_are_told(tmp_path: Path) -> None:
    made = done(tmp_path, "echo one > log", script="#!/bin/sh\r\necho two >> log\r\n")

    assert made.text("files/log") == "one\ntwo\n"
    assert "line ends of Windows" in made.notes[0]


INSTALL_NODE = (
    'mkdir -p ~/.local/bin ~/.local/lib/node/bin ~/.local/lib/node/include/node && cd ~/.local/lib/node && printf "" > bin/node && '
    "chmod +x bin/node && touch include/node/node_version.h && ln -s ../lib/node/bin/node ~/.local/bin/node"
)


def test_native_modules_are_compiled_for_the_node_that_an_earlier_command_installed(tmp_path: Path) -> None:
    made = done(tmp_path, INSTALL_NODE, 'echo "$npm_config_nodedir" > seen; echo ~/.local/lib/node >> seen')

    [headers, wanted] = made.text("files/seen").splitlines()
    assert headers == wanted


@pytest.mark.parametrize(
    ("variable", "name"), [("PLAYWRIGHT_BROWSERS_PATH", "ms-playwright"), ("CYPRESS_CACHE_FOLDER", "Cypress")]
)
def test_a_browser_that_a_setup_fetches_is_kept_where_runs_look_for_it(
    variable: str, name: str, tmp_path: Path
) -> None:
    place = f'"${{{variable}:-${{XDG_CACHE_HOME:-$HOME/.cache}}/{name}}}"'
    made = done(tmp_path, f"mkdir -p {place} && echo browser > {place}/chrome")

    assert made.text(f"home/.cache/{name}/chrome") == "browser\n"


def test_no_secret_of_the_machine_reaches_a_setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", "gh-secret")
    settings = {"PIP_INDEX_URL": "https://me:pip-secret@pip.example.com/simple/", "GOPROXY": "https://me:go-secret@go.example.com", "HTTPS_PROXY": "http://me:proxy-secret@127.0.0.1:9"}  # fmt: skip
    laid_out(tmp_path, {".npmrc": "registry=https://me:npm-secret@npm.example.com/\n"})
    made = done(
        tmp_path, "env > seen; cat /proc/1/environ /proc/*/environ >> seen || true", settings=settings
    )

    seen = made.text("files/seen")
    assert "secret" not in seen
    assert "npm_config_registry=https://npm.example.com/" in seen
    assert "HTTPS_PROXY=http://127.0.0.1:" in seen
    assert "https_proxy=http://127.0.0.1:" in seen


def test_a_setup_that_fails_is_told_with_its_command_its_status_and_its_last_words(tmp_path: Path) -> None:
    failure = refused(tmp_path, "true", "echo no such thing >&2; exit 4", "touch never")

    assert str(failure) == (
        "the setup `echo no such thing >&2; exit 4` (2 of 3 in `.cogworks/config.toml`) ended with 4. Its last words:\n"
        "no such thing\n"
        'Mend it on the base branch, or install in a step before cogworks and say `environment = "prepared"` in '
        "`.cogworks/config.toml`."
    )
    assert failure.code == ErrorCode.TOOL_FAILED


@pytest.mark.slow
def test_a_setup_that_hangs_is_ended_at_the_limit_which_is_named(tmp_path: Path) -> None:
    failure = refused(tmp_path, "echo waiting; sleep 3600", limit_s=2.0)

    assert failure.code == ErrorCode.TIMEOUT
    assert "did not finish in 2 s, the limit of the operation" in str(failure)
    assert "waiting" in str(failure)


def test_a_setup_that_fills_the_disk_is_ended(tmp_path: Path) -> None:
    limits = Means(HERE, "", {}, tmp_path).limits._replace(disk_bytes=2 * 1024**2)
    failure = refused(tmp_path, "dd if=/dev/zero of=big bs=1M count=20; sleep 3600", limits=limits)

    assert "was ended, for it wrote more than 2 MiB to the disk" in str(failure)


def test_processes_that_a_setup_leaves_are_ended_and_told(tmp_path: Path) -> None:
    made = done(tmp_path, "sleep 3600 & true")

    assert "ended with the run: processes left running:" in made.notes[0]


def test_a_host_that_is_no_registry_is_refused_and_named_with_what_would_allow_it(tmp_path: Path) -> None:
    failure = refused(tmp_path, FETCH.format("https://example.com/install.sh"))

    assert str(failure).startswith(
        "The setup asked for example.com:443, which is not among the package registries; the operator can allow it by"
    )
    assert "`COGWORKS_REGISTRY_HOSTS=example.com`" in str(failure)
    assert not failure.is_recoverable


def test_a_setup_that_goes_on_without_a_host_says_so(tmp_path: Path) -> None:
    made = done(tmp_path, f"{FETCH.format('https://example.com/')} || true")

    [note] = made.notes
    assert note.startswith("the setup asked for example.com:443, which is not among the package registries")


@pytest.mark.parametrize("address", ["10.0.0.1:80", "127.0.0.1:22", "[::1]:80"])
def test_no_address_is_reached_without_the_door(address: str, tmp_path: Path) -> None:
    host, _, port = address.rpartition(":")
    code = f"import socket; socket.create_connection(({host.strip('[]')!r}, {port}), 5)"
    failure = refused(tmp_path, f'python3 -c "{code}"')

    assert "ended with 1" in str(failure)


def test_a_registry_that_is_down_is_named_and_may_be_tried_again(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    settings = {"PIP_NO_INDEX": "1", "COGWORKS_REGISTRY_HOSTS": f"127.0.0.1:{port}"}
    fetch = f"NO_PROXY= no_proxy= {FETCH.format(f'http://127.0.0.1:{port}/')}"
    failure = refused(tmp_path, fetch, settings=settings)

    assert str(failure).startswith(f"A package registry could not be used: 127.0.0.1:{port} does not answer")
    assert failure.is_recoverable


@pytest.mark.parametrize("is_hopeless", [True, False])
def test_the_registry_that_could_not_be_had_is_named_before_the_last_words(is_hopeless: bool) -> None:
    problem = "index.crates.io:443 cannot be resolved: Name or service not known"
    setup = Setup(("cargo fetch",), source="Cargo.toml")
    ended = Ended(code=101, timed_out=False, output="error: failed\n", blocked=())
    [command] = commands_of(setup, "")
    failure = not_set_up(
        Attempt(
            setup, command, ended, 60.0, problems=(problem,), is_hopeless=is_hopeless, hints=("Mend it.",)
        )
    )

    assert str(failure) == (
        f"A package registry could not be used: {problem}. Check the network of this machine, then try again. "
        "The setup `cargo fetch` (1 of 1 in `Cargo.toml`) ended with 101. Its last words:\nerror: failed\nMend it."
    )
    assert failure.is_recoverable is not is_hopeless


def test_what_gems_a_setup_installs_lie_in_its_home_whoever_runs_it(tmp_path: Path) -> None:
    made = done(
        tmp_path,
        "mkdir -p $GEM_HOME/bin && echo echo of a gem > $GEM_HOME/bin/told",
        "chmod +x ~/.gem/bin/told && told > said",
    )

    assert (made.text("files/said"), made.text("home/.gem/bin/told")) == ("of a gem\n", "echo of a gem\n")


def test_system_packages_are_for_the_machine(tmp_path: Path) -> None:
    failure = refused(tmp_path, "apt-get install -y libpq-dev postgresql || exit 100")

    assert "system packages are for the machine. Install `libpq-dev`, `postgresql` there" in str(failure)
    assert 'say `environment = "prepared"`' in str(failure)


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "Install the program that is not found" in str(refused(tmp_path, "no-such-program --now"))


def test_what_the_operator_wrote_wrongly_is_refused(tmp_path: Path) -> None:
    failure = refused(
        tmp_path, "true", settings={"PIP_NO_INDEX": "1", "COGWORKS_REGISTRY_HOSTS": "https://x"}
    )

    assert failure.code == ErrorCode.INVALID_REQUEST
    assert "COGWORKS_REGISTRY_HOSTS names 'https://x'" in str(failure)
