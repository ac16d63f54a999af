"""`gc` on a real hub: only ledgers of long closed items are put away, and they can be brought back."""

import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cogworks.cli.gc import gc
from cogworks.cli.log import log
from cogworks.cli.replay import replay
from cogworks.cycle.eventlog import line_of
from cogworks.errors import UsageError
from tests.cli.planned_item import Result, as_person, call, push_to_ledger
from tests.cycle.scripted import recorded
from tests.end_to_end.scene import Scene
from tests.limits import ENDS_WITHIN_S


@pytest.fixture
def closed(own_scene: Scene) -> Scene:
    """The item, its issue just closed and no ledger of it put away."""
    as_person(own_scene, "PATCH", "/issues/1", {"state": "closed"})
    for ref in own_scene.git("for-each-ref", "--format=%(refname)", "refs/cogworks/archive").split():
        own_scene.git("update-ref", "-d", ref)
    return own_scene


def collect(scene: Scene, *arguments: str, where: str = "") -> Result:
    ended = CliRunner().invoke(
        gc,
        [where or scene.stage.repository_url, *arguments],
        env=scene.environment(),
        standalone_mode=False,
        catch_exceptions=False,
    )
    assert isinstance(ended.return_value, int), ended
    return Result(ended.return_value, ended.stdout, ended.stderr)


@pytest.mark.slow
def test_the_ledger_of_an_open_item_stays(looked_at: Scene) -> None:
    before = looked_at.everything()

    told = collect(looked_at, "--json", "--keep-days", "0").told

    assert told["archived"] == []
    assert told["kept"] == [{"issue": 1, "reason": "its issue is open"}]
    assert told["requests"] == {"graphql": 2, "rest": 0, "git": 0}
    assert looked_at.everything() == before


@pytest.mark.slow
def test_a_ledger_of_an_item_just_closed_stays_but_its_work_directories_go(closed: Scene) -> None:
    run = call(closed, log, "--json").told["commits"][0]["run_id"]
    copies = Path(closed.environment()["COGWORKS_WORK_DIR"]) / "copies"
    before = closed.everything(), sorted(copies.iterdir())

    dry = collect(closed, "--json", "--dry-run", where="octo-org/hourglass").told
    untouched = (closed.everything(), sorted(copies.iterdir())) == before
    told = collect(closed, "--json", where="octo-org/hourglass").told
    people = collect(closed, where=closed.issue_url)

    assert untouched
    assert (told["keep_days"], told["archived"]) == (30, [])
    assert told["kept"][0]["reason"] == "its issue was closed 0 days ago; it stays for 30"
    assert (dry["removed_runs"], told["removed_runs"]) == ([run], [run])
    assert sorted(copies.iterdir()) == []
    assert "0 of 1 ledgers put away" in people.out


@pytest.mark.slow
def test_a_ledger_is_put_away_and_brought_back(closed: Scene, tmp_path: Path) -> None:
    tip = closed.git("rev-parse", "cogworks/ledger/1").strip()
    before = closed.everything()

    dry = collect(closed, "--json", "--keep-days", "0", "--dry-run").told
    untouched = closed.everything() == before
    told = collect(closed, "--json", "--keep-days", "0").told
    refs = closed.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    nothing_twice = collect(closed, "--json", "--keep-days", "0").told
    bring_back(closed, tmp_path / "clone")
    after = call(closed, log, "--json").told["commits"][0]["oid"]

    assert untouched
    assert [(one["issue"], one["ref"]) for one in dry["archived"]] == [(1, "")]
    assert [(one["issue"], one["oid"], one["ref"]) for one in told["archived"]] == [
        (1, tip, "refs/cogworks/archive/1")
    ]
    assert told["requests"] == {"graphql": 3, "rest": 0, "git": 0}
    assert f"refs/cogworks/archive/1 {tip}" in refs
    assert not any(ref.startswith("refs/heads/cogworks/ledger/1 ") for ref in refs)
    assert (nothing_twice["archived"], nothing_twice["kept"]) == ([], [])
    assert after == tip


@pytest.mark.slow
def test_a_second_ledger_of_a_reopened_item_is_kept_beside_the_first(closed: Scene, tmp_path: Path) -> None:
    scene = closed
    first = collect(scene, "--json", "--keep-days", "0").told["archived"][0]
    bring_back(scene, tmp_path / "clone")
    second = collect(scene, "--json", "--keep-days", "0").told["archived"][0]
    bring_back(scene, tmp_path / "again")

    assert second["oid"] == first["oid"]
    assert second["ref"] == f"refs/cogworks/archive/1-{first['oid'][:12]}"


@pytest.mark.slow
def test_what_replay_says_of_a_ledger_that_was_put_away_replays_it(own_scene: Scene, tmp_path: Path) -> None:
    visit = own_scene.git("ls-tree", "-d", "--name-only", "cogworks/ledger/1", "visits/").split()[0]
    events = "".join(f"{line_of(event)}\n" for event in recorded())
    push_to_ledger(own_scene, tmp_path / "clone", {f"{visit}/events-1.ndjson": events}, "A log")
    as_person(own_scene, "PATCH", "/issues/1", {"state": "closed"})
    ref = collect(own_scene, "--json", "--keep-days", "0").told["archived"][0]["ref"]

    with pytest.raises(UsageError, match="`cogworks gc` put it away") as refused:
        call(own_scene, replay)
    home = own_scene.stage.url
    # The hub wants a token for everything; a person's git has one.
    token = home.replace("http://", f"http://x-access-token:{own_scene.stage.person_token}@")
    lines = str(refused.value).replace("refs/cogworks/archive/1", ref).replace(home, token).splitlines()[1:]
    for line in lines[:-1]:
        subprocess.run(line.split(), cwd=tmp_path, check=True, capture_output=True, timeout=ENDS_WITHIN_S)
    ended = CliRunner().invoke(replay, [str(tmp_path / lines[-1].split()[-1])], standalone_mode=False)

    assert lines[-1].split()[:2] == ["cogworks", "replay"]
    assert (ended.return_value, ended.stdout.split()[:2]) == (0, [f"{visit}:", "identical"])


def bring_back(scene: Scene, clone: Path) -> None:
    """What the help says brings a ledger back."""
    url = scene.stage.repository_url.replace("http://", f"http://x-access-token:{scene.stage.person_token}@")
    for command in (
        ["init", "--quiet", str(clone)],
        ["-C", str(clone), "fetch", "--quiet", f"{url}.git", "refs/cogworks/archive/1"],
        ["-C", str(clone), "push", "--quiet", f"{url}.git", "FETCH_HEAD:refs/heads/cogworks/ledger/1"],
    ):
        subprocess.run(["git", *command], check=True, capture_output=True, timeout=ENDS_WITHIN_S)


@pytest.mark.slow
def test_a_repository_that_is_none_is_refused(looked_at: Scene) -> None:
    with pytest.raises(UsageError, match=r"there is no repository octo-org/nothing|does not exist"):
        collect(looked_at, where=f"{looked_at.stage.url}/octo-org/nothing")
    with pytest.raises(UsageError, match="is a pull request"):
        collect(looked_at, where=f"{looked_at.stage.repository_url}/pull/2")


@pytest.mark.parametrize("command", ["status", "explain", "log", "cost", "fsck", "gc"])
def test_every_help_shows_an_example(command: str) -> None:
    from cogworks.cli.main import cli

    found = cli.get_command(click.Context(cli), command)
    assert found is not None
    told = CliRunner().invoke(found, ["--help"]).output
    assert "Example" in told
    assert f"cogworks {command} " in told
    assert "--json" in told
