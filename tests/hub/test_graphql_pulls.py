"""Pull requests through GraphQL."""

from typing import Any

import pytest

from cogworks.hub import seeding
from cogworks.hub.actions.repositories import change_repository
from tests.hub.graphql_world import Hub


def of_pull(hub: Hub, number: int, selection: str, token: str = "owner") -> Any:
    return hub.repo(f"pullRequest(number: {number}) {{ {selection} }}", token)["pullRequest"]


def opening(hub: Hub, head: str, base: str = "main", **given: Any) -> dict[str, Any]:
    return {
        "repositoryId": hub.repository_id,
        "title": "T",
        "headRefName": head,
        "baseRefName": base,
        **given,
    }


def test_a_pull_request_knows_its_branches_commits_and_files(graphql_hub: Hub) -> None:
    hub = graphql_hub
    base = hub.tip()
    pull = hub.pull("topic", body="Why", token="app")

    found = of_pull(
        hub, pull["number"],
        "title body state isDraft merged author { __typename login } headRefName headRefOid baseRefName baseRefOid "
        "headRef { name } isCrossRepository additions deletions changedFiles url "
        "commits(last: 1) { totalCount nodes { commit { oid } } } files(first: 5) { nodes { path changeType additions } }",
    )  # fmt: skip

    assert found == {
        "title": "Repair",
        "body": "Why",
        "state": "OPEN",
        "isDraft": False,
        "merged": False,
        "author": {"__typename": "Bot", "login": "helper"},
        "headRefName": "topic",
        "headRefOid": hub.tip("topic"),
        "baseRefName": "main",
        "baseRefOid": base,
        "headRef": {"name": "topic"},
        "isCrossRepository": False,
        "additions": 1,
        "deletions": 0,
        "changedFiles": 1,
        "url": f"http://127.0.0.1:8000/octo/demo/pull/{pull['number']}",
        "commits": {"totalCount": 1, "nodes": [{"commit": {"oid": hub.tip("topic")}}]},
        "files": {"nodes": [{"path": "topic.txt", "changeType": "ADDED", "additions": 1}]},
    }


def test_a_second_pull_request_of_one_head_and_base_is_refused(graphql_hub: Hub) -> None:
    graphql_hub.pull("topic")

    assert graphql_hub.refusal("createPullRequest", **opening(graphql_hub, "topic")) == {
        "type": "UNPROCESSABLE",
        "path": ["createPullRequest"],
        "message": "A pull request already exists for octo:topic.",
    }


def test_a_pull_request_needs_commits_between_base_and_head(graphql_hub: Hub) -> None:
    hub = graphql_hub
    hub.branch("same")

    assert (
        hub.refusal("createPullRequest", **opening(hub, "same"))["message"]
        == "No commits between main and same"
    )
    assert hub.refusal("createPullRequest", **opening(hub, "missing"))["type"] == "UNPROCESSABLE"
    assert hub.refusal("createPullRequest", **opening(hub, "same", "missing"))["type"] == "UNPROCESSABLE"


def test_actions_may_open_pull_requests_only_where_it_is_switched_on(graphql_hub: Hub) -> None:
    hub = graphql_hub
    seeding.add_token(
        hub.world,
        hub.actor("app").known,
        "job",
        kind="actions",
        permissions={"pull_requests": "write", "contents": "write"},
    )
    hub.branch("topic")
    hub.commit("topic", {"a": "1"})

    refusal = hub.refusal("createPullRequest", "job", **opening(hub, "topic"))
    change_repository(hub.world, hub.actor("owner"), hub.repository, actions_may_open_pull_requests=True)

    assert (refusal["type"], refusal["message"]) == (
        "FORBIDDEN",
        "GitHub Actions is not permitted to create or approve pull requests.",
    )
    hub.mutate("createPullRequest", "pullRequest { number }", "job", **opening(hub, "topic"))


def test_mergeability_is_unknown_at_first_and_after_every_change(graphql_hub: Hub) -> None:
    hub = graphql_hub
    number = hub.pull("topic")["number"]

    def state() -> tuple[str, str]:
        found = of_pull(hub, number, "mergeStateStatus mergeable")
        return found["mergeable"], found["mergeStateStatus"]

    assert [state(), state()] == [("UNKNOWN", "UNKNOWN"), ("MERGEABLE", "CLEAN")]
    hub.commit("topic", {"src/calc.py": "mine"})
    assert [state(), state()] == [("UNKNOWN", "UNKNOWN"), ("MERGEABLE", "CLEAN")]
    hub.commit("main", {"src/calc.py": "theirs"})
    assert [state(), state()] == [("UNKNOWN", "UNKNOWN"), ("CONFLICTING", "DIRTY")]


@pytest.mark.parametrize(("method", "parents"), [("MERGE", 2), ("SQUASH", 1), ("REBASE", 1)])
def test_merging_moves_the_base_and_closes_the_pull_request(
    graphql_hub: Hub, method: str, parents: int
) -> None:
    hub = graphql_hub
    issue = hub.issue()
    pull = hub.pull("topic", body=f"Fixes #{issue['number']}")
    head = hub.tip("topic")

    merged = hub.mutate(
        "mergePullRequest",
        "pullRequest { state merged mergedBy { login } mergeCommit { oid parents(first: 3) { totalCount } } headRefOid closed }",
        "writer",
        pullRequestId=pull["id"],
        mergeMethod=method,
        expectedHeadOid=head,
    )["pullRequest"]

    assert merged == {
        "state": "MERGED", "merged": True, "mergedBy": {"login": "wanda"}, "closed": True, "headRefOid": head,
        "mergeCommit": {"oid": hub.tip(), "parents": {"totalCount": parents}},
    }  # fmt: skip
    item = hub.repo(
        "issue(number: 1) { state stateReason timelineItems(last: 1) { nodes { ... on ClosedEvent { closer { ... on PullRequest { number } } } } } }"
    )["issue"]
    assert item == {
        "state": "CLOSED",
        "stateReason": "COMPLETED",
        "timelineItems": {"nodes": [{"closer": {"number": pull["number"]}}]},
    }
    assert hub.repo('object(expression: "main:topic.txt") { ... on Blob { text } }')["object"] == {
        "text": "topic"
    }


def test_a_merge_pinned_to_another_head_is_refused(graphql_hub: Hub) -> None:
    hub = graphql_hub
    pull, before = hub.pull("topic"), hub.tip()
    stale = hub.tip("topic")
    hub.commit("topic", {"more": "1"})

    refusal = hub.refusal("mergePullRequest", pullRequestId=pull["id"], expectedHeadOid=stale)

    assert refusal["message"] == "Head branch was modified. Review and try the merge again."
    assert hub.tip() == before
    assert hub.refusal("mergePullRequest", "reader", pullRequestId=pull["id"])["type"] == "FORBIDDEN"


def test_a_merged_pull_request_keeps_its_facts_when_its_branch_is_deleted(graphql_hub: Hub) -> None:
    hub = graphql_hub
    hub.issue()
    change_repository(hub.world, hub.actor("owner"), hub.repository, delete_branch_on_merge=True)
    pull = hub.pull("topic", body="Part of #1")
    head = hub.tip("topic")

    hub.mutate("mergePullRequest", "pullRequest { id }", pullRequestId=pull["id"])

    found = of_pull(
        hub,
        pull["number"],
        "headRef { name } headRefName headRefOid state timelineItems(last: 3) { nodes { __typename ... on HeadRefDeletedEvent { headRefName headRef { name } } } }",
    )
    assert found["headRef"] is None
    assert (found["headRefName"], found["headRefOid"], found["state"]) == ("topic", head, "MERGED")
    assert {"__typename": "HeadRefDeletedEvent", "headRefName": "topic", "headRef": None} in found[
        "timelineItems"
    ]["nodes"]
    assert hub.repo('ref(qualifiedName: "refs/heads/topic") { id }') == {"ref": None}
    (source,) = hub.repo(
        "issue(number: 1) { timelineItems(first: 5, itemTypes: [CROSS_REFERENCED_EVENT]) { nodes { ... on CrossReferencedEvent { source { ... on PullRequest { number merged } } } } } }"
    )["issue"]["timelineItems"]["nodes"]
    assert source == {"source": {"number": pull["number"], "merged": True}}


def test_a_base_branch_that_is_deleted_closes_what_depends_on_it(graphql_hub: Hub) -> None:
    hub = graphql_hub
    hub.branch("base")
    hub.branch("head")
    hub.commit("head", {"a": "1"})
    number = hub.mutate("createPullRequest", "pullRequest { number }", **opening(hub, "head", "base"))[
        "pullRequest"
    ]["number"]
    ref = hub.repo('ref(qualifiedName: "refs/heads/base") { id }')["ref"]["id"]

    hub.mutate("deleteRef", "clientMutationId", refId=ref)

    found = of_pull(
        hub,
        number,
        "state merged baseRef { name } baseRefName timelineItems(first: 9) { nodes { __typename } }",
    )
    assert (found["state"], found["merged"], found["baseRef"], found["baseRefName"]) == (
        "CLOSED",
        False,
        None,
        "base",
    )
    assert [node["__typename"] for node in found["timelineItems"]["nodes"]] == [
        "PullRequestCommit",
        "BaseRefDeletedEvent",
        "ClosedEvent",
    ]


def test_a_pull_request_is_retargeted_closed_and_reopened(graphql_hub: Hub) -> None:
    hub = graphql_hub
    pull = hub.pull("topic")["id"]
    hub.branch("other")

    retargeted = hub.mutate(
        "updatePullRequest",
        "pullRequest { baseRefName title } actor { login }",
        pullRequestId=pull,
        baseRefName="other",
        title="Better",
    )
    closed = hub.mutate("closePullRequest", "pullRequest { state }", pullRequestId=pull)
    refused = hub.refusal("updatePullRequest", pullRequestId=pull, baseRefName="main")
    reopened = hub.mutate("reopenPullRequest", "pullRequest { state }", pullRequestId=pull)
    again = hub.mutate("updatePullRequest", "pullRequest { state }", pullRequestId=pull, state="CLOSED")

    assert retargeted == {
        "pullRequest": {"baseRefName": "other", "title": "Better"},
        "actor": {"login": "octo"},
    }
    assert (closed, reopened, again) == tuple(
        {"pullRequest": {"state": state}} for state in ("CLOSED", "OPEN", "CLOSED")
    )
    assert refused["message"] == "Cannot change the base branch of a closed pull request."


def test_a_draft_becomes_ready_and_a_draft_again(graphql_hub: Hub) -> None:
    hub = graphql_hub
    hub.branch("topic")
    hub.commit("topic", {"a": "1"})
    pull = hub.mutate("createPullRequest", "pullRequest { id isDraft }", **opening(hub, "topic", draft=True))[
        "pullRequest"
    ]

    ready = hub.mutate("markPullRequestReadyForReview", "pullRequest { isDraft }", pullRequestId=pull["id"])
    again = hub.mutate("convertPullRequestToDraft", "pullRequest { isDraft }", pullRequestId=pull["id"])

    assert (pull["isDraft"], ready, again) == (
        True,
        {"pullRequest": {"isDraft": False}},
        {"pullRequest": {"isDraft": True}},
    )
    assert (
        hub.refusal("mergePullRequest", pullRequestId=pull["id"])["message"]
        == "Pull Request is still a draft"
    )


def test_a_state_is_set_by_an_update_as_well(graphql_hub: Hub) -> None:
    hub = graphql_hub
    issue, pull = hub.issue()["id"], hub.pull()["id"]

    states = [
        *(
            hub.mutate("updateIssue", "issue { state }", id=issue, state=state)["issue"]["state"]
            for state in ("CLOSED", "OPEN")
        ),
        *(
            hub.mutate("updatePullRequest", "pullRequest { state }", pullRequestId=pull, state=state)[
                "pullRequest"
            ]["state"]
            for state in ("CLOSED", "OPEN")
        ),
    ]

    assert states == ["CLOSED", "OPEN", "CLOSED", "OPEN"]


@pytest.mark.parametrize(
    ("name", "given", "type_"),
    [
        ("updatePullRequestBranch", {"updateMethod": "REBASE"}, "UNPROCESSABLE"),
        ("requestReviews", {"teamIds": ["x"]}, "NOT_FOUND"),
        ("addPullRequestReviewThread", {"pullRequestReviewId": "x", "pullRequestId": None, "path": "a", "body": "b"}, "UNPROCESSABLE"),
        ("submitPullRequestReview", {"pullRequestId": None, "event": "COMMENT"}, "UNPROCESSABLE"),
        ("submitPullRequestReview", {"event": "DISMISS"}, "UNPROCESSABLE"),
    ],
)  # fmt: skip
def test_what_the_hub_does_not_do_is_refused(
    graphql_hub: Hub, name: str, given: dict[str, Any], type_: str
) -> None:
    pull = graphql_hub.pull()["id"]

    assert graphql_hub.refusal(name, **{"pullRequestId": pull, **given})["type"] == type_


def test_a_fork_is_nowhere_to_be_found(graphql_hub: Hub) -> None:
    hub = graphql_hub
    other = seeding.create_repository(hub.world, "octo/other")
    hub.branch("topic")

    refusal = hub.refusal("createPullRequest", **opening(hub, "topic", headRepositoryId=other.node_id))

    assert refusal["type"] == "NOT_FOUND"
