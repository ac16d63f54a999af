"""The hub as plain git sees it."""

import base64
import gzip
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.hub.git_http import basic_token
from cogworks.hub.records import Repository
from cogworks.hub.seeding import add_collaborator, add_token, add_user
from cogworks.hub.world import World
from tests import plain_http
from tests.hub.commandline import commit_file, git
from tests.hub.running import (
    OWNER_TOKEN,
    READER_TOKEN,
    SAMPLE,
    WRITER_TOKEN,
    RunningHub,
    running_hub,
    seeded,
)
from tests.limits import ENDS_WITHIN_S


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with running_hub(seeded(tmp_path_factory.mktemp("git") / "hub")) as running:
        yield running


@pytest.fixture
def clone(hub: RunningHub, tmp_path: Path) -> Path:
    git("clone", "--quiet", hub.git_url("octo/demo", WRITER_TOKEN), "clone", cwd=tmp_path)
    return tmp_path / "clone"


def api(hub: RunningHub, path: str) -> object:
    answer = plain_http.get(
        f"{hub.api_url}/repos/octo/demo/{path}", headers={"Authorization": f"token {OWNER_TOKEN}"}
    )
    return answer.json()


def test_a_clone_holds_what_the_repository_holds(clone: Path) -> None:
    found = {
        path.relative_to(clone).as_posix(): path.read_text()
        for path in clone.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }

    assert {path: found[path] for path in SAMPLE} == SAMPLE


def test_the_token_may_be_the_password_of_any_user_or_the_user_itself(
    hub: RunningHub, tmp_path: Path
) -> None:
    host = hub.url.removeprefix("http://")
    logins = (f"ada:{WRITER_TOKEN}", f"{WRITER_TOKEN}:x-oauth-basic", f"x-access-token:{WRITER_TOKEN}")

    heads = {git("ls-remote", f"http://{login}@{host}/octo/demo", "HEAD", cwd=tmp_path) for login in logins}

    assert len(heads) == 1


def test_without_a_token_git_is_asked_for_a_password(hub: RunningHub, tmp_path: Path) -> None:
    answer = plain_http.get(f"{hub.url}/octo/demo.git/info/refs?service=git-upload-pack")

    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Basic realm="GitHub"')
    assert "could not read Username" in git("ls-remote", hub.git_url("octo/demo"), cwd=tmp_path, fails=True)


def test_a_repository_that_is_not_there_is_not_found(hub: RunningHub, tmp_path: Path) -> None:
    said = git("ls-remote", hub.git_url("octo/none", WRITER_TOKEN), cwd=tmp_path, fails=True)

    assert "not found" in said


def test_a_push_is_seen_by_rest_at_once(hub: RunningHub, clone: Path) -> None:
    oid = commit_file(clone, "pushed.txt", "pushed\n", "Push it")
    git("push", "--quiet", "origin", "HEAD:refs/heads/pushed", cwd=clone)

    found = api(hub, "git/ref/heads/pushed")

    assert isinstance(found, dict)
    assert found["object"]["sha"] == oid


def test_a_reader_clones_but_does_not_push(hub: RunningHub, tmp_path: Path) -> None:
    git("clone", "--quiet", hub.git_url("octo/demo", READER_TOKEN), "clone", cwd=tmp_path)
    commit_file(tmp_path / "clone", "no.txt", "no\n", "No")

    said = git("push", "origin", "HEAD:refs/heads/no", cwd=tmp_path / "clone", fails=True)

    assert "403" in said


def test_a_push_that_is_not_forward_is_rejected(clone: Path) -> None:
    git("push", "--quiet", "origin", "HEAD:refs/heads/forward", cwd=clone)
    commit_file(clone, "a.txt", "a\n", "A")
    git("push", "--quiet", "origin", "HEAD:refs/heads/forward", cwd=clone)
    git("reset", "--quiet", "--hard", "HEAD~1", cwd=clone)
    commit_file(clone, "b.txt", "b\n", "B")

    assert "non-fast-forward" in git("push", "origin", "HEAD:refs/heads/forward", cwd=clone, fails=True)


def test_force_with_lease_refuses_a_branch_that_moved(hub: RunningHub, clone: Path, tmp_path: Path) -> None:
    start = git("rev-parse", "HEAD", cwd=clone)
    git("push", "--quiet", "origin", "HEAD:refs/heads/leased", cwd=clone)
    git("clone", "--quiet", hub.git_url("octo/demo", OWNER_TOKEN), "other", cwd=tmp_path)
    theirs = commit_file(tmp_path / "other", "theirs.txt", "theirs\n", "Theirs")
    git("push", "--quiet", "origin", "HEAD:refs/heads/leased", cwd=tmp_path / "other")
    commit_file(clone, "mine.txt", "mine\n", "Mine")

    lease = f"--force-with-lease=refs/heads/leased:{start}"
    said = git("push", lease, "origin", "HEAD:refs/heads/leased", cwd=clone, fails=True)

    assert "stale info" in said
    assert git("ls-remote", "origin", "refs/heads/leased", cwd=clone).split() == [theirs, "refs/heads/leased"]


def test_an_atomic_push_moves_all_refs_or_none(clone: Path) -> None:
    git("push", "--quiet", "origin", "HEAD:refs/heads/taken", cwd=clone)
    commit_file(clone, "one.txt", "one\n", "One")
    git("push", "--quiet", "origin", "HEAD:refs/heads/taken", cwd=clone)
    git("reset", "--quiet", "--hard", "HEAD~1", cwd=clone)
    commit_file(clone, "two.txt", "two\n", "Two")

    git("push", "--atomic", "origin", "HEAD:refs/heads/fresh", "HEAD:refs/heads/taken", cwd=clone, fails=True)

    assert git("ls-remote", "origin", "refs/heads/fresh", cwd=clone) == ""


def test_shallow_and_partial_clones_work(hub: RunningHub, tmp_path: Path) -> None:
    url = hub.git_url("octo/demo", WRITER_TOKEN)
    git("clone", "--quiet", "--depth=1", url, "shallow", cwd=tmp_path)
    git("clone", "--quiet", "--filter=blob:none", "--no-checkout", url, "partial", cwd=tmp_path)

    assert git("rev-list", "--count", "HEAD", cwd=tmp_path / "shallow") == "1"
    assert git("show", "HEAD:README.md", cwd=tmp_path / "partial") == SAMPLE["README.md"].strip()


def test_a_large_push_in_chunks_arrives_whole(clone: Path) -> None:
    # More than http.postBuffer, so that git sends it chunked; random enough not to be compressed away.
    text = "".join(f"{number * number * 7919 % 1000003}\n" for number in range(600_000))
    oid = commit_file(clone, "large.txt", text, "Large")
    git("-c", "http.postBuffer=65536", "push", "--quiet", "origin", "HEAD:refs/heads/large", cwd=clone)

    assert git("ls-remote", "origin", "refs/heads/large", cwd=clone).startswith(oid)


def test_a_compressed_request_is_understood(hub: RunningHub) -> None:
    found = api(hub, "git/ref/heads/main")
    assert isinstance(found, dict)
    want = f"0032want {found['object']['sha']}\n00000009done\n".encode()

    answer = plain_http.post(
        f"{hub.url}/octo/demo.git/git-upload-pack",
        content=gzip.compress(want),
        headers={
            "authorization": f"Bearer {READER_TOKEN}",
            "content-encoding": "gzip",
            "content-type": "application/x-git-upload-pack-request",
        },
    )

    assert (answer.status_code, answer.content[:12]) == (200, b"0008NAK\nPACK")


def test_refs_outside_branches_and_tags_can_be_pushed_and_fetched(clone: Path) -> None:
    oid = git("rev-parse", "HEAD", cwd=clone)
    git("push", "--quiet", "origin", "HEAD:refs/notes/of/ours", cwd=clone)
    git("fetch", "--quiet", "origin", "refs/notes/of/ours:refs/notes/of/theirs", cwd=clone)

    assert git("rev-parse", "refs/notes/of/theirs", cwd=clone) == oid


def test_a_token_without_the_permission_pushes_no_workflow(hub: RunningHub, tmp_path: Path) -> None:
    world = World(hub.directory)
    try:
        user = add_user(world, "narrow[bot]", kind="Bot")
        add_token(world, user, "narrow-token", kind="installation", permissions={"contents": "write"})
        add_collaborator(world, world.store.every(Repository)[0], user, "write")
    finally:
        world.close()
    git("clone", "--quiet", hub.git_url("octo/demo", "narrow-token"), "clone", cwd=tmp_path)
    clone = tmp_path / "clone"
    commit_file(clone, "fine.txt", "fine\n", "Fine")
    git("push", "--quiet", "origin", "HEAD:refs/heads/fine", cwd=clone)
    commit_file(clone, ".github/workflows/ci.yml", "on: push\n", "Workflow")

    said = git("push", "origin", "HEAD:refs/heads/workflow", cwd=clone, fails=True)

    assert (
        "refusing to allow a GitHub App to create or update workflows without `workflows` permission" in said
    )


def test_the_default_branch_is_not_deleted_by_a_push(clone: Path) -> None:
    assert "deletion of the current branch" in git(
        "push", "origin", ":refs/heads/main", cwd=clone, fails=True
    )


@given(st.text(st.characters(codec="ascii", exclude_characters=" "), min_size=1))
def test_bearer_and_token_headers_carry_the_token_itself(token: str) -> None:
    stripped = token.strip() or None

    assert (basic_token(f"Bearer {token}"), basic_token(f"token {token}")) == (stripped, stripped)


@given(st.text(min_size=1), st.text(st.characters(exclude_characters=":", codec="utf-8")))
def test_a_basic_header_carries_the_token_as_password(token: str, user: str) -> None:
    header = "Basic " + base64.b64encode(f"{user}:{token}".encode("utf-8", "replace")).decode()
    expected = token.encode("utf-8", "replace").decode()

    assert basic_token(header) == (expected if expected != "x-oauth-basic" else user or None)


@pytest.mark.parametrize("header", [None, "", "Basic", "Basic !!!", "Basic /w==", "Digest abc", "Bearer "])
def test_a_header_without_a_token_is_anonymous(header: str | None) -> None:
    assert basic_token(header) is None


@pytest.mark.slow
def test_a_hub_that_served_git_ends_without_a_complaint(tmp_path: Path) -> None:
    said = tmp_path / "stderr"
    # With `-X dev` Python tells of everything that was left open.
    with (
        said.open("w") as stderr,
        running_hub(seeded(tmp_path / "hub"), interpreter=("-X", "dev"), stderr=stderr) as hub,
    ):
        url = httpx.URL(hub.url)
        for number in range(3):
            git("clone", "--quiet", hub.git_url("octo/demo", WRITER_TOKEN), f"clone-{number}", cwd=tmp_path)
            with socket.create_connection((url.host, url.port or 0)) as leaving:
                leaving.sendall(_UNFINISHED.format(token=WRITER_TOKEN).encode())
        with plain_http.Client(headers={"Authorization": f"token {OWNER_TOKEN}"}) as staying:
            staying.get(f"{hub.api_url}/repos/octo/demo")
            hub.process.terminate()
            hub.process.wait(timeout=ENDS_WITHIN_S)

    assert said.read_text() == ""


_UNFINISHED = (
    "POST /octo/demo.git/git-upload-pack HTTP/1.1\r\nHost: localhost\r\nAuthorization: token {token}\r\n"
    "Content-Type: application/x-git-upload-pack-request\r\nContent-Length: 1000\r\n\r\n0011"
)
