"""Comments, reactions and the timeline through GraphQL."""

from datetime import timedelta
from typing import Any

from tests.hub.graphql_world import Hub


def of_issue(hub: Hub, number: int, selection: str, token: str = "owner") -> Any:
    return hub.repo(f"issue(number: {number}) {{ {selection} }}", token)["issue"]


def test_a_comment_is_added_edited_hidden_and_deleted(graphql_hub: Hub) -> None:
    hub = graphql_hub
    issue = hub.issue()["id"]
    added = hub.mutate(
        "addComment",
        "commentEdge { cursor node { id databaseId fullDatabaseId url issue { number } pullRequest { number } } } subject { id }",
        "app",
        subjectId=issue,
        body="first",
    )
    comment = added["commentEdge"]["node"]
    hub.clock.moment += timedelta(minutes=1)

    edited = hub.mutate(
        "updateIssueComment",
        "issueComment { body lastEditedAt editor { login } author { login } viewerDidAuthor }",
        id=comment["id"],
        body="second",
    )
    hidden = hub.mutate(
        "minimizeComment",
        "minimizedComment { isMinimized minimizedReason }",
        subjectId=comment["id"],
        classifier="OFF_TOPIC",
    )

    assert added["subject"] == {"id": issue}
    assert comment["databaseId"] is None
    assert (
        comment["url"] == f"http://127.0.0.1:8000/octo/demo/issues/1#issuecomment-{comment['fullDatabaseId']}"
    )
    assert (comment["issue"], comment["pullRequest"]) == ({"number": 1}, None)
    assert edited["issueComment"] == {
        "body": "second", "lastEditedAt": "2026-03-01T12:01:00Z", "editor": {"login": "octo"},
        "author": {"login": "helper"}, "viewerDidAuthor": False,
    }  # fmt: skip
    assert hidden["minimizedComment"] == {"isMinimized": True, "minimizedReason": "off-topic"}
    shown = hub.mutate("unminimizeComment", "unminimizedComment { isMinimized }", subjectId=comment["id"])
    assert shown["unminimizedComment"] == {"isMinimized": False}
    hub.mutate("deleteIssueComment", "clientMutationId", id=comment["id"])
    assert hub.refusal("updateIssueComment", id=comment["id"], body="third")["type"] == "NOT_FOUND"
    left = of_issue(
        hub,
        1,
        "comments(first: 1) { totalCount } timelineItems(first: 1) { nodes { ... on CommentDeletedEvent { deletedCommentAuthor { login } actor { login } } } }",
    )
    assert left == {
        "comments": {"totalCount": 0},
        "timelineItems": {
            "nodes": [{"deletedCommentAuthor": {"login": "helper"}, "actor": {"login": "octo"}}]
        },
    }


def test_only_author_and_writers_edit_a_comment(graphql_hub: Hub) -> None:
    hub = graphql_hub
    comment = hub.mutate(
        "addComment", "commentEdge { node { id } }", subjectId=hub.issue()["id"], body="mine"
    )["commentEdge"]["node"]["id"]

    assert hub.refusal("updateIssueComment", "reader", id=comment, body="yours")["type"] == "FORBIDDEN"
    assert hub.refusal("deleteIssueComment", "reader", id=comment)["type"] == "FORBIDDEN"
    assert (
        hub.refusal("addComment", "reader", subjectId=hub.issue()["id"], body=" ")["type"] == "UNPROCESSABLE"
    )


def test_in_a_locked_issue_only_writers_comment(graphql_hub: Hub) -> None:
    hub = graphql_hub
    issue = hub.issue()["id"]
    locked = hub.mutate(
        "lockLockable",
        "lockedRecord { locked activeLockReason } actor { login }",
        lockableId=issue,
        lockReason="TOO_HEATED",
    )

    assert locked == {
        "lockedRecord": {"locked": True, "activeLockReason": "TOO_HEATED"},
        "actor": {"login": "octo"},
    }
    assert hub.refusal("addComment", "reader", subjectId=issue, body="but")["type"] == "FORBIDDEN"
    hub.mutate("addComment", "subject { id }", "writer", subjectId=issue, body="no")
    hub.mutate("unlockLockable", "unlockedRecord { locked }", lockableId=issue)
    hub.mutate("addComment", "subject { id }", "reader", subjectId=issue, body="thanks")


def test_a_reaction_counts_once_per_person_and_can_be_taken_back(graphql_hub: Hub) -> None:
    hub = graphql_hub
    issue = hub.issue()["id"]
    for token in ("owner", "owner", "reader"):
        hub.mutate(
            "addReaction",
            "reaction { content user { login } }",
            token,
            subjectId=issue,
            content="THUMBS_DOWN",
        )

    groups = of_issue(
        hub,
        1,
        "reactionGroups { content viewerHasReacted reactors(first: 5) { totalCount nodes { ... on User { login } } } } reactions(first: 5, content: THUMBS_DOWN) { totalCount viewerHasReacted }",
    )
    used = [group for group in groups["reactionGroups"] if group["reactors"]["totalCount"]]

    assert len(groups["reactionGroups"]) == 8
    assert used == [
        {
            "content": "THUMBS_DOWN",
            "viewerHasReacted": True,
            "reactors": {"totalCount": 2, "nodes": [{"login": "octo"}, {"login": "rita"}]},
        }
    ]
    assert groups["reactions"] == {"totalCount": 2, "viewerHasReacted": True}
    back = hub.mutate(
        "removeReaction",
        "reactionGroups { content reactors(first: 1) { totalCount } }",
        subjectId=issue,
        content="THUMBS_DOWN",
    )
    assert {"content": "THUMBS_DOWN", "reactors": {"totalCount": 1}} in back["reactionGroups"]
    assert hub.refusal("removeReaction", subjectId=issue, content="THUMBS_DOWN")["type"] == "NOT_FOUND"


def test_a_mention_appears_on_the_timeline_of_what_is_mentioned(graphql_hub: Hub) -> None:
    hub = graphql_hub
    hub.issue("target")
    hub.issue("source", body="see #1, `#1` and #1 again")

    items = of_issue(
        hub,
        1,
        "timelineItems(first: 9, itemTypes: [CROSS_REFERENCED_EVENT]) { totalCount nodes { ... on CrossReferencedEvent { isCrossRepository willCloseTarget source { ... on Issue { number } } target { ... on Issue { number } } } } }",
    )

    assert items["timelineItems"] == {
        "totalCount": 1,
        "nodes": [{"isCrossRepository": False, "willCloseTarget": False, "source": {"number": 2}, "target": {"number": 1}}],
    }  # fmt: skip


def test_a_timeline_is_one_sequence_of_comments_and_events_that_can_be_narrowed(graphql_hub: Hub) -> None:
    hub = graphql_hub
    issue = hub.issue()["id"]
    for step in ("a", "b", "c"):
        hub.clock.moment += timedelta(minutes=1)
        hub.mutate("addComment", "subject { id }", subjectId=issue, body=step)
        hub.mutate("updateIssue", "issue { id }", id=issue, title=step)

    def kinds(arguments: str) -> Any:
        found = of_issue(
            hub,
            1,
            f"timelineItems({arguments}) {{ totalCount filteredCount pageCount updatedAt nodes {{ __typename }} }}",
        )
        page = found["timelineItems"]
        return (
            page["totalCount"],
            page["filteredCount"],
            page["pageCount"],
            [node["__typename"] for node in page["nodes"]],
        )

    both = ["IssueComment", "RenamedTitleEvent"]
    assert kinds("first: 9") == (6, 6, 6, both * 3)
    assert kinds("last: 1") == (6, 6, 1, both[1:])
    assert kinds("first: 9, skip: 4") == (2, 2, 2, both)
    assert kinds("first: 9, itemTypes: [ISSUE_COMMENT]") == (3, 3, 3, both[:1] * 3)
    assert kinds('first: 9, since: "2026-03-01T12:03:00Z"') == (2, 2, 2, both)


def test_comments_are_ordered_by_their_last_edit_on_demand(graphql_hub: Hub) -> None:
    hub = graphql_hub
    issue = hub.issue()["id"]
    first, _ = (
        hub.mutate("addComment", "commentEdge { node { id } }", subjectId=issue, body=body)["commentEdge"][
            "node"
        ]["id"]
        for body in ("a", "b")
    )
    hub.clock.moment += timedelta(minutes=1)
    hub.mutate("updateIssueComment", "issueComment { id }", id=first, body="edited")

    found = of_issue(
        hub, 1, "comments(first: 5, orderBy: {field: UPDATED_AT, direction: ASC}) { nodes { body } }"
    )

    assert found["comments"]["nodes"] == [{"body": "b"}, {"body": "edited"}]
