"""What is left of a hub that is killed while it writes."""

import base64
import shutil
import signal
import socket
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import count
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import httpx
import pytest

from cogworks.errors import UsageError
from cogworks.hub.actions.access import Actor, authenticate, find_repository
from cogworks.hub.actions.commits import create_commit_on_branch, existing_commit, signature
from cogworks.hub.actions.merging import MergeMethod, merge_pull, repair
from cogworks.hub.actions.pulls import create_pull, pull_part
from cogworks.hub.actions.refs import create_ref
from cogworks.hub.gitstore import GitRepository, RefUpdate
from cogworks.hub.records import Comment, Issue, PendingMerge, Repository
from cogworks.hub.server import serve
from cogworks.hub.world import World
from tests import plain_http
from tests.hub.commandline import git
from tests.hub.running import OWNER_TOKEN, WRITER_TOKEN, RunningHub, running_hub, seeded
from tests.limits import ENDS_WITHIN_S

HEADERS = {"Authorization": f"token {OWNER_TOKEN}"}


@dataclass
class Acknowledged:
    """What the hub said was done before it died."""

    comments: list[int] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    merged: list[int] = field(default_factory=list)


def write_until_it_dies(hub: RunningHub, worker: int, round_number: int, merged: Event) -> Acknowledged:
    """Comment, commit, open and merge in a loop; ends when the connection breaks. Sets `merged` once a merge was acknowledged."""
    done = Acknowledged()
    root = f"{hub.api_url}/repos/octo/demo"
    with plain_http.Client(headers=HEADERS, timeout=20) as client:

        def ask(method: str, path: str, **body: object) -> httpx.Response:
            answer = client.request(method, f"{root}/{path}", json=body or None)
            answer.raise_for_status()
            return answer

        try:
            for number in count():
                branch = f"work/{round_number}/{worker}/{number}"
                tip = ask("GET", "git/ref/heads/main").json()["object"]["sha"]
                ask("POST", "git/refs", ref=f"refs/heads/{branch}", sha=tip)
                content = base64.b64encode(branch.encode()).decode()
                made = ask("PUT", f"contents/{branch}.txt", message="Add", content=content, branch=branch)
                done.commits.append(made.json()["commit"]["sha"])
                comment = ask("POST", "issues/1/comments", body=f"{branch} is ready")
                done.comments.append(comment.json()["id"])
                pull = ask("POST", "pulls", title=branch, head=branch, base="main", body="See #1").json()
                method = ("merge", "squash")[number % 2]
                merge = client.put(f"{root}/pulls/{pull['number']}/merge", json={"merge_method": method})
                if merge.status_code == 200:
                    done.merged.append(pull["number"])
                    merged.set()
        except httpx.TransportError:
            return done
    raise AssertionError("the loop has no other end")


@pytest.mark.slow
def test_a_killed_hub_has_kept_everything_it_acknowledged(tmp_path: Path) -> None:
    directory = seeded(tmp_path / "hub")
    kept = Acknowledged()
    with running_hub(directory) as hub:
        plain_http.post(f"{hub.api_url}/repos/octo/demo/issues", json={"title": "One"}, headers=HEADERS)
    for round_number, delay_s in enumerate((0.1, 0.53)):
        with running_hub(directory) as hub, ThreadPoolExecutor(2) as pool:
            merged = Event()
            writers = [
                pool.submit(write_until_it_dies, hub, worker, round_number, merged) for worker in range(2)
            ]
            # Killed later than this, however slow the machine is: there is something to be kept.
            assert merged.wait(timeout=ENDS_WITHIN_S)
            Event().wait(delay_s)
            hub.kill()
            for writer in writers:
                result = writer.result(timeout=ENDS_WITHIN_S)
                kept.comments += result.comments
                kept.commits += result.commits
                kept.merged += result.merged

    with running_hub(directory) as again:  # starting is what repairs
        assert again.url == hub.url, "the addresses in what was written must stay alive"
    assert kept.comments
    assert kept.merged
    check_consistency(directory, kept)


def check_consistency(directory: Path, kept: Acknowledged) -> None:
    """Nothing acknowledged is lost, and records and refs tell the same story."""
    connection = sqlite3.connect(directory / "hub.sqlite3")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    world = World(directory)
    try:
        repository = world.store.every(Repository)[0]
        store, repo = world.store, world.repository_git(repository)
        assert [each for each in kept.comments if store.get(Comment, each) is None] == []
        assert [oid for oid in kept.commits if repo.commit(oid) is None] == []
        assert store.every(PendingMerge) == []
        pulls = {issue.number: issue for issue in store.children(Issue, repository.id, tag="pull")}
        assert [number for number in kept.merged if pull_part(pulls[number]).merged_at is None] == []
        for issue in pulls.values():
            check_pull(repo, issue)
        git("fsck", "--no-dangling", cwd=repo.path)
    finally:
        world.close()


def check_pull(repo: GitRepository, issue: Issue) -> None:
    """An open one points at its branches; a merged one is in its base."""
    pull = pull_part(issue)
    tip = repo.branch(pull.base_branch)
    assert tip is not None
    if issue.is_open:
        assert (pull.head_oid, pull.base_oid) == (repo.branch(pull.head_branch), tip)
        assert not repo.is_ancestor(pull.head_oid, tip)
    else:
        assert pull.merge_commit_oid is not None
        assert repo.is_ancestor(pull.merge_commit_oid, tip)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(seeded(tmp_path / "hub"))
    yield made
    made.close()


@dataclass
class Open:
    """A pull request that can be merged."""

    world: World
    actor: Actor
    repository: Repository
    issue: Issue


@pytest.fixture
def opened(world: World) -> Open:
    actor = authenticate(world, WRITER_TOKEN)
    repository = find_repository(world, actor, "octo", "demo")
    tip = world.repository_git(repository).branch("main")
    assert tip is not None
    create_ref(world, actor, repository, "refs/heads/topic", tip)
    create_commit_on_branch(
        world,
        actor,
        repository,
        branch="topic",
        expected_head_oid=tip,
        message="Add",
        additions={"new.txt": b"new\n"},
    )
    issue = create_pull(world, actor, repository, title="Add", head="topic", base="main", body="Fixes #9")
    return Open(world, actor, repository, issue)


def older_records(world: World, directory: Path) -> Path:
    """A copy of the hub's records as they are now."""
    directory.mkdir()
    for file in world.directory.glob("hub.sqlite3*"):
        shutil.copy(file, directory / file.name)
    return directory


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_a_merge_whose_ref_moved_is_finished_at_the_next_start(
    opened: Open, tmp_path: Path, method: MergeMethod
) -> None:
    # The moment between ref and record: the records of before the merge beside the repositories of after it.
    between = older_records(opened.world, tmp_path / "between")
    merged = merge_pull(opened.world, opened.actor, opened.issue, method=method)
    shutil.copytree(opened.world.directory / "repos", between / "repos")
    oid, merger = pull_part(merged).merge_commit_oid, opened.actor.known
    assert oid is not None
    world = World(between)
    try:
        moment = world.clock.now()
        pending = PendingMerge(id=merged.id, merge_commit_oid=oid, merged_by_id=merger.id, merged_at=moment)
        world.store.put(pending)

        repair(world)

        after = world.store.get(Issue, merged.id)
        assert after is not None
        assert (after.state, pull_part(after).merge_commit_oid) == ("closed", oid)
        assert (pull_part(after).merged_by_id, world.store.every(PendingMerge)) == (merger.id, [])
    finally:
        world.close()


def test_a_merge_that_died_before_its_ref_moved_did_not_happen(opened: Open) -> None:
    world, pull = opened.world, pull_part(opened.issue)
    moment, merger = world.clock.now(), opened.actor.known
    repo = world.repository_git(opened.repository)
    never = repo.write_commit(
        tree=existing_commit(repo, pull.head_oid).tree,
        parents=(pull.base_oid,),
        author=signature(world, merger),
        committer=signature(world, merger),
        message="Never reached",
    )
    world.store.put(
        PendingMerge(id=opened.issue.id, merge_commit_oid=never, merged_by_id=merger.id, merged_at=moment)
    )

    repair(world)

    assert world.store.get(Issue, opened.issue.id) == opened.issue
    assert world.store.every(PendingMerge) == []


def test_a_push_that_was_not_recorded_is_seen_at_the_next_start(opened: Open) -> None:
    repo = opened.world.repository_git(opened.repository)
    tip = repo.branch("main")
    assert tip is not None
    repo.update_refs([RefUpdate(name="refs/heads/main", new=pull_part(opened.issue).head_oid, old=tip)])

    repair(opened.world)

    after = opened.world.store.get(Issue, opened.issue.id)
    assert after is not None
    assert (after.state, pull_part(after).merged_at is not None) == ("closed", True)


def test_locks_of_a_killed_git_are_dropped_at_the_next_start(opened: Open) -> None:
    repo = opened.world.repository_git(opened.repository)
    for name in ("refs/heads/main.lock", "packed-refs.lock"):
        (repo.path / name).touch()

    repair(opened.world)

    assert list(repo.path.rglob("*.lock")) == []
    assert repo.branch("main") is not None


def test_nobody_but_this_machine_reaches_it(tmp_path: Path) -> None:
    with running_hub(seeded(tmp_path / "hub")) as hub:
        address = urlsplit(hub.url)
        assert (address.hostname, plain_http.get(hub.url).status_code) == ("127.0.0.1", 200)
        # Whoever listens on every interface listens on this one.
        with (
            pytest.raises(OSError, match=r"refused|assign"),
            socket.create_connection(("127.0.0.2", address.port or 0), timeout=ENDS_WITHIN_S),
        ):
            pass


def test_two_hubs_never_serve_one_directory(tmp_path: Path) -> None:
    directory = seeded(tmp_path / "hub")
    with running_hub(directory), pytest.raises(UsageError, match="served by another hub already"):
        serve(directory)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_hub_that_is_told_to_stop_ends_well(tmp_path: Path, number: signal.Signals) -> None:
    with running_hub(seeded(tmp_path / "hub")) as hub:
        hub.process.send_signal(number)
        assert hub.process.wait(timeout=ENDS_WITHIN_S) == 0


def test_an_enterprise_server_with_another_clock(tmp_path: Path) -> None:
    with running_hub(seeded(tmp_path / "hub"), "--clock-offset", "-86400", "--enterprise") as hub:
        query = '{repository(owner:"octo",name:"demo"){issue(number:1){issueDependenciesSummary{blocking}}}}'
        answer = plain_http.post(hub.graphql_url, json={"query": query}, headers=HEADERS)
        behind = datetime.now(UTC) - parsedate_to_datetime(answer.headers["date"])

        assert answer.json()["errors"][0]["extensions"]["code"] == "undefinedField"
        assert timedelta(hours=23) < behind < timedelta(hours=25)


def test_a_copied_directory_is_a_copied_hub(world: World, tmp_path: Path) -> None:
    shutil.copytree(world.directory, tmp_path / "copy")

    other = World(tmp_path / "copy")
    try:
        found = other.store.every(Repository)
        assert found == world.store.every(Repository)
        assert other.repository_git(found[0]).branch("main") == world.repository_git(found[0]).branch("main")
    finally:
        other.close()
