"""What is wrong with an environment, walked on a real hub: one message with what to do, and nothing is paid or lost."""

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.end_to_end.test_baseline import comment_of
from tests.end_to_end.test_broken_bases import PROJECT, Broken, index_of, item, step
from tests.end_to_end.test_example_pipelines import classified
from tests.model_server import replied

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),  # seconds on a busy machine; usually a tenth of that
]

SERVICES = ".cogworks/services.toml"
LIMITED = '[[services]]\nname = "python"\nkind = "python"\ntimeouts = { prepare = 5 }\n'
NEEDS = "tests/test_needs.py"
LOCKED = (
    'version = 1\nrequires-python = ">=3.9"\n\n'
    '[[package]]\nname = "shop-tools"\nversion = "2.0"\nsource = { registry = "https://pypi.org/simple" }\n'
)
DECLARED = '[project]\nname = "hourglass"\nversion = "1.0"\n{}\n\n' + PROJECT


class Stops(NamedTuple):
    """What ends a step before any model call."""

    files: Mapping[str, str | None]
    code: int
    said: tuple[str, ...]
    config: str = ""
    packages: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}  # never changed
    is_given_back: bool = False
    """Whether the next step looks again by itself; else a person has to mend it."""


class GoesOn(NamedTuple):
    """What is said, and keeps nobody from working."""

    files: Mapping[str, str | None]
    said: tuple[str, ...]
    config: str = ""
    wheels: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()


def _needs(*lines: str) -> dict[str, str | None]:
    return {NEEDS: "\n".join(["def test_it():", *(f"    {line}" for line in lines)]) + "\n"}


def _closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


STOPS = {
    "setup_fails": Stops(
        files={},
        config='[environment]\nsetup = ["echo no such thing >&2; exit 4"]\n',
        packages=("pip",),
        code=1,
        said=("ended with 4. Its last words:", "no such thing", 'say `environment = "prepared"`'),
    ),
    "setup_hangs": Stops(
        files={SERVICES: LIMITED.replace("= 5", "= 60")},
        config='[environment]\nsetup = ["echo waiting; sleep 3600"]\n',
        packages=("pip",),
        code=1,
        said=("did not finish in", "Make it faster, raise `timeouts` of the service"),
    ),
    "setup_fills_the_disk": Stops(
        files={},
        config='[environment]\nsetup = ["mkdir d && cd d && seq 1 500000 | xargs touch; sleep 3600"]\n',
        packages=("pip",),
        code=1,
        said=("was ended, for it made more than 400000 files and directories",),
    ),
    "no_such_python": Stops(
        files={"pyproject.toml": DECLARED.format('requires-python = ">=3.99"')},
        code=1,
        said=("the repository wants Python >=3.99, and this machine has", "`uv python install 3.99`"),
    ),
    "index_is_down": Stops(
        files={"pyproject.toml": DECLARED.format('dependencies = ["shop-tools"]')},
        environment={"PIP_INDEX_URL": f"http://127.0.0.1:{_closed_port()}/simple/"},
        code=75,
        said=("the package index could not be used", "Check pip's configuration and the network of this machine"),
        is_given_back=True,
    ),
}  # fmt: skip

GOES_ON = {
    "setup_leaves_processes": GoesOn(
        files={},
        config='[environment]\nsetup = ["sleep 3600 & true"]\n',
        packages=("pip",),
        said=("ended with the run: processes left running:",),
    ),
    "lock_contradicts": GoesOn(
        files={"pyproject.toml": DECLARED.format('dependencies = ["shop-tools<2"]'), "uv.lock": LOCKED},
        wheels=("shop_tools",),
        said=("uv.lock: shop-tools ==2.0 contradicts 'shop-tools<2', which counts; run 'uv lock' anew",),
    ),
    "display": GoesOn(
        files=_needs("raise RuntimeError('no display name and no $DISPLAY environment variable')"),
        said=(f"{NEEDS}::test_it: wanted a display; there is none.", "QT_QPA_PLATFORM"),
    ),
    "network": GoesOn(
        files=_needs("import socket", "socket.create_connection(('example.com', 80), 5)"),
        said=(f"{NEEDS}::test_it: wanted the network; the isolation has none.", "`command = \"pytest -m"),
    ),
    "root": GoesOn(
        files=_needs("import os", "os.chroot('/')"),
        said=(f"{NEEDS}::test_it: wanted the rights of root; tests have the rights of an ordinary user.",),
    ),
    "locale": GoesOn(
        files=_needs("import locale", "locale.setlocale(locale.LC_ALL, 'xx_YY')"),
        said=(f"{NEEDS}::test_it: wanted another locale;", "`locale -a`"),
    ),
    "time_zone": GoesOn(
        files=_needs("import zoneinfo", "zoneinfo.ZoneInfo('Nowhere/Land')"),
        said=(f"{NEEDS}::test_it: wanted time zone data;", '`packages = ["tzdata"]`'),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STOPS)
def test_what_is_wrong_is_one_message_with_its_remedy_and_nothing_is_paid(tmp_path: Path, name: str) -> None:
    wrong = STOPS[name]
    broken = Broken(wrong.files, wrong.said, {}, config=wrong.config, packages=wrong.packages)
    with (
        index_of(broken, tmp_path / "packages") as index,
        item(tmp_path, broken) as (scene, server, _),
    ):
        ended = step(scene, server, {**index, **wrong.environment})

        assert ended.code == wrong.code, ended.err
        assert [said for said in wrong.said if said not in ended.err] == [], ended.err
        assert "Traceback" not in ended.err
        assert server.seen == []
        state = scene.state()
        assert state["leases"] == []
        if wrong.is_given_back:
            assert state["visits"] == []
            return
        [visit] = state["visits"]
        assert (visit["status"], visit["spend"]["input_tokens"]) == ("failed", 0)
        assert visit["summary"].splitlines()[0] in comment_of(scene)


@pytest.mark.parametrize("name", GOES_ON)
def test_what_stops_nobody_is_said_once_with_its_remedy_and_the_item_goes_on(
    tmp_path: Path, name: str
) -> None:
    odd = GOES_ON[name]
    broken = Broken(odd.files, odd.said, {}, config=odd.config, packages=odd.packages, wheels=odd.wheels)
    with (
        index_of(broken, tmp_path / "packages") as index,
        item(tmp_path, broken) as (scene, server, _),
    ):
        server.answers(replied(json.dumps(classified())))
        ended = step(scene, server, index)

        assert ended.code == 0, ended.err
        assert [said for said in odd.said if said not in ended.err] == [], ended.err
        assert all(ended.err.count(said) == 1 for said in odd.said[:1]), ended.err
        assert len(server.seen) == 1
