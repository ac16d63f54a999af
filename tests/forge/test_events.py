"""Which work item an event is about, with the payloads that Octokit publishes."""

import json
from pathlib import Path
from typing import Any

import pytest

from cogworks.forge.bodies import marked
from cogworks.forge.events import About, Ignored, about, actor_id
from cogworks.vocabulary import VisitKey

PAYLOADS = Path(__file__).parents[1] / "data" / "webhooks"
RUN = "cogworks:run"
REPOSITORY = "https://github.com/Codertocat/Hello-World"


def payload(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text("utf-8"))
    return found


def of_issue(name: str, *labels: str, **changes: Any) -> dict[str, Any]:
    told = payload(name)
    told["issue"] = {**told["issue"], "labels": [{"name": label} for label in labels], **changes}
    return told


def of_pull(name: str, ref: str, *, fork: bool = False) -> dict[str, Any]:
    told = payload(name)
    told["pull_request"]["head"]["ref"] = ref
    if fork:
        told["pull_request"]["head"]["repo"]["full_name"] = "mallory/Hello-World"
    return told


@pytest.mark.parametrize("event", ["issues", "issue_comment"])
def test_an_event_of_a_triggered_issue_is_about_that_issue(event: str) -> None:
    told = of_issue("issues.labeled" if event == "issues" else "issue_comment.created", RUN)

    assert about(event, told, trigger=RUN) == About(issue_url=f"{REPOSITORY}/issues/1")


@pytest.mark.parametrize(
    ("labels", "changes", "reason"),
    [
        (["bug"], {}, "#1 does not carry the label 'cogworks:run'"),
        ([RUN], {"state": "closed"}, "#1 is closed"),
    ],
    ids=["not-triggered", "closed"],
)
def test_an_issue_that_nobody_asked_for_is_left_alone(
    labels: list[str], changes: dict[str, Any], reason: str
) -> None:
    assert about("issues", of_issue("issues.labeled", *labels, **changes), trigger=RUN) == Ignored(
        reason=reason
    )


@pytest.mark.parametrize("label", ["cogworks:node:planning", "cogworks:kind:bug", "cogworks:awaiting-review"])
def test_the_views_that_cogworks_writes_start_nothing(label: str) -> None:
    told = {**of_issue("issues.labeled", RUN), "label": {"name": label}}

    assert about("issues", told, trigger=RUN) == Ignored(reason=f"the label {label!r} is a view")


def test_comments_that_cogworks_writes_start_nothing() -> None:
    told = of_issue("issue_comment.created", RUN)
    told["comment"]["body"] = marked("Working.", visit_key=VisitKey("0" * 64), topic="status")

    assert about("issue_comment", told, trigger=RUN) == Ignored(reason="the comment is one of cogworks' own")


@pytest.mark.parametrize(
    ("event", "name"),
    [("pull_request", "pull_request.closed"), ("pull_request_review", "pull_request_review.submitted")],
)
def test_a_pull_request_belongs_to_the_item_its_branch_names(event: str, name: str) -> None:
    assert about(event, of_pull(name, "cogworks/12/swi-3"), trigger=RUN) == About(
        issue_url=f"{REPOSITORY}/issues/12"
    )


@pytest.mark.parametrize(("branch", "number"), [("cogworks/12/swi-3", 12), ("main", None)])
def test_a_commit_status_is_about_the_item_whose_branch_the_commit_is_on(
    branch: str, number: int | None
) -> None:
    told = payload("status.0")
    told["branches"] = [{"name": branch}]

    found = about("status", told, trigger=RUN)

    url = f"{told['repository']['html_url']}/issues/{number}"
    nothing = Ignored(reason="the event 'status' is not about a work item")
    assert found == (nothing if number is None else About(issue_url=url))


@pytest.mark.parametrize(
    ("ref", "fork"),
    [
        ("changes", False),
        ("cogworks/12/spec", True),
        ("cogworks/0/spec", False),
        ("cogworks/ledger/12", False),
    ],
    ids=["another-branch", "a-fork", "no-number", "a-ledger"],
)
def test_other_pull_requests_are_about_no_item(ref: str, fork: bool) -> None:
    assert about("pull_request", of_pull("pull_request.closed", ref, fork=fork), trigger=RUN) == Ignored(
        reason="the event 'pull_request' is not about a work item"
    )


def test_a_comment_on_a_pull_request_is_about_the_item_its_text_names() -> None:
    told = of_issue("issue_comment.created", body="Part of #12.", pull_request={"url": "x"})

    assert about("issue_comment", told, trigger=RUN) == About(issue_url=f"{REPOSITORY}/issues/12")


@pytest.mark.parametrize(
    ("issue", "wanted"),
    [
        ("12", About(issue_url=f"{REPOSITORY}/issues/12")),
        ("12; rm -rf /", Ignored(reason="the event 'workflow_dispatch' is not about a work item")),
    ],
)
def test_a_dispatched_run_names_its_issue_by_number(issue: str, wanted: About | Ignored) -> None:
    told = {"inputs": {"issue": issue}, "repository": {"html_url": REPOSITORY}}

    assert about("workflow_dispatch", told, trigger=RUN) == wanted


def test_checks_are_about_the_item_of_their_pull_request() -> None:
    head = {"ref": "cogworks/7/swi-1", "repo": {"id": 5}}
    told = {
        "check_suite": {"pull_requests": [{"head": head}]},
        "repository": {"id": 5, "html_url": REPOSITORY},
    }

    assert about("check_suite", told, trigger=RUN) == About(issue_url=f"{REPOSITORY}/issues/7")


@pytest.mark.parametrize(("kind", "wanted"), [("Bot", 41), ("User", None)])
def test_only_an_app_can_be_told_to_be_ourselves(kind: str, wanted: int | None) -> None:
    assert actor_id({"sender": {"id": 41, "type": kind}}) == wanted
