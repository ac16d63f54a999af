"""Every REST route of the hub, asked for real, against the official description."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from cogworks.hub.rest.described import ROUTES
from tests import plain_http
from tests.hub.apps import app_id, app_signature, with_app
from tests.hub.openapi import OfficialDescription
from tests.hub.running import BOT_TOKEN, OWNER_TOKEN, READER_TOKEN, keep_log, running_hub, seeded

DESCRIPTION = OfficialDescription()
R = "/repos/{owner}/{repo}"
ISSUE = R + "/issues/{issue_number}"
PULL = R + "/pulls/{pull_number}"
COMMENT = R + "/issues/comments/{comment_id}"

BEYOND_THE_SUBSET = {
    ("GET", ISSUE + "/dependencies/blocking"),
    ("DELETE", ISSUE + "/dependencies/blocked_by/{issue_id}"),
    ("POST", PULL + "/reviews/{review_id}/events"),
    ("PUT", PULL + "/reviews/{review_id}/dismissals"),
    ("GET", R + "/contents"),
    ("GET", R + "/installation"),
}
"""Operations of github.com that the vendored cut of its description leaves out; they answer as their siblings do."""


@dataclass
class Answered:
    """One exchange."""

    route: tuple[str, str]
    status: int
    body: Any


@dataclass
class Conversation:
    """Asks by template, so that each answer is known by its operation."""

    base: str
    client: httpx.Client
    answers: list[Answered] = field(default_factory=list)

    def ask(
        self, method: str, path: str, json: Any = None, /, *, token: str = OWNER_TOKEN, **parts: Any
    ) -> Any:
        """The body of the answer. Query parameters are part of `path`, after `?`."""
        template, _, query = path.partition("?")
        url = self.base + template.format(owner="octo", repo="demo", **parts) + ("?" + query if query else "")
        answer = self.client.request(method, url, json=json, headers={"Authorization": f"token {token}"})
        body = answer.json() if answer.content else None
        self.answers.append(Answered(route=(method, template), status=answer.status_code, body=body))
        assert answer.status_code < 303, (method, url, answer.text)
        return body


def people_and_settings(talk: Conversation) -> None:
    talk.ask("GET", "/user")
    talk.ask("GET", "/users/{username}", username="ada")
    talk.ask("GET", "/rate_limit")
    talk.ask("GET", "/meta")
    talk.ask("GET", R)
    talk.ask("PATCH", R, {"description": "A demo", "delete_branch_on_merge": False})
    talk.ask("GET", R + "/collaborators")
    talk.ask("GET", R + "/collaborators/{username}", username="ada")
    talk.ask("PUT", R + "/collaborators/{username}", {"permission": "triage"}, username="rita")
    talk.ask("GET", R + "/collaborators/{username}/permission", username="helper[bot]")
    talk.ask("GET", R + "/actions/permissions")
    talk.ask("GET", R + "/actions/permissions/workflow")
    talk.ask("GET", R + "/rulesets")
    talk.ask("GET", R + "/keys")
    talk.ask("GET", R + "/actions/runs")
    talk.ask("GET", R + "/rules/branches/{branch}", branch="main")
    talk.ask("GET", R + "/labels")
    talk.ask("POST", R + "/labels", {"name": "area: git/http", "color": "ff0000", "description": "About git"})
    talk.ask("GET", R + "/labels/{name}", name="area:%20git%2Fhttp")
    talk.ask("PATCH", R + "/labels/{name}", {"new_name": "git"}, name="area:%20git%2Fhttp")
    talk.ask("POST", R + "/milestones", {"title": "1.0", "description": "First"})
    talk.ask("GET", R + "/milestones")


def issues(talk: Conversation) -> None:
    body = {
        "title": "Wrong sum",
        "body": "It is wrong.",
        "labels": ["bug"],
        "assignees": ["ada"],
        "milestone": 1,
    }
    one = talk.ask("POST", R + "/issues", body)
    two = talk.ask("POST", R + "/issues", {"title": "Part"}, token=BOT_TOKEN)
    three = talk.ask("POST", R + "/issues", {"title": "Another", "body": "see #1"})
    n: dict[str, Any] = {"issue_number": one["number"]}
    talk.ask("GET", R + "/issues?state=all&labels=bug&sort=updated")
    talk.ask("POST", ISSUE + "/sub_issues", {"sub_issue_id": two["id"]}, **n)
    talk.ask("POST", ISSUE + "/sub_issues", {"sub_issue_id": three["id"]}, **n)
    talk.ask(
        "PATCH", ISSUE + "/sub_issues/priority", {"sub_issue_id": three["id"], "before_id": two["id"]}, **n
    )
    talk.ask("GET", ISSUE + "/sub_issues", **n)
    talk.ask("GET", ISSUE + "/parent", issue_number=two["number"])
    talk.ask(
        "POST", ISSUE + "/dependencies/blocked_by", {"issue_id": two["id"]}, issue_number=three["number"]
    )
    talk.ask("GET", ISSUE + "/dependencies/blocked_by", issue_number=three["number"])
    talk.ask("GET", ISSUE + "/dependencies/blocking", issue_number=two["number"])
    talk.ask("GET", ISSUE, **n)
    talk.ask("GET", ISSUE + "/timeline", issue_number=three["number"])
    talk.ask("GET", ISSUE + "/events", issue_number=three["number"])
    blocker: dict[str, Any] = {"issue_number": three["number"], "issue_id": two["id"]}
    talk.ask("DELETE", ISSUE + "/dependencies/blocked_by/{issue_id}", **blocker)
    talk.ask("DELETE", ISSUE + "/sub_issue", {"sub_issue_id": three["id"]}, **n)
    talk.ask("PATCH", ISSUE, {"title": "Wrong sums", "body": "Still.", "milestone": None}, **n)
    talk.ask("GET", ISSUE + "/labels", **n)
    talk.ask("POST", ISSUE + "/labels", {"labels": ["git", "new"]}, **n)
    talk.ask("PUT", ISSUE + "/labels", {"labels": ["git"]}, **n)
    talk.ask("DELETE", ISSUE + "/labels/{name}", name="git", **n)
    talk.ask("DELETE", ISSUE + "/labels", **n)
    talk.ask("POST", ISSUE + "/assignees", {"assignees": ["octo"]}, **n)
    talk.ask("DELETE", ISSUE + "/assignees", {"assignees": ["ada"]}, **n)
    talk.ask("PUT", ISSUE + "/lock", {"lock_reason": "resolved"}, **n)
    talk.ask("DELETE", ISSUE + "/lock", **n)
    talk.ask("PATCH", ISSUE, {"state": "closed", "state_reason": "not_planned"}, **n)
    talk.ask("PATCH", ISSUE, {"state": "open"}, **n)
    talk.ask("GET", ISSUE + "/events?per_page=100", **n)
    talk.ask("GET", ISSUE + "/timeline?per_page=100", **n)
    talk.ask("DELETE", R + "/labels/{name}", name="git")


def comments(talk: Conversation) -> None:
    n: dict[str, Any] = {"issue_number": 1}
    made = talk.ask("POST", ISSUE + "/comments", {"body": "A word, see #2."}, token=READER_TOKEN, **n)
    by_app = talk.ask("POST", ISSUE + "/comments", {"body": "Beep."}, token=BOT_TOKEN, **n)
    c: dict[str, Any] = {"comment_id": made["id"]}
    talk.ask("GET", ISSUE + "/comments", **n)
    talk.ask("GET", R + "/issues/comments?sort=created")
    talk.ask("GET", COMMENT, **c)
    talk.ask("PATCH", COMMENT, {"body": "Another word."}, **c)
    talk.ask("POST", ISSUE + "/reactions", {"content": "eyes"}, **n)
    talk.ask("POST", ISSUE + "/reactions", {"content": "eyes"}, **n)
    talk.ask("GET", ISSUE + "/reactions", **n)
    talk.ask("POST", COMMENT + "/reactions", {"content": "-1"}, **c)
    talk.ask("GET", COMMENT + "/reactions", **c)
    talk.ask("GET", ISSUE + "/timeline?per_page=100", **n)
    talk.ask("DELETE", COMMENT, comment_id=by_app["id"])


def git_data(talk: Conversation) -> str:
    """Makes the branch feature/one with two commits; returns its tip."""
    main = talk.ask("GET", R + "/git/ref/{ref}", ref="heads/main")["object"]["sha"]
    talk.ask("GET", R + "/git/matching-refs/{ref}", ref="heads/ma")
    talk.ask("GET", R + "/branches")
    blob = talk.ask("POST", R + "/git/blobs", {"content": "aGVsbG8=", "encoding": "base64"})["sha"]
    talk.ask("GET", R + "/git/blobs/{file_sha}", file_sha=blob)
    rows = [
        {"path": "hello.txt", "mode": "100644", "type": "blob", "sha": blob},
        {"path": "src/deep/er.txt", "mode": "100644", "type": "blob", "content": "one\n2\nthree\n"},
        {"path": "link", "mode": "120000", "type": "blob", "content": "hello.txt"},
    ]
    tree = talk.ask("POST", R + "/git/trees", {"base_tree": main, "tree": rows})["sha"]
    talk.ask("GET", R + "/git/trees/{tree_sha}?recursive=1", tree_sha=tree)
    commit = {"message": "Say hello", "tree": tree, "parents": [main]}
    oid = str(talk.ask("POST", R + "/git/commits", commit)["sha"])
    talk.ask("GET", R + "/git/commits/{commit_sha}", commit_sha=oid)
    talk.ask("POST", R + "/git/refs", {"ref": "refs/heads/feature/one", "sha": main})
    talk.ask("PATCH", R + "/git/refs/{ref}", {"sha": oid}, ref="heads/feature/one")
    talk.ask("GET", R + "/branches/{branch}", branch="feature%2Fone")
    talk.ask("POST", R + "/git/refs", {"ref": "refs/heads/gone", "sha": main})
    talk.ask("DELETE", R + "/git/refs/{ref}", ref="heads/gone")
    talk.ask("POST", R + "/git/tags", {"tag": "v1", "message": "One", "object": main, "type": "commit"})
    talk.ask("GET", R + "/contents/{path}?ref=feature/one", path="hello.txt")
    talk.ask("GET", R + "/contents/{path}?ref=feature/one", path="link")
    talk.ask("GET", R + "/contents/{path}", path="src")
    talk.ask("GET", R + "/contents")
    talk.ask("GET", R + "/readme")
    write = {"message": "Add", "content": "bmV3Cg==", "branch": "feature/one"}
    new = talk.ask("PUT", R + "/contents/{path}", write, path="docs/new.md")["content"]["sha"]
    again = {**write, "content": "bmV3ZXIK", "sha": new}
    newer = talk.ask("PUT", R + "/contents/{path}", again, path="docs/new.md")["content"]["sha"]
    gone = {"message": "Remove", "sha": newer, "branch": "feature/one"}
    tip = str(talk.ask("DELETE", R + "/contents/{path}", gone, path="docs/new.md")["commit"]["sha"])
    talk.ask("GET", R + "/commits?sha=feature/one&path=hello.txt")
    talk.ask("GET", R + "/commits/{ref}", ref="feature%2Fone")
    talk.ask("GET", R + "/compare/{basehead}", basehead="main...feature/one")
    return tip


def checks(talk: Conversation, oid: str, directory: Path) -> None:
    status = {"state": "success", "context": "ci", "description": "ok", "target_url": "http://127.0.0.1/ci"}
    talk.ask("POST", R + "/statuses/{sha}", status, sha=oid)
    run = {"head_sha": oid, "name": "tests", "status": "in_progress", "external_id": "x1"}
    made = talk.ask("POST", R + "/check-runs", run, token=BOT_TOKEN)
    done = {"conclusion": "success", "output": {"title": "Passed", "summary": "All"}}
    talk.ask("PATCH", R + "/check-runs/{check_run_id}", done, token=BOT_TOKEN, check_run_id=made["id"])
    talk.ask("GET", R + "/check-runs/{check_run_id}", check_run_id=made["id"])
    place = {"path": "src/adder.py", "start_line": 2, "end_line": 2, "start_column": 5, "end_column": 9}
    remark = {**place, "annotation_level": "failure", "message": "no", "title": "Wrong", "raw_details": "…"}
    short = {
        "path": "README.md",
        "start_line": 1,
        "end_line": 1,
        "annotation_level": "notice",
        "message": "yes",
    }
    told = {"output": {"title": "Failed", "summary": "2", "annotations": [remark, short]}}
    talk.ask("PATCH", R + "/check-runs/{check_run_id}", told, token=BOT_TOKEN, check_run_id=made["id"])
    talk.ask("GET", R + "/check-runs/{check_run_id}/annotations", check_run_id=made["id"])
    keep_log(directory, made["id"], "one\n")
    talk.ask("GET", R + "/actions/jobs/{job_id}/logs", job_id=made["id"])
    for tail in ("status", "statuses", "check-runs", "check-suites"):
        talk.ask("GET", R + "/commits/{ref}/" + tail, ref=oid)


def pulls(talk: Conversation, head: str) -> None:
    body = {"title": "Say hello", "head": "feature/one", "base": "main", "body": "Part of #1", "draft": False}
    made = talk.ask("POST", R + "/pulls", body)
    n: dict[str, Any] = {"pull_number": made["number"]}
    talk.ask("GET", R + "/pulls?state=all&head=octo:feature/one")
    talk.ask("GET", "/search/issues?q=hello+is:pr+repo:octo/demo")
    talk.ask("GET", PULL, **n)
    talk.ask("PATCH", PULL, {"title": "Say hello!", "state": "closed"}, **n)
    talk.ask("PATCH", PULL, {"state": "open"}, **n)
    talk.ask("GET", PULL + "/files", **n)
    talk.ask("GET", PULL + "/commits", **n)
    talk.ask("POST", PULL + "/requested_reviewers", {"reviewers": ["ada"]}, **n)
    talk.ask("GET", PULL + "/requested_reviewers", **n)
    talk.ask("DELETE", PULL + "/requested_reviewers", {"reviewers": ["ada"]}, **n)
    inline = {"path": "src/deep/er.txt", "line": 2, "side": "RIGHT", "body": "Why?"}
    comment = talk.ask("POST", PULL + "/comments", {**inline, "commit_id": head}, **n)
    talk.ask("POST", PULL + "/comments/{comment_id}/replies", {"body": "So."}, comment_id=comment["id"], **n)
    talk.ask("GET", PULL + "/comments", **n)
    pending = talk.ask("POST", PULL + "/reviews", {"comments": [inline]}, token=BOT_TOKEN, **n)
    r: dict[str, Any] = {"review_id": pending["id"], **n}
    talk.ask("PUT", PULL + "/reviews/{review_id}", {"body": "Mostly."}, token=BOT_TOKEN, **r)
    talk.ask("POST", PULL + "/reviews/{review_id}/events", {"event": "APPROVE"}, token=BOT_TOKEN, **r)
    talk.ask("GET", PULL + "/reviews", **n)
    talk.ask("GET", PULL + "/reviews/{review_id}", **r)
    talk.ask("GET", PULL + "/reviews/{review_id}/comments", **r)
    talk.ask("PUT", PULL + "/reviews/{review_id}/dismissals", {"message": "Too early"}, **r)
    write = {"message": "Move on", "content": "eA==", "branch": "main"}
    talk.ask("PUT", R + "/contents/{path}", write, path="other.txt")
    talk.ask("PUT", PULL + "/update-branch", **n)
    talk.ask("GET", ISSUE + "/timeline?per_page=100", issue_number=made["number"])
    talk.ask("PUT", PULL + "/merge", {"merge_method": "squash"}, **n)
    talk.ask("GET", PULL + "/merge", **n)
    talk.ask("GET", PULL, **n)
    talk.ask("GET", ISSUE, issue_number=made["number"])
    talk.ask("GET", ISSUE + "/events", issue_number=made["number"])


def apps(talk: Conversation, number: int) -> None:
    signature = app_signature(number)
    talk.ask("GET", "/app", token=signature)
    found = talk.ask("GET", R + "/installation", token=signature)
    path = "/app/installations/{installation_id}/access_tokens"
    talk.ask("POST", path, {}, token=signature, installation_id=found["id"])
    narrowed = {"repositories": ["demo"], "permissions": {"contents": "read"}}
    talk.ask("POST", path, narrowed, token=signature, installation_id=found["id"])


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Answered]]:
    """Everything that was asked of one hub, with its answers."""
    directory: Path = tmp_path_factory.mktemp("conformance") / "hub"
    with running_hub(with_app(seeded(directory))) as hub, plain_http.Client() as client:
        talk = Conversation(hub.api_url, client)
        people_and_settings(talk)
        issues(talk)
        comments(talk)
        tip = git_data(talk)
        checks(talk, tip, directory)
        pulls(talk, tip)
        apps(talk, app_id(directory))
        missing = client.get(
            f"{hub.api_url}/repos/octo/demo/branches/main/protection",
            headers={"Authorization": f"token {OWNER_TOKEN}"},
        )
        route = ("GET", R + "/branches/{branch}/protection")
        talk.answers.append(Answered(route=route, status=missing.status_code, body=missing.json()))
        yield talk.answers


@pytest.mark.slow
@pytest.mark.parametrize("route", [(route.method, route.path) for route in ROUTES], ids=" ".join)
def test_every_route_answers_as_the_official_description_says(
    answers: list[Answered], route: tuple[str, str]
) -> None:
    given = [answer for answer in answers if answer.route == route]

    assert given, "no step of the conversation asks for this route"
    if route in BEYOND_THE_SUBSET:
        assert not DESCRIPTION.has(*route)
        return
    found = [DESCRIPTION.problems(*route, answer.status, answer.body) for answer in given]
    assert found == [[] for _ in given]


def test_the_hub_offers_most_of_what_is_described() -> None:
    described = {
        (method.upper(), path)
        for path, operations in DESCRIPTION.document["paths"].items()
        for method in operations
        if method in ("get", "post", "put", "patch", "delete")
    }
    offered = {(route.method, route.path) for route in ROUTES}

    assert {path for _, path in described - offered} == {
        R + "/dispatches",
        R + "/actions/workflows/{workflow_id}/dispatches",
        R + "/actions/runs/{run_id}",
        R + "/hooks",
    }


def test_the_description_tells_a_good_answer_from_a_bad_one() -> None:
    good = {"sha": "0" * 40, "merged": True, "message": "ok"}

    assert DESCRIPTION.problems("PUT", PULL + "/merge", 200, good) == []
    assert DESCRIPTION.problems("PUT", PULL + "/merge", 200, {**good, "merged": None}) == [
        "$.merged: None is not of type 'boolean'"
    ]
    assert DESCRIPTION.problems("PUT", PULL + "/merge", 202, good) == [
        "status 202 is not among ['200', '403', '404', '405', '409', '422']"
    ]
