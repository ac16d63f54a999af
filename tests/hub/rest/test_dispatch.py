"""What every REST answer has in common."""

from collections.abc import Iterator

import httpx
import pytest

from cogworks.hub.actions.commits import create_commit_on_branch
from cogworks.hub.actions.pulls import create_pull
from cogworks.hub.actions.refs import create_ref
from cogworks.hub.server import hub_app
from cogworks.hub.store import pages_link
from cogworks.hub.world import LIMITS
from tests.hub.bench import Bench
from tests.hub.running import OWNER_TOKEN, WRITER_TOKEN
from tests.hub.web import web_client

REPOSITORY = "/api/v3/repos/octo/demo"


@pytest.fixture
def web(bench: Bench) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {OWNER_TOKEN}"}
    with web_client(hub_app(bench.world), **headers) as client:
        yield client


def test_the_date_is_the_hubs_and_the_budget_is_told(bench: Bench, web: httpx.Client) -> None:
    bench.clock.advance(100)

    answer = web.get(REPOSITORY)

    assert answer.headers["date"] == "Sun, 01 Mar 2026 12:01:40 GMT"
    told = {
        name: answer.headers[f"x-ratelimit-{name}"] for name in ("limit", "remaining", "used", "resource")
    }
    assert told == {"limit": "5000", "remaining": "4999", "used": "1", "resource": "core"}
    assert answer.headers["x-github-request-id"] != web.get(REPOSITORY).headers["x-github-request-id"]


def test_an_etag_saves_the_body_and_the_budget_for_the_same_token_only(web: httpx.Client) -> None:
    etag = web.get(REPOSITORY).headers["etag"]
    same = web.get(REPOSITORY, headers={"if-none-match": etag})
    other = web.get(REPOSITORY, headers={"if-none-match": etag, "authorization": f"token {WRITER_TOKEN}"})

    assert (same.status_code, same.content, same.headers["x-ratelimit-used"]) == (304, b"", "1")
    assert other.status_code == 200


def test_a_used_up_budget_is_refused_until_the_hour_is_over(bench: Bench, web: httpx.Client) -> None:
    bench.world.limits.spend("octo", "core", LIMITS["core"])

    refused = web.get(REPOSITORY)
    assert (refused.status_code, refused.headers["x-ratelimit-remaining"]) == (403, "0")
    assert "rate limit exceeded" in refused.json()["message"]
    bench.clock.advance(3600)
    assert web.get(REPOSITORY).status_code == 200


@pytest.mark.parametrize(
    ("request_line", "body", "status", "message"),
    [
        ("GET /api/v3/nothing/here/at/all", None, 404, "Not Found"),
        (f"PUT {REPOSITORY}", {}, 404, "Not Found"),
        (f"GET {REPOSITORY}/issues/x", None, 404, "Not Found"),
        (f"POST {REPOSITORY}/issues", {}, 422, 'Invalid request.\n\n"title" wasn\'t supplied.'),
        (f"POST {REPOSITORY}/issues", [], 400, "Problems parsing JSON"),
        (
            f"POST {REPOSITORY}/issues",
            {"title": "x", "body": 1},
            422,
            "Invalid request.\n\nFor 'body', 1 is not a string.",
        ),
        (
            f"POST {REPOSITORY}/git/refs",
            {"ref": "main", "sha": "x"},
            422,
            "Reference name must start with 'refs/' and contain at least two slashes.",
        ),
        (f"GET {REPOSITORY}/commits/none", None, 422, "No commit found for SHA: none"),
        (f"GET {REPOSITORY}/contents/none", None, 404, "Not Found"),
        (f"GET {REPOSITORY}/branches/main/protection", None, 404, "Branch not protected"),
    ],
)
def test_a_refusal_is_githubs_error_object(
    web: httpx.Client, request_line: str, body: object, status: int, message: str
) -> None:
    method, _, path = request_line.partition(" ")
    answer = web.request(method, path, json=body)

    told = answer.json()
    assert (answer.status_code, told["status"], told["message"]) == (status, str(status), message)
    assert told["documentation_url"].startswith("https://")


def test_a_body_that_is_no_json_is_refused(web: httpx.Client) -> None:
    answer = web.post(f"{REPOSITORY}/issues", content=b"{")

    assert (answer.status_code, answer.json()["message"]) == (400, "Problems parsing JSON")


@pytest.mark.parametrize("text", ["\0", "\u2028 \r\n \t", "😀 ä", "'; DROP TABLE records; --", "\x7f\x1b[0m"])
def test_any_text_comes_back_as_it_was_sent(web: httpx.Client, text: str) -> None:
    made = web.post(f"{REPOSITORY}/issues", json={"title": f"x{text}x", "body": text}).json()

    found = web.get(f"{REPOSITORY}/issues/{made['number']}").json()

    assert (found["title"], found["body"]) == (f"x{text}x", text)


def test_half_a_character_is_refused(web: httpx.Client) -> None:
    for path in (f"{REPOSITORY}/issues", "/graphql"):
        assert web.post(path, content=b'{"title": "\\ud800", "query": "{viewer{login}}"}').status_code == 400


def test_files_that_are_no_utf8_are_shown_all_the_same(bench: Bench, web: httpx.Client) -> None:
    write_bytes(bench, b"caf\xe9\n")
    pull = create_pull(bench.world, bench.writer, bench.repository, title="Latin", head="latin", base="main")

    answers = [
        web.get(f"{REPOSITORY}/pulls/{pull.number}/files"),
        web.get(f"{REPOSITORY}/contents/latin.txt?ref=latin"),
        web.get(pages_link(bench.world.directory, f"/octo/demo/pull/{pull.number}"), follow_redirects=True),
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    diff = web.get(f"{REPOSITORY}/pulls/{pull.number}", headers={"accept": "application/vnd.github.diff"})
    assert diff.content.endswith(b"+caf\xe9\n")


def write_bytes(bench: Bench, content: bytes) -> None:
    """A branch `latin` with one file of these bytes."""
    create_ref(bench.world, bench.writer, bench.repository, "refs/heads/latin", bench.tip())
    create_commit_on_branch(
        bench.world,
        bench.writer,
        bench.repository,
        branch="latin",
        expected_head_oid=bench.tip(),
        message="Latin",
        additions={"latin.txt": content},
    )


def test_a_diff_and_a_file_come_as_they_are_when_asked_for(bench: Bench, web: httpx.Client) -> None:
    pull = bench.pull("topic")
    diff = web.get(f"{REPOSITORY}/pulls/{pull.number}", headers={"accept": "application/vnd.github.v3.diff"})
    path = f"{REPOSITORY}/contents/README.md"
    raw = [
        web.get(path, headers={"accept": f"application/vnd.github.{kind}"}) for kind in ("raw", "raw+json")
    ]

    assert diff.text.startswith("diff --git a/topic.txt b/topic.txt\n")
    assert [each.text for each in raw] == ["# Sample\n", "# Sample\n"]
    assert web.get(path, headers={"accept": "application/vnd.github+json"}).json()["encoding"] == "base64"


def test_anonymous_requests_see_public_repositories_only(bench: Bench, web: httpx.Client) -> None:
    nobody = {"authorization": ""}
    assert web.get(REPOSITORY, headers=nobody).status_code == 404
    assert web.get("/user", headers=nobody).json()["message"] == "Requires authentication"
    web.patch(REPOSITORY, json={"private": False})

    assert web.get(REPOSITORY, headers=nobody).json()["private"] is False
    assert web.post(f"{REPOSITORY}/issues", headers=nobody, json={"title": "x"}).status_code == 401


def test_pages_are_linked_and_no_larger_than_a_hundred(bench: Bench, web: httpx.Client) -> None:
    for number in range(5):
        bench.issue(f"{number}")

    first = web.get(f"{REPOSITORY}/issues?per_page=2&direction=asc")
    middle = web.get(f"{REPOSITORY}/issues?per_page=2&direction=asc&page=2")

    assert [each["number"] for each in middle.json()] == [3, 4]
    url = "http://hub.test/api/v3/repos/octo/demo/issues?per_page=2&direction=asc&page="
    assert first.headers["link"] == f'<{url}2>; rel="next", <{url}3>; rel="last"'
    assert middle.headers["link"] == (
        f'<{url}1>; rel="prev", <{url}3>; rel="next", <{url}3>; rel="last", <{url}1>; rel="first"'
    )
    assert "link" not in web.get(f"{REPOSITORY}/issues?per_page=1000").headers


def test_graphql_needs_a_token_and_a_query(web: httpx.Client) -> None:
    assert (
        web.post("/graphql", headers={"authorization": ""}, json={"query": "{viewer{login}}"}).status_code
        == 401
    )
    for body in (b"{", b"[]", b'{"query": 1}', b'{"query": "{viewer{login}}", "variables": 1}'):
        assert web.post("/api/graphql", content=body).status_code == 400
    answer = web.post("/api/graphql", json={"query": "{viewer{login}}"})
    assert (answer.status_code, answer.json()) == (200, {"data": {"viewer": {"login": "octo"}}})
    assert answer.headers["x-ratelimit-resource"] == "graphql"
