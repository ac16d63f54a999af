"""A running hub that is made to fail, to wait, to go back, and to let time pass."""

import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import plain_http
from tests.hub.administrator import Administrator
from tests.hub.commandline import commit_file, git
from tests.hub.running import OWNER_TOKEN, RunningHub, running_hub, seeded
from tests.limits import ENDS_WITHIN_S

ISSUES = "/repos/octo/demo/issues"
TIP = "/repos/octo/demo/git/ref/heads/main"


@dataclass
class Talk:
    """A hub, its administrator, and a client of the owner's."""

    hub: RunningHub
    admin: Administrator
    client: httpx.Client

    def issue(self, title: str = "One") -> int:
        """Open one; its status."""
        return self.client.post(ISSUES, json={"title": title}).status_code

    def titles(self) -> list[str]:
        return sorted(issue["title"] for issue in self.client.get(ISSUES).json())

    def query(self, text: str) -> httpx.Response:
        return self.client.post("/graphql", json={"query": text})


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    directory = seeded(tmp_path_factory.mktemp("served") / "hub")
    with (
        running_hub(directory) as hub,
        Administrator(hub.url, directory) as admin,
        plain_http.Client(base_url=hub.url, headers={"Authorization": f"token {OWNER_TOKEN}"}) as client,
    ):
        admin.take("fresh")
        yield Talk(hub, admin, client)


@pytest.fixture
def talk(served: Talk) -> Talk:
    served.admin.restore("fresh")
    served.admin.forget()
    return served


CREATE_MATCH = {"method": "POST", "path": ISSUES}
CREATE = {**CREATE_MATCH, "times": 1}


@pytest.mark.parametrize(
    ("fault", "status", "is_done"),
    [
        ({"kind": "error_before", "status": 503}, 503, False),
        ({"kind": "error_after"}, 502, True),
        ({"kind": "redirect", "location": "/elsewhere"}, 307, False),
        ({"kind": "rate_limited", "status": 429}, 429, False),
        ({"kind": "missing"}, 404, False),
    ],
)
def test_a_write_is_done_or_not_whatever_its_answer_says(
    talk: Talk, fault: dict[str, object], status: int, is_done: bool
) -> None:
    with talk.admin.playing({**CREATE, **fault}):
        assert (talk.issue("struck"), talk.issue("spared")) == (status, 201)

    assert talk.titles() == (["spared", "struck"] if is_done else ["spared"])


@pytest.mark.parametrize(("kind", "is_done"), [("refuse", False), ("cut_after", True)])
def test_a_connection_is_cut_before_or_after_the_work(talk: Talk, kind: str, is_done: bool) -> None:
    with talk.admin.playing({**CREATE, "kind": kind}), pytest.raises(httpx.RemoteProtocolError):
        talk.issue("struck")

    assert talk.titles() == (["struck"] if is_done else [])


def test_a_rate_limit_comes_with_the_headers_it_was_told_to_have(talk: Talk) -> None:
    rules = (
        {"kind": "rate_limited", "nth": 1},
        {"kind": "rate_limited", "nth": 2, "status": 429, "retry_after_s": 7},
        {"kind": "rate_limited", "nth": 3, "limit": "primary", "reset_in_s": 30},
    )
    with talk.admin.playing(*rules):
        bare, told, primary = (talk.client.get(ISSUES) for _ in range(3))

    assert (bare.status_code, bare.headers.get("retry-after")) == (403, None)
    assert "secondary rate limit" in bare.json()["message"]
    assert (told.status_code, told.headers["retry-after"]) == (429, "7")
    assert (primary.status_code, primary.headers["x-ratelimit-remaining"]) == (403, "0")


def test_graphql_is_limited_with_status_200_and_struck_by_operation_and_field(talk: Talk) -> None:
    with talk.admin.playing(
        {"kind": "rate_limited_200", "operation": "Who"},
        {"kind": "partial", "field": "repository", "at": "repository.issues", "type": "FORBIDDEN"},
    ):
        limited = talk.query("query Who { viewer { login } }")
        partial = talk.query(
            '{ repository(owner: "octo", name: "demo") { name issues(first: 1) { totalCount } } }'
        )
        spared = talk.query("query Me { viewer { login } }")

    assert (limited.status_code, limited.json()["errors"][0]["type"]) == (200, "RATE_LIMITED")
    assert partial.json()["data"] == {"repository": {"name": "demo", "issues": None}}
    assert partial.json()["errors"][0]["path"] == ["repository", "issues"]
    assert spared.json() == {"data": {"viewer": {"login": "octo"}}}


def test_a_new_comment_is_missing_from_lists_that_lag(talk: Talk) -> None:
    talk.issue()
    comments = f"{ISSUES}/1/comments"
    query = (
        'query C { repository(owner: "octo", name: "demo") { issue(number: 1) { comments(last: 9) '
        "{ totalCount nodes { id } } } } }"
    )
    with talk.admin.playing({"kind": "stale", "lag": 1}):
        talk.client.post(comments, json={"body": "new"})
        rest = [len(talk.client.get(comments).json()) for _ in range(2)]
        talk.client.post(comments, json={"body": "newer"})
        pages = [talk.query(query).json()["data"]["repository"]["issue"]["comments"] for _ in range(2)]

    assert rest == [0, 1]
    assert [(page["totalCount"], len(page["nodes"])) for page in pages] == [(2, 1), (2, 2)]


def test_what_was_just_created_is_not_found_for_a_while(talk: Talk) -> None:
    rule = {"kind": "missing", "method": "GET", "path": f"{ISSUES}/*", "times": 2, "after": CREATE_MATCH}
    with talk.admin.playing(rule):
        talk.issue()
        found = [talk.client.get(f"{ISSUES}/1").status_code for _ in range(3)]

    assert found == [404, 404, 200]


@pytest.mark.parametrize(
    ("kind", "is_moved"), [("error_before", False), ("error_after", True), ("cut_after", True)]
)
def test_a_push_fails_before_or_after_its_refs_moved(
    talk: Talk, tmp_path: Path, kind: str, is_moved: bool
) -> None:
    git("clone", "--quiet", talk.hub.git_url("octo/demo", OWNER_TOKEN), "clone", cwd=tmp_path)
    pushed = commit_file(tmp_path / "clone", "new.txt", "new\n", "New")
    with talk.admin.playing({"kind": kind, "path": "*/git-receive-pack"}):
        git("push", "--quiet", "origin", "HEAD:main", cwd=tmp_path / "clone", fails=True)

    tip = talk.client.get(TIP).json()["object"]["sha"]
    assert (tip == pushed) is is_moved


@pytest.mark.parametrize(("kind", "is_done_while_held"), [("hold_before", False), ("hold_after", True)])
def test_a_held_request_waits_until_it_is_released(talk: Talk, kind: str, is_done_while_held: bool) -> None:
    with ThreadPoolExecutor(1) as pool, talk.admin.playing({**CREATE, "kind": kind}):
        held = pool.submit(talk.issue, "held")
        (told,) = talk.admin.held(wait_s=30)
        assert (told["method"], told["path"], told["status"]) == ("POST", ISSUES, 0)
        assert talk.titles() == (["held"] if is_done_while_held else [])
        talk.admin.release()
        assert held.result(timeout=ENDS_WITHIN_S) == 201

    assert talk.titles() == ["held"]
    assert talk.admin.held(wait_s=0) == []


def test_a_held_request_whose_client_is_gone_is_never_carried_out(talk: Talk) -> None:
    with talk.admin.playing({**CREATE, "kind": "hold_before"}):
        with pytest.raises(httpx.ReadTimeout):
            talk.client.post(ISSUES, json={"title": "gone"}, timeout=0.2)
        while talk.admin.held(wait_s=0):
            pass
        talk.admin.release()

    assert talk.titles() == []


def test_latency_delays_and_changes_nothing(talk: Talk) -> None:
    with talk.admin.playing({"kind": "latency", "latency_ms": 1}):
        assert talk.issue() == 201
        assert talk.admin.struck() == 1


def test_the_journal_tells_operation_status_and_points_of_every_request(talk: Talk) -> None:
    with talk.admin.playing({"kind": "error_after", "operation": "Who", "status": 500}):
        talk.query("query Who { viewer { login } }")
        talk.issue()

    found = [
        (entry["number"], entry["kind"], entry["operation"], entry["status"], entry["points"], entry["fault"])
        for entry in talk.admin.requests()
    ]
    assert found == [(1, "graphql", "Who", 500, 1, "error_after"), (2, "rest", "", 201, 1, "")]
    talk.admin.forget()
    assert talk.admin.requests() == []


def test_a_snapshot_brings_back_records_and_branches_alike(talk: Talk) -> None:
    tip = talk.client.get(TIP).json()["object"]["sha"]
    talk.issue("before")
    talk.admin.take("one")
    talk.issue("after")
    content = {"message": "More", "content": "eA==", "branch": "main"}
    assert talk.client.put("/repos/octo/demo/contents/more.txt", json=content).status_code == 201
    used = int(talk.client.get(ISSUES).headers["x-ratelimit-used"])
    talk.admin.restore("one")

    assert talk.titles() == ["before"]
    again = talk.client.get(TIP)
    assert again.json()["object"]["sha"] == tip
    assert int(again.headers["x-ratelimit-used"]) < used
    assert talk.admin.ask("GET", "snapshots") == {"snapshots": ["fresh", "one"]}
    talk.admin.ask("DELETE", "snapshots/one")
    assert talk.admin.ask("GET", "snapshots") == {"snapshots": ["fresh"]}


def test_a_snapshot_waits_for_what_is_being_done_and_holds_up_what_comes(talk: Talk) -> None:
    with ThreadPoolExecutor(8) as pool:
        opened = [pool.submit(talk.issue, f"{number}") for number in range(20)]
        talk.admin.take("busy")
        assert {each.result(timeout=ENDS_WITHIN_S) for each in opened} == {201}
    talk.admin.restore("busy")

    kept = talk.titles()
    assert talk.issue("one more") == 201
    assert len(talk.titles()) == len(kept) + 1
    talk.admin.ask("DELETE", "snapshots/busy")


def test_time_passes_when_the_administrator_says_so(talk: Talk) -> None:
    before = now(talk)
    talk.admin.advance(300)

    assert timedelta(seconds=300) <= now(talk) - before < timedelta(seconds=400)
    talk.admin.advance(-300)


def now(talk: Talk) -> datetime:
    return parsedate_to_datetime(talk.client.get("/").headers["date"])


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("PUT", "faults", {"faults": [{"kind": "explode"}]}, 422),
        ("PUT", "faults", None, 400),
        ("POST", "clock", {"back_s": 3}, 422),
        ("POST", "clock", {"advance_s": "soon"}, 422),
        ("POST", "snapshots/none/restore", None, 404),
        ("DELETE", "snapshots/none", None, 404),
        ("POST", "snapshots/..", None, 404),
        ("POST", "snapshots/~x", None, 422),
        ("GET", "held?wait_s=ever", None, 422),
    ],
)
def test_what_makes_no_sense_is_refused(talk: Talk, method: str, path: str, body: Any, status: int) -> None:
    assert talk.admin.send(method, path, body).status_code == status


def test_only_who_can_read_the_hubs_directory_administrates_it(talk: Talk) -> None:
    file = talk.hub.directory / "admin.token"

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert talk.client.get("/_hub/requests").status_code == 401
    assert plain_http.delete(f"{talk.hub.url}/_hub/faults").status_code == 401


def test_a_hub_starts_with_the_faults_of_a_file(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('[[fault]]\nkind = "error_before"\npath = "/repos/*"\nnth = 2\n')
    with (
        running_hub(seeded(tmp_path / "hub"), "--faults", str(plan)) as hub,
        plain_http.Client(base_url=hub.url, headers={"Authorization": f"token {OWNER_TOKEN}"}) as client,
    ):
        assert [client.get(ISSUES).status_code for _ in range(3)] == [200, 502, 200]


def test_an_enterprise_server_has_no_dependencies_and_shows_mentions_late(tmp_path: Path) -> None:
    options = ("--ghes", "--late-cross-references", "60")
    directory = seeded(tmp_path / "hub")
    with (
        running_hub(directory, *options) as hub,
        Administrator(hub.url, directory) as admin,
        plain_http.Client(base_url=hub.url, headers={"Authorization": f"token {OWNER_TOKEN}"}) as client,
    ):
        client.post(ISSUES, json={"title": "One"})
        client.post(ISSUES, json={"title": "Two", "body": "See #1"})
        timeline = f"{ISSUES}/1/timeline"
        early = client.get(timeline).json()
        admin.advance(60)

        assert early == []
        assert [event["event"] for event in client.get(timeline).json()] == ["cross-referenced"]
        assert client.get(f"{ISSUES}/1/dependencies/blocked_by").status_code == 404
