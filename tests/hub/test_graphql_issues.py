"""Issues, their hierarchy and their labels through GraphQL."""

from datetime import timedelta
from typing import Any

import pytest

from cogworks.hub import seeding
from tests.hub.graphql_world import Hub


def of_issue(hub: Hub, number: int, selection: str, token: str = "owner") -> Any:
    return hub.repo(f"issue(number: {number}) {{ {selection} }}", token)["issue"]


def label_id(hub: Hub, name: str) -> str:
    found: str = hub.repo(f'label(name: "{name}") {{ id }}')["label"]["id"]
    return found


def test_an_issue_is_created_with_labels_people_and_a_parent(graphql_hub: Hub) -> None:
    hub = graphql_hub
    parent = hub.issue("Parent")
    people = hub.data('{ user(login: "wanda") { id } }')["user"]["id"]

    made = hub.mutate(
        "createIssue",
        "issue { number title body state author { login } labels(first: 5) { nodes { name } } "
        "assignees(first: 5) { nodes { login } } parent { number } }",
        "writer",
        repositoryId=hub.repository_id, title="Child", body="text", labelIds=[label_id(hub, "bug")],
        assigneeIds=[people], parentIssueId=parent["id"],
    )["issue"]  # fmt: skip

    assert made == {
        "number": 2,
        "title": "Child",
        "body": "text",
        "state": "OPEN",
        "author": {"login": "wanda"},
        "labels": {"nodes": [{"name": "bug"}]},
        "assignees": {"nodes": [{"login": "wanda"}]},
        "parent": {"number": 1},
    }
    assert of_issue(
        hub,
        1,
        "subIssues(first: 5) { nodes { number } } subIssuesSummary { total completed percentCompleted }",
    ) == {
        "subIssues": {"nodes": [{"number": 2}]},
        "subIssuesSummary": {"total": 1, "completed": 0, "percentCompleted": 0},
    }


def test_an_issue_whose_parent_refuses_it_is_not_created(graphql_hub: Hub) -> None:
    hub = graphql_hub
    parent = hub.issue("Parent")
    for _ in range(7):
        parent = hub.issue("Deeper", parentIssueId=parent["id"])

    refusal = hub.refusal(
        "createIssue", repositoryId=hub.repository_id, title="Too deep", parentIssueId=parent["id"]
    )

    assert refusal["type"] == "UNPROCESSABLE"
    assert hub.repo("issues(first: 1) { totalCount }")["issues"] == {"totalCount": 8}


@pytest.mark.parametrize(
    ("given", "type_"),
    [
        ({"title": "  "}, "UNPROCESSABLE"),
        ({"title": "x" * 257}, "UNPROCESSABLE"),
        ({"title": "T", "body": "x" * 65_537}, "UNPROCESSABLE"),
        ({"title": "T", "labelIds": ["TGFiZWw6OTk5"]}, "NOT_FOUND"),
        ({"title": "T", "parentIssueId": "SXNzdWU6OTk5"}, "NOT_FOUND"),
    ],
    ids=["blank-title", "long-title", "long-body", "no-label", "no-parent"],
)
def test_an_issue_that_cannot_be_is_refused(graphql_hub: Hub, given: dict[str, Any], type_: str) -> None:
    assert (
        graphql_hub.refusal("createIssue", repositoryId=graphql_hub.repository_id, **given)["type"] == type_
    )
    assert graphql_hub.repo("issues(first: 1) { totalCount }")["issues"] == {"totalCount": 0}


def test_an_edit_leaves_its_trace(graphql_hub: Hub) -> None:
    hub = graphql_hub
    issue = hub.issue("Old", body="old")
    hub.clock.moment += timedelta(hours=1)

    hub.mutate(
        "updateIssue",
        "issue { id }",
        "writer",
        id=issue["id"],
        title="New",
        body="new",
        labelIds=[label_id(hub, "bug")],
    )

    assert of_issue(
        hub, 1, "title body lastEditedAt includesCreatedEdit editor { login } labels(first: 2) { totalCount } "
        "timelineItems(first: 9) { nodes { __typename ... on RenamedTitleEvent { previousTitle currentTitle actor { login } } } }",
    ) == {
        "title": "New",
        "body": "new",
        "lastEditedAt": "2026-03-01T13:00:00Z",
        "includesCreatedEdit": True,
        "editor": {"login": "wanda"},
        "labels": {"totalCount": 1},
        "timelineItems": {
            "nodes": [
                {"__typename": "RenamedTitleEvent", "previousTitle": "Old", "currentTitle": "New", "actor": {"login": "wanda"}},
                {"__typename": "LabeledEvent"},
            ]
        },
    }  # fmt: skip


def test_an_edit_that_is_refused_in_part_changes_nothing(graphql_hub: Hub) -> None:
    issue = graphql_hub.issue("Old")

    refusal = graphql_hub.refusal("updateIssue", id=issue["id"], title="New", labelIds=["TGFiZWw6OTk5"])

    assert refusal["type"] == "NOT_FOUND"
    assert of_issue(graphql_hub, 1, "title") == {"title": "Old"}


def test_closing_and_reopening_keep_the_reason(graphql_hub: Hub) -> None:
    hub = graphql_hub
    issue = hub.issue()
    selection = "issue { state stateReason closed closedAt }"

    closed = hub.mutate("closeIssue", selection, issueId=issue["id"], stateReason="NOT_PLANNED")
    reopened = hub.mutate("reopenIssue", selection, issueId=issue["id"])
    again = hub.mutate("updateIssue", selection, id=issue["id"], state="CLOSED")

    assert closed["issue"] == {
        "state": "CLOSED",
        "stateReason": "NOT_PLANNED",
        "closed": True,
        "closedAt": "2026-03-01T12:00:00Z",
    }
    assert reopened["issue"] == {
        "state": "OPEN",
        "stateReason": "REOPENED",
        "closed": False,
        "closedAt": None,
    }
    assert again["issue"]["stateReason"] == "COMPLETED"
    events = of_issue(
        hub,
        1,
        "timelineItems(first: 9, itemTypes: [CLOSED_EVENT, REOPENED_EVENT]) { nodes { __typename ... on ClosedEvent { stateReason } } }",
    )
    assert events["timelineItems"]["nodes"] == [
        {"__typename": "ClosedEvent", "stateReason": "NOT_PLANNED"},
        {"__typename": "ReopenedEvent"},
        {"__typename": "ClosedEvent", "stateReason": "COMPLETED"},
    ]


def test_sub_issues_can_be_added_moved_and_removed(graphql_hub: Hub) -> None:
    hub = graphql_hub
    parent, one, two, three = (hub.issue(title)["id"] for title in ("parent", "one", "two", "three"))
    for child in (one, two):
        hub.mutate(
            "addSubIssue", "issue { id } subIssue { parent { number } }", issueId=parent, subIssueId=child
        )
    hub.mutate(
        "addSubIssue", "issue { id }", issueId=parent, subIssueUrl="http://127.0.0.1:8000/octo/demo/issues/4"
    )

    hub.mutate("reprioritizeSubIssue", "issue { id }", issueId=parent, subIssueId=three, beforeId=one)
    hub.mutate("removeSubIssue", "issue { id }", issueId=parent, subIssueId=two)

    assert of_issue(hub, 1, "subIssues(first: 9) { nodes { title } }")["subIssues"]["nodes"] == [
        {"title": "three"},
        {"title": "one"},
    ]
    assert hub.refusal("addSubIssue", issueId=one, subIssueId=parent)["type"] == "UNPROCESSABLE"
    assert hub.refusal("addSubIssue", issueId=two, subIssueId=one)["message"].endswith(
        "Sub issue may only have one parent"
    )
    assert hub.refusal("addSubIssue", issueId=parent)["type"] == "UNPROCESSABLE"
    assert hub.refusal("addSubIssue", issueId=parent, subIssueUrl="http://elsewhere/x")["type"] == "NOT_FOUND"


def test_a_dependency_is_seen_from_both_ends_and_counts_while_it_is_open(graphql_hub: Hub) -> None:
    hub = graphql_hub
    first, second = hub.issue("first"), hub.issue("second")
    payload = hub.mutate(
        "addBlockedBy",
        "issue { number } blockingIssue { number }",
        issueId=second["id"],
        blockingIssueId=first["id"],
    )
    assert payload == {"issue": {"number": 2}, "blockingIssue": {"number": 1}}

    selection = "blockedBy(first: 5) { nodes { number state } } blocking(first: 5) { nodes { number } } issueDependenciesSummary { blockedBy blocking }"
    before = of_issue(hub, 2, selection), of_issue(hub, 1, selection)
    hub.mutate("closeIssue", "issue { id }", issueId=first["id"])
    after = of_issue(hub, 2, selection)

    assert before == (
        {"blockedBy": {"nodes": [{"number": 1, "state": "OPEN"}]}, "blocking": {"nodes": []}, "issueDependenciesSummary": {"blockedBy": 1, "blocking": 0}},
        {"blockedBy": {"nodes": []}, "blocking": {"nodes": [{"number": 2}]}, "issueDependenciesSummary": {"blockedBy": 0, "blocking": 1}},
    )  # fmt: skip
    assert after["blockedBy"]["nodes"] == [{"number": 1, "state": "CLOSED"}]
    assert after["issueDependenciesSummary"]["blockedBy"] == 0


def test_a_dependency_is_made_once_between_issues_and_in_no_circle(graphql_hub: Hub) -> None:
    hub = graphql_hub
    first, second, pull = hub.issue("first")["id"], hub.issue("second")["id"], hub.pull()["id"]
    hub.mutate("addBlockedBy", "issue { id }", issueId=second, blockingIssueId=first)

    again = hub.refusal("addBlockedBy", issueId=second, blockingIssueId=first)
    circle = hub.refusal("addBlockedBy", issueId=first, blockingIssueId=second)
    on_pull = hub.refusal("addBlockedBy", issueId=first, blockingIssueId=pull)

    assert [refusal["type"] for refusal in (again, circle, on_pull)] == [
        "UNPROCESSABLE",
        "UNPROCESSABLE",
        "NOT_FOUND",
    ]
    assert on_pull["message"] == f"Could not resolve to Issue node with the global id of '{pull}'"


def test_labels_are_added_and_removed_as_sets(graphql_hub: Hub) -> None:
    hub = graphql_hub
    issue, bug, question = hub.issue()["id"], label_id(hub, "bug"), label_id(hub, "question")
    worn = "labelable { ... on Issue { labels(first: 9, orderBy: {field: NAME, direction: DESC}) { nodes { name } } } }"

    added, again = (
        hub.mutate("addLabelsToLabelable", worn, labelableId=issue, labelIds=[bug, question])
        for _ in range(2)
    )
    removed, still = (
        hub.mutate("removeLabelsFromLabelable", worn, labelableId=issue, labelIds=[bug]) for _ in range(2)
    )

    assert (again, still) == (added, removed)
    assert added["labelable"]["labels"]["nodes"] == [{"name": "question"}, {"name": "bug"}]
    assert removed["labelable"]["labels"]["nodes"] == [{"name": "question"}]
    events = of_issue(
        hub,
        1,
        "timelineItems(first: 9) { nodes { __typename ... on LabeledEvent { label { name } } ... on UnlabeledEvent { label { name } } } }",
    )
    assert events["timelineItems"]["nodes"] == [
        {"__typename": "LabeledEvent", "label": {"name": "bug"}},
        {"__typename": "LabeledEvent", "label": {"name": "question"}},
        {"__typename": "UnlabeledEvent", "label": {"name": "bug"}},
    ]
    assert (
        hub.mutate("clearLabelsFromLabelable", worn, labelableId=issue)["labelable"]["labels"]["nodes"] == []
    )


def test_an_event_of_a_deleted_label_still_names_it(graphql_hub: Hub) -> None:
    hub = graphql_hub
    label = hub.mutate(
        "createLabel", "label { id }", repositoryId=hub.repository_id, name="gone", color="AABBCC"
    )["label"]["id"]
    hub.issue(labelIds=[label])

    hub.mutate("deleteLabel", "clientMutationId", id=label)

    (event,) = of_issue(
        hub, 1, "timelineItems(first: 9) { nodes { ... on LabeledEvent { label { name color } } } }"
    )["timelineItems"]["nodes"]
    assert event == {"label": {"name": "gone", "color": "aabbcc"}}


def test_triage_may_label_and_readers_may_not(graphql_hub: Hub) -> None:
    hub = graphql_hub
    issue, bug = hub.issue()["id"], label_id(hub, "bug")
    sam = seeding.add_user(hub.world, "sam")

    refusal = hub.refusal("addLabelsToLabelable", "reader", labelableId=issue, labelIds=[bug])
    seeding.add_collaborator(hub.world, hub.repository, sam, "triage")

    assert refusal["message"].startswith(
        "rita does not have the correct permissions to execute `AddLabelsToLabelable`"
    )
    hub.mutate("addLabelsToLabelable", "clientMutationId", "stranger", labelableId=issue, labelIds=[bug])


def test_the_query_for_labels_is_fuzzy(graphql_hub: Hub) -> None:
    hub = graphql_hub
    for name in ("work:run", "work:hold", "rework"):
        hub.mutate("createLabel", "label { id }", repositoryId=hub.repository_id, name=name, color="ededed")

    found = hub.repo('labels(first: 100, query: "work:") { totalCount nodes { name } }')["labels"]

    assert {label["name"] for label in found["nodes"]} >= {"work:run", "work:hold"}


def test_issues_are_filtered_and_ordered(graphql_hub: Hub) -> None:
    hub = graphql_hub
    bug = label_id(hub, "bug")
    one, _, three = (
        hub.issue(title, labelIds=labels)["id"]
        for title, labels in (("one", [bug]), ("two", []), ("three", [bug]))
    )
    hub.clock.moment += timedelta(hours=1)
    hub.mutate("addComment", "subject { id }", "writer", subjectId=one, body="!")
    hub.mutate("closeIssue", "issue { id }", issueId=three)
    hub.pull()

    def titles(arguments: str) -> list[str]:
        return [
            node["title"]
            for node in hub.repo(f"issues(first: 9, {arguments}) {{ nodes {{ title }} }}")["issues"]["nodes"]
        ]

    assert titles("states: OPEN") == ["one", "two"]
    assert titles('labels: ["bug"]') == ["one", "three"]
    assert titles("orderBy: {field: CREATED_AT, direction: DESC}") == ["three", "two", "one"]
    assert titles("orderBy: {field: UPDATED_AT, direction: ASC}") == ["two", "one", "three"]
    assert titles("orderBy: {field: COMMENTS, direction: DESC}")[0] == "one"
    assert titles('filterBy: {since: "2026-03-01T12:30:00Z", states: [CLOSED]}') == ["three"]
    assert titles('filterBy: {createdBy: "wanda"}') == []
    assert titles('filterBy: {assignee: "*"}') == []
    assert titles("filterBy: {assignee: null, milestone: null}") == ["one", "two", "three"]
    assert titles('filterBy: {milestoneNumber: "1"}') == []
    assert titles('filterBy: {milestone: "*"}') == []


def test_a_filter_by_what_the_hub_does_not_keep_is_refused_rather_than_ignored(graphql_hub: Hub) -> None:
    document = """{ repository(owner: "octo", name: "demo") {
      issues(first: 1, filterBy: {mentioned: "octo"}) { totalCount } } }"""

    (error,) = graphql_hub.errors(document)

    assert (error["type"], error["path"]) == ("UNPROCESSABLE", ["repository", "issues"])
