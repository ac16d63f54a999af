"""Whoever shares this machine, or serves a page that the operator's browser has open, sees nothing of ours."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cogworks.codebase.git import Identity
from cogworks.codebase.remotes import Remote
from cogworks.codebase.worktree import WorkingCopies
from cogworks.hub.snapshots import Snapshots
from cogworks.hub.world import World
from cogworks.own_folders import own_folder
from cogworks.services.python.keeping import Kept
from cogworks.sight.store import Store
from cogworks.vocabulary import BranchName, RunId
from tests import plain_http
from tests.hub.running import OWNER_TOKEN, RunningHub, running_hub, seeded

REPOSITORY = "/api/v3/repos/octo/demo"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def seen_by_others(folder: Path) -> list[str]:
    """What another user of this machine could open below a folder."""
    if not mode(folder) & 0o055:
        return []
    found = [str(path) for path in folder.iterdir() if path.is_file() and mode(path) & 0o044]
    return found + [
        seen for path in folder.iterdir() if path.is_dir() for seen in [str(path), *seen_by_others(path)]
    ]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with running_hub(seeded(tmp_path_factory.mktemp("neighbours") / "hub")) as running:
        yield running


@pytest.fixture(autouse=True)
def lax_umask() -> Iterator[None]:
    """What most machines have: everybody may read what does not say otherwise."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture(scope="module")
def browser(hub: RunningHub) -> Iterator[httpx.Client]:
    """It has the operator's credential, whoever's page it shows."""
    with plain_http.Client(base_url=hub.url, headers={"Authorization": f"token {OWNER_TOKEN}"}) as client:
        yield client


@pytest.mark.parametrize(
    "path", [REPOSITORY, "/", "/octo/demo.git/info/refs?service=git-upload-pack", "/_hub/clock"]
)
@pytest.mark.parametrize(
    "name",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "[::1",
        "a@127.0.0.1",
        "",
    ],
)
def test_a_name_that_was_bound_to_this_machine_reads_nothing(
    hub: RunningHub, browser: httpx.Client, path: str, name: str
) -> None:
    port = hub.url.rpartition(":")[2]

    refused = browser.get(path, headers={"Host": name.format(port=port)})

    assert refused.status_code == 421
    assert "octo" not in refused.text
    assert hub.url in refused.text


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:1", "http://localhost:1", "null", ""]
)
@pytest.mark.parametrize(
    "path", [f"{REPOSITORY}/issues", "/api/graphql", "/octo/demo.git/git-upload-pack", "/_hub/clock"]
)
def test_a_page_of_another_origin_asks_for_nothing(browser: httpx.Client, path: str, origin: str) -> None:
    refused = browser.post(path, headers={"Origin": origin})

    assert refused.status_code == 403
    assert "Origin" in refused.text


@pytest.mark.parametrize(
    "name", ["127.0.0.1:{port}", "localhost:{port}", "LocalHost:9000", "127.0.0.2", "[::1]:{port}"]
)
def test_the_names_of_this_machine_are_answered(hub: RunningHub, browser: httpx.Client, name: str) -> None:
    host = name.format(port=hub.url.rpartition(":")[2])

    assert browser.get(REPOSITORY, headers={"Host": host}).status_code == 200
    assert (
        browser.post(f"{REPOSITORY}/issues", headers={"Host": host, "Origin": f"http://{host}"}).status_code
        == 422
    )


def test_no_other_user_reads_the_hub_s_store(tmp_path: Path) -> None:
    seeded(tmp_path / "hub")
    world = World(tmp_path / "hub")
    Snapshots(world).take("one")
    world.close()

    assert seen_by_others(tmp_path / "hub") == []


def test_the_store_of_an_older_hub_is_closed_to_others(tmp_path: Path) -> None:
    seeded(tmp_path / "hub")
    for path in (tmp_path / "hub", *(tmp_path / "hub").rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)

    World(tmp_path / "hub").close()

    assert seen_by_others(tmp_path / "hub" / "repos") == []
    assert mode(tmp_path / "hub" / "hub.sqlite3") == 0o600


def test_a_folder_that_people_made_keeps_its_permissions_and_the_store_in_it_is_closed(
    tmp_path: Path,
) -> None:
    given = tmp_path / "given"
    given.mkdir(mode=0o755)

    World(given).close()

    assert mode(given) == 0o755
    assert {path.name: mode(path) for path in given.iterdir()} == {"hub.sqlite3": 0o600, "repos": 0o700}


def test_no_other_user_reads_a_folder_of_ours_or_what_leads_to_it(tmp_path: Path) -> None:
    own_folder(tmp_path / "cache" / "cogworks" / "copies")

    assert [mode(tmp_path / name) for name in ("cache", "cache/cogworks", "cache/cogworks/copies")] == [
        0o700
    ] * 3


@pytest.mark.parametrize("was_there", [False, True])
def test_no_other_user_reads_a_working_copy(tmp_path: Path, hub: RunningHub, was_there: bool) -> None:
    cache = tmp_path / "cache"
    if was_there:
        (cache / "repositories").mkdir(parents=True)
    nobody = Identity("cogworks", "cogworks@example.com")

    with WorkingCopies(cache, identity=nobody, environment=os.environ) as copies:
        remote = Remote(hub.git_url("octo/demo", OWNER_TOKEN), None)
        copy = copies.open(
            remote=remote, run=RunId("r"), name="n", branch=BranchName("b"), base=BranchName("main")
        )
        place = Path(copy.path)

        assert not mode(place.parent) & 0o077
        assert not mode(cache / "repositories") & 0o077
        assert was_there or not mode(cache) & 0o077


def test_no_other_user_reads_what_is_kept_in_a_folder_that_people_share(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir(mode=0o755)

    def make(place: Path, limit_s: float) -> dict[str, int]:
        place.mkdir()
        (place / "of-the-repository.txt").write_text("private")
        return {}

    Kept(given, "environment").made("a" * 40, make, limit_s=10)

    assert mode(given) == 0o755
    assert not mode(given / ("a" * 40)) & 0o077


@pytest.mark.parametrize("was_there", [False, True])
def test_no_other_user_reads_what_was_read_of_a_repository(tmp_path: Path, was_there: bool) -> None:
    place = tmp_path / "given" / "sight.sqlite3"
    if was_there:
        place.parent.mkdir(mode=0o755)

    Store(place).close()

    assert not mode(place) & 0o077
