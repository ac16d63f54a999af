"""A hub in which everything has happened at least once, so that every field has something to say."""

from dataclasses import dataclass
from typing import Any

from cogworks.hub.actions.checks import create_check_run, create_status
from cogworks.hub.actions.issues import create_milestone
from cogworks.hub.actions.labels import find_label
from cogworks.hub.actions.repositories import change_repository
from cogworks.hub.gitstore import RefUpdate
from tests.hub.graphql_world import Hub


@dataclass(frozen=True)
class Numbers:
    """Where to find what."""

    issue: int
    open_pull: int
    merged_pull: int
    closed_pull: int
    tag_oid: str


def make_busy(hub: Hub) -> Numbers:
    """Let people work with every mutation there is."""
    people = {
        login: hub.data(f'{{ user(login: "{login}") {{ id }} }}')["user"]["id"]
        for login in ("octo", "wanda", "rita")
    }
    issue = _issue(hub, people)
    open_pull = _open_pull(hub, people, issue)
    merged = _merged_pull(hub, issue)
    closed = _closed_pull(hub)
    change_repository(hub.world, hub.actor("owner"), hub.repository, description="A demonstration")
    return Numbers(issue["number"], open_pull, merged, closed, _tag(hub))


def _labels(hub: Hub) -> tuple[str, str]:
    where = hub.repository_id
    made = hub.mutate("createLabel", "label { id }", repositoryId=where, name="area: core", color="c0ffee")[
        "label"
    ]["id"]
    hub.mutate("updateLabel", "label { id }", id=made, description="The inside")
    gone = hub.mutate("createLabel", "label { id }", repositoryId=where, name="gone", color="000000")[
        "label"
    ]["id"]
    return made, gone


def _issue(hub: Hub, people: dict[str, str]) -> dict[str, Any]:
    label, gone = _labels(hub)
    milestone = create_milestone(
        hub.world, hub.actor("owner"), hub.repository, title="First", description="Soon"
    )
    given = {"body": "It is **broken**", "labelIds": [gone], "assigneeIds": [people["octo"]]}
    issue = hub.issue("Broken", **given)
    node = issue["id"]
    hub.mutate("addLabelsToLabelable", "clientMutationId", labelableId=node, labelIds=[label])
    hub.mutate("removeLabelsFromLabelable", "clientMutationId", labelableId=node, labelIds=[gone])
    hub.mutate("deleteLabel", "clientMutationId", id=gone)
    hub.mutate(
        "updateIssue",
        "clientMutationId",
        id=node,
        title="Broken badly",
        body="It is broken",
        milestoneId=milestone.node_id,
    )
    hub.mutate(
        "addAssigneesToAssignable", "clientMutationId", assignableId=node, assigneeIds=[people["wanda"]]
    )
    hub.mutate(
        "removeAssigneesFromAssignable", "clientMutationId", assignableId=node, assigneeIds=[people["octo"]]
    )
    hub.mutate("closeIssue", "clientMutationId", issueId=node, stateReason="NOT_PLANNED")
    hub.mutate("reopenIssue", "clientMutationId", issueId=node)
    hub.mutate("lockLockable", "clientMutationId", lockableId=node, lockReason="TOO_HEATED")
    hub.mutate("unlockLockable", "clientMutationId", lockableId=node)
    hub.mutate("lockLockable", "clientMutationId", lockableId=node, lockReason="RESOLVED")
    _conversation(hub, node)
    _hierarchy(hub, node)
    other = hub.issue("Unplanned", milestoneId=milestone.node_id)
    hub.mutate("updateIssue", "clientMutationId", id=other["id"], milestoneId=None)
    hub.mutate("addLabelsToLabelable", "clientMutationId", labelableId=other["id"], labelIds=[label])
    hub.mutate("clearLabelsFromLabelable", "clientMutationId", labelableId=other["id"])
    return issue


def _conversation(hub: Hub, subject: str) -> None:
    def comment(body: str, token: str) -> str:
        payload = hub.mutate("addComment", "commentEdge { node { id } }", token, subjectId=subject, body=body)
        node: str = payload["commentEdge"]["node"]["id"]
        return node

    kept, gone = comment("Me too\n\n```\ncode\n```", "app"), comment("Typo", "writer")
    hub.mutate("updateIssueComment", "clientMutationId", id=kept, body="Me too!")
    hub.mutate("deleteIssueComment", "clientMutationId", "writer", id=gone)
    hub.mutate("minimizeComment", "clientMutationId", subjectId=kept, classifier="OFF_TOPIC")
    hub.mutate("unminimizeComment", "clientMutationId", subjectId=kept)
    hub.mutate("minimizeComment", "clientMutationId", subjectId=kept, classifier="OUTDATED")
    for node in (kept, subject):
        hub.mutate("addReaction", "clientMutationId", subjectId=node, content="THUMBS_UP")
        hub.mutate("addReaction", "clientMutationId", "app", subjectId=node, content="EYES")
        hub.mutate("removeReaction", "clientMutationId", "app", subjectId=node, content="EYES")


def _hierarchy(hub: Hub, parent: str) -> None:
    one, two = hub.issue("One", parentIssueId=parent)["id"], hub.issue("Two")["id"]
    hub.mutate("addSubIssue", "clientMutationId", issueId=parent, subIssueId=two)
    hub.mutate("reprioritizeSubIssue", "clientMutationId", issueId=parent, subIssueId=two, beforeId=one)
    hub.mutate("removeSubIssue", "clientMutationId", issueId=parent, subIssueId=two)
    hub.mutate("addBlockedBy", "clientMutationId", issueId=parent, blockingIssueId=two)
    hub.mutate("addBlockedBy", "clientMutationId", issueId=one, blockingIssueId=parent)
    grandparent = hub.issue("Above")["id"]
    hub.mutate("addSubIssue", "clientMutationId", issueId=grandparent, subIssueId=parent)


def _open_pull(hub: Hub, people: dict[str, str], issue: dict[str, Any]) -> int:
    pull = hub.pull("topic", body=f"Fixes #{issue['number']}", token="app")
    node, head = pull["id"], hub.tip("topic")
    owner = hub.actor("owner")
    hub.branch("other-base")
    hub.mutate("updatePullRequest", "clientMutationId", pullRequestId=node, baseRefName="other-base")
    hub.mutate(
        "updatePullRequest", "clientMutationId", pullRequestId=node, baseRefName="main", title="Repair it"
    )
    hub.mutate("convertPullRequestToDraft", "clientMutationId", pullRequestId=node)
    hub.mutate("markPullRequestReadyForReview", "clientMutationId", pullRequestId=node)
    hub.mutate("closePullRequest", "clientMutationId", pullRequestId=node)
    hub.mutate("reopenPullRequest", "clientMutationId", pullRequestId=node)
    hub.commit("main", {"moved.txt": "on"})
    hub.mutate("updatePullRequestBranch", "clientMutationId", pullRequestId=node)
    head = hub.tip("topic")
    hub.mutate(
        "requestReviews", "clientMutationId", pullRequestId=node, userIds=[people["wanda"], people["rita"]]
    )
    _reviews(hub, node)
    create_check_run(
        hub.world, hub.actor("app"), hub.repository, oid=head, name="tests",
        fields={
            "external_id": "42", "conclusion": "success", "details_url": "http://127.0.0.1/x", "title": "All well",
            "summary": "12 passed", "text": "in 3 s",
            "annotations": [
                {
                    "path": "README.md", "start_line": 1, "end_line": 2, "start_column": 3, "end_column": 4,
                    "level": "warning", "message": "Too long", "title": "Length", "raw_details": "80",
                }
            ],
        },
    )  # fmt: skip
    create_status(
        hub.world, owner, hub.repository, oid=head, state="success", context="lint", description="clean",
        target_url="http://127.0.0.1/y",
    )  # fmt: skip
    labels = [find_label(hub.world, hub.repository, "bug").node_id]
    hub.mutate("addLabelsToLabelable", "clientMutationId", labelableId=node, labelIds=labels)
    hub.mutate("addComment", "clientMutationId", subjectId=node, body="Nice")
    first = hub.repo("milestone(number: 1) { id }")["milestone"]["id"]
    body = f"Fixes #{issue['number']}."
    hub.mutate("updatePullRequest", "clientMutationId", pullRequestId=node, body=body, milestoneId=first)
    hub.mutate("lockLockable", "clientMutationId", lockableId=node, lockReason="RESOLVED")
    number: int = pull["number"]
    return number


def _reviews(hub: Hub, pull: str) -> None:
    thread = {"path": "topic.txt", "line": 1, "body": "Why?"}
    given = {"pullRequestId": pull, "threads": [thread]}
    pending = hub.mutate("addPullRequestReview", "pullRequestReview { id }", "writer", **given)[
        "pullRequestReview"
    ]["id"]
    hub.mutate(
        "submitPullRequestReview",
        "clientMutationId",
        "writer",
        pullRequestReviewId=pending,
        event="REQUEST_CHANGES",
        body="No",
    )
    hub.mutate(
        "updatePullRequestReview", "clientMutationId", "writer", pullRequestReviewId=pending, body="Not yet"
    )
    hub.mutate("addReaction", "clientMutationId", subjectId=pending, content="HEART")
    first = hub.mutate(
        "addPullRequestReviewThread",
        "thread { id comments(first: 1) { nodes { id } } }",
        pullRequestId=pull,
        path="topic.txt",
        line=1,
        body="Here",
    )["thread"]
    hub.mutate(
        "addPullRequestReviewThreadReply",
        "clientMutationId",
        "writer",
        pullRequestReviewThreadId=first["id"],
        body="Fine",
    )
    hub.mutate(
        "addReaction", "clientMutationId", subjectId=first["comments"]["nodes"][0]["id"], content="ROCKET"
    )
    hub.mutate("resolveReviewThread", "clientMutationId", threadId=first["id"])
    hub.mutate("unresolveReviewThread", "clientMutationId", threadId=first["id"])
    hub.mutate("resolveReviewThread", "clientMutationId", threadId=first["id"])
    approval = hub.mutate(
        "addPullRequestReview", "pullRequestReview { id }", pullRequestId=pull, event="APPROVE", body="Yes"
    )["pullRequestReview"]["id"]
    hub.mutate(
        "dismissPullRequestReview", "clientMutationId", pullRequestReviewId=approval, message="Too early"
    )


def _merged_pull(hub: Hub, issue: dict[str, Any]) -> int:
    small = hub.issue("Small")
    pull = hub.pull("done", body=f"Part of #{issue['number']}, fixes #{small['number']}")
    hub.mutate("mergePullRequest", "clientMutationId", pullRequestId=pull["id"], mergeMethod="SQUASH")
    number: int = pull["number"]
    return number


def _closed_pull(hub: Hub) -> int:
    """Its head was force-pushed, then its base and its head were deleted."""
    hub.branch("short-lived")
    hub.branch("rejected")
    hub.commit("rejected", {"a": "1"})
    given = {
        "repositoryId": hub.repository_id,
        "title": "No",
        "headRefName": "rejected",
        "baseRefName": "short-lived",
    }
    number: int = hub.mutate("createPullRequest", "pullRequest { number }", **given)["pullRequest"]["number"]
    ref = hub.repo('ref(qualifiedName: "refs/heads/rejected") { id }')["ref"]["id"]
    hub.branch("elsewhere", hub.tip("short-lived"))
    oid = hub.commit("elsewhere", {"b": "2"})
    hub.mutate("updateRef", "clientMutationId", refId=ref, oid=oid, force=True)
    update = {"name": "refs/heads/short-lived", "beforeOid": hub.tip("short-lived"), "afterOid": "0" * 40}
    hub.mutate("updateRefs", "clientMutationId", repositoryId=hub.repository_id, refUpdates=[update])
    hub.mutate("deleteRef", "clientMutationId", refId=ref)
    hub.branch("rejected")
    return number


def _tag(hub: Hub) -> str:
    """An annotated tag, which only git can make."""
    git = hub.world.repository_git(hub.repository)
    text = (
        f"object {hub.tip()}\ntype commit\ntag v1\ntagger Octo <octo@example.org> 1770000000 +0100\n\nFirst\n"
    )
    oid = git.write("tag", text.encode())
    git.update_refs([RefUpdate(name="refs/tags/v1", new=oid)])
    return oid
