"""Reviews, threads and checks of pull requests through GraphQL."""

from datetime import timedelta
from typing import Any

import pytest

from cogworks.hub import seeding
from cogworks.hub.actions.checks import create_check_run, create_status
from tests.hub.graphql_world import Hub


def of_pull(hub: Hub, number: int, selection: str, token: str = "owner") -> Any:
    return hub.repo(f"pullRequest(number: {number}) {{ {selection} }}", token)["pullRequest"]


def test_only_approvals_of_writers_for_a_head_are_counted_apart(graphql_hub: Hub) -> None:
    hub = graphql_hub
    pull = hub.pull("topic", token="app")
    old = hub.tip("topic")
    for token, event in (("reader", "APPROVE"), ("writer", "REQUEST_CHANGES"), ("writer", "APPROVE")):
        hub.mutate(
            "addPullRequestReview",
            "pullRequestReview { id }",
            token,
            pullRequestId=pull["id"],
            event=event,
            body="!",
        )
    hub.commit("topic", {"more": "1"})
    selection = "nodes { state author { login } authorCanPushToRepository commit { oid } }"

    found = of_pull(
        hub,
        pull["number"],
        f'reviewDecision all: latestOpinionatedReviews(first: 9) {{ {selection} }} writers: latestOpinionatedReviews(first: 9, writersOnly: true) {{ {selection} }} reviews(first: 9, author: "wanda", states: [APPROVED]) {{ totalCount }} latestReviews(first: 9) {{ totalCount }}',
    )

    rita, wanda = (
        {
            "state": "APPROVED",
            "author": {"login": login},
            "authorCanPushToRepository": may,
            "commit": {"oid": old},
        }
        for login, may in (("rita", False), ("wanda", True))
    )
    assert found == {
        "reviewDecision": None, "all": {"nodes": [rita, wanda]}, "writers": {"nodes": [wanda]},
        "reviews": {"totalCount": 1}, "latestReviews": {"totalCount": 2},
    }  # fmt: skip


def test_nobody_approves_their_own_pull_request(graphql_hub: Hub) -> None:
    pull = graphql_hub.pull("topic", token="writer")["id"]

    refusal = graphql_hub.refusal("addPullRequestReview", "writer", pullRequestId=pull, event="APPROVE")

    assert (refusal["type"], refusal["message"]) == ("UNPROCESSABLE", "Can not approve your own pull request")


def test_a_pending_review_is_its_authors_secret_until_it_is_submitted(graphql_hub: Hub) -> None:
    hub = graphql_hub
    pull = hub.pull("topic")
    thread = {"path": "topic.txt", "line": 1, "body": "Why?"}
    made = hub.mutate(
        "addPullRequestReview",
        "pullRequestReview { id state submittedAt } reviewEdge { node { id } }",
        "writer",
        pullRequestId=pull["id"],
        threads=[thread],
    )
    selection = "reviews(first: 5) { totalCount } reviewThreads(first: 5) { totalCount }"
    hidden, seen = of_pull(hub, pull["number"], selection), of_pull(hub, pull["number"], selection, "writer")

    hub.clock.moment += timedelta(minutes=1)
    submitted = hub.mutate(
        "submitPullRequestReview",
        "pullRequestReview { state submittedAt body }",
        "writer",
        pullRequestId=pull["id"],
        event="COMMENT",
        body="Hm",
    )

    assert made["pullRequestReview"]["state"] == "PENDING"
    assert made["reviewEdge"]["node"]["id"] == made["pullRequestReview"]["id"]
    assert hidden == {"reviews": {"totalCount": 0}, "reviewThreads": {"totalCount": 0}}
    assert seen == {"reviews": {"totalCount": 1}, "reviewThreads": {"totalCount": 1}}
    assert submitted["pullRequestReview"] == {
        "state": "COMMENTED",
        "submittedAt": "2026-03-01T12:01:00Z",
        "body": "Hm",
    }
    assert of_pull(hub, pull["number"], selection) == seen
    assert (
        hub.refusal("submitPullRequestReview", "writer", pullRequestId=pull["id"], event="COMMENT")["type"]
        == "NOT_FOUND"
    )


def test_a_thread_gathers_replies_and_is_resolved(graphql_hub: Hub) -> None:
    hub = graphql_hub
    pull = hub.pull("topic")
    thread = hub.mutate(
        "addPullRequestReviewThread",
        "thread { id isResolved isOutdated path line }",
        "writer",
        pullRequestId=pull["id"],
        path="topic.txt",
        line=1,
        body="Why?",
    )["thread"]
    hub.mutate(
        "addPullRequestReviewThreadReply",
        "comment { replyTo { body } }",
        pullRequestReviewThreadId=thread["id"],
        body="So",
    )
    hub.commit("topic", {"topic.txt": "new"})

    resolved = hub.mutate(
        "resolveReviewThread",
        "thread { isResolved isOutdated comments(first: 5) { nodes { body author { login } outdated state } } }",
        threadId=thread["id"],
    )["thread"]

    assert thread == {
        "id": thread["id"],
        "isResolved": False,
        "isOutdated": False,
        "path": "topic.txt",
        "line": 1,
    }
    assert resolved == {
        "isResolved": True,
        "isOutdated": True,
        "comments": {
            "nodes": [
                {"body": "Why?", "author": {"login": "wanda"}, "outdated": True, "state": "SUBMITTED"},
                {"body": "So", "author": {"login": "octo"}, "outdated": True, "state": "SUBMITTED"},
            ]
        },
    }


@pytest.mark.parametrize(
    "given",
    [{"event": "DISMISS"}, {"event": "REQUEST_CHANGES"}, {"threads": [{"path": "nope", "line": 1, "body": "x"}]}, {"comments": [{"path": "topic.txt", "position": 1, "body": "x"}]}],
    ids=["dismissing", "no-body", "no-such-file", "by-position"],
)  # fmt: skip
def test_a_review_that_cannot_be_is_refused(graphql_hub: Hub, given: dict[str, Any]) -> None:
    pull = graphql_hub.pull("topic")["id"]

    assert (
        graphql_hub.refusal("addPullRequestReview", "writer", pullRequestId=pull, **given)["type"]
        == "UNPROCESSABLE"
    )


def rollup(hub: Hub, number: int, token: str = "owner") -> dict[str, Any]:
    selection = "commits(last: 1) { nodes { commit { statusCheckRollup { state contexts(first: 9) { totalCount nodes { __typename ... on CheckRun { name status conclusion externalId } ... on StatusContext { context state } } } } } } }"
    return hub.answer(
        f'{{ repository(owner: "octo", name: "demo") {{ pullRequest(number: {number}) {{ {selection} }} }} }}',
        token,
    )


def test_checks_and_statuses_add_up(graphql_hub: Hub) -> None:
    hub = graphql_hub
    number = hub.pull("topic")["number"]
    head, where = hub.tip("topic"), (hub.world, hub.actor("app"), hub.repository)

    def state() -> Any:
        return rollup(hub, number)["data"]["repository"]["pullRequest"]["commits"]["nodes"][0]["commit"][
            "statusCheckRollup"
        ]

    assert state() is None
    create_check_run(*where, oid=head, name="tests", fields={"external_id": "k", "conclusion": "failure"})
    create_status(*where, oid=head, state="success", context="lint")
    assert state() == {
        "state": "FAILURE",
        "contexts": {
            "totalCount": 2,
            "nodes": [
                {"__typename": "CheckRun", "name": "tests", "status": "COMPLETED", "conclusion": "FAILURE", "externalId": "k"},
                {"__typename": "StatusContext", "context": "lint", "state": "SUCCESS"},
            ],
        },
    }  # fmt: skip
    create_check_run(*where, oid=head, name="tests", fields={"conclusion": "success"})
    assert state()["state"] == "SUCCESS"


def test_a_token_that_may_not_read_checks_is_told_so_beside_the_rest(graphql_hub: Hub) -> None:
    hub = graphql_hub
    number = hub.pull("topic")["number"]
    seeding.add_token(
        hub.world,
        hub.actor("app").known,
        "narrow",
        kind="installation",
        permissions={"contents": "write", "pull_requests": "write"},
    )

    answer = rollup(hub, number, "narrow")

    assert answer["data"]["repository"]["pullRequest"]["commits"]["nodes"] == [
        {"commit": {"statusCheckRollup": None}}
    ]
    (error,) = answer["errors"]
    assert error.pop("locations")
    assert error == {
        "type": "FORBIDDEN",
        "path": ["repository", "pullRequest", "commits", "nodes", 0, "commit", "statusCheckRollup"],
        "message": "Resource not accessible by integration",
    }
