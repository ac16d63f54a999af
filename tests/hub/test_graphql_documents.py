"""The documents that the program sends, executed."""

from pathlib import Path
from typing import Any

import pytest

from tests.hub.graphql_world import Hub, commit_input

DOCUMENTS = Path(__file__).parents[1] / "data" / "graphql"


def document(name: str) -> str:
    return (DOCUMENTS / f"{name}.graphql").read_text()


def work_item(number: int) -> dict[str, Any]:
    ledger = f"refs/heads/ledger/{number}"
    return {
        "owner": "octo", "name": "demo", "num": number, "ledger": ledger, "root": "refs/heads/ledger/root",
        "brPrefix": f"refs/heads/work/{number}/",
    }  # fmt: skip


def test_a_work_item_is_read_with_everything_around_it(graphql_hub: Hub) -> None:
    hub = graphql_hub
    hub.branch("ledger/root")
    issue = hub.issue("Broken", body="please")
    child = hub.issue("Part", parentIssueId=issue["id"])
    comment = hub.mutate(
        "addComment", "commentEdge { node { id fullDatabaseId } }", "app", subjectId=issue["id"], body="hello"
    )
    pull = hub.pull("work/1/spec", body=f"Part of #{issue['number']}", token="app")
    hub.mutate(
        "addPullRequestReview", "clientMutationId", "writer", pullRequestId=pull["id"], event="APPROVE"
    )

    data = hub.data(document("read-work-item"), "app", **work_item(issue["number"]))

    assert data["viewer"]["login"] == "helper[bot]"
    repository = data["repository"]
    assert repository["viewerPermission"] is None
    assert repository["ledger"] is None
    assert repository["root"] == {"target": {"oid": hub.tip()}}
    config = repository["defaultBranchRef"]["target"]["cfg"]["object"]["entries"]
    assert [(entry["name"], entry["type"]) for entry in config] == [
        ("config.toml", "blob"),
        ("packs", "tree"),
    ]
    assert config[0]["object"]["text"] == "[budget]\n"
    item = repository["issue"]
    assert item["subIssues"]["nodes"][0]["id"] == child["id"]
    (said,) = item["comments"]["nodes"]
    assert said["id"] == comment["commentEdge"]["node"]["id"]
    assert int(said["fullDatabaseId"]) > 2**31
    assert said["author"] == {
        "__typename": "Bot",
        "login": "helper",
        "databaseId": data["viewer"]["databaseId"],
    }
    assert said["viewerDidAuthor"] is True
    assert [node["source"]["number"] for node in item["prs"]["nodes"]] == [pull["number"]]
    (branch,) = repository["refs"]["nodes"]
    assert branch["prefix"] + branch["name"] == "refs/heads/work/1/spec"
    (found,) = branch["associatedPullRequests"]["nodes"]
    assert (found["number"], found["prState"], found["mergeable"]) == (pull["number"], "OPEN", "UNKNOWN")
    (review,) = found["latestOpinionatedReviews"]["nodes"]
    assert review["authorCanPushToRepository"] is True
    assert review["commit"]["oid"] == found["headRefOid"]


def test_reading_a_work_item_costs_two_points(graphql_hub: Hub) -> None:
    issue = graphql_hub.issue()

    first = graphql_hub.data(document("read-work-item"), "reader", **work_item(issue["number"]))["rateLimit"]
    second = graphql_hub.data(document("read-work-item"), "reader", **work_item(issue["number"]))["rateLimit"]

    assert (first["cost"], first["remaining"] - second["remaining"]) == (2, 2)


def test_an_issue_that_is_not_there_is_an_error_beside_the_rest(graphql_hub: Hub) -> None:
    answer = graphql_hub.answer(document("read-work-item"), **work_item(99))

    assert answer["data"]["repository"]["issue"] is None
    assert answer["data"]["repository"]["nameWithOwner"] == "octo/demo"
    (error,) = answer["errors"]
    assert (error["type"], error["path"], error["message"]) == (
        "NOT_FOUND", ["repository", "issue"], "Could not resolve to an Issue with the number of 99.",
    )  # fmt: skip


def claim(hub: Hub) -> dict[str, Any]:
    root = hub.tip()
    return {
        "ref": {"repositoryId": hub.repository_id, "name": "refs/heads/ledger/1", "oid": root},
        "lease": commit_input("ledger/1", {"state.json": "{}"}, "claim", expectedHeadOid=root),
    }


def test_of_two_first_claims_exactly_one_passes(graphql_hub: Hub) -> None:
    variables = claim(graphql_hub)

    winner = graphql_hub.answer(document("first-claim"), **variables)
    loser = graphql_hub.answer(document("first-claim"), "writer", **variables)

    assert winner == {
        "data": {
            "ref": {"ref": {"target": {"oid": variables["ref"]["oid"]}}},
            "lease": {
                "commit": {"oid": graphql_hub.tip("ledger/1"), "committedDate": "2026-03-01T12:00:00Z"}
            },
        }
    }
    assert loser["data"] == {"ref": None, "lease": None}
    assert [(error["type"], error["path"]) for error in loser["errors"]] == [
        ("UNPROCESSABLE", ["ref"]),
        ("STALE_DATA", ["lease"]),
    ]


def test_a_poll_lists_open_issues_with_a_label_all_ledgers_and_all_pull_requests(graphql_hub: Hub) -> None:
    hub = graphql_hub
    bug = hub.repo('label(name: "bug") { id }')["label"]["id"]
    wanted = hub.issue("Wanted", labelIds=[bug])
    hub.issue("Without the label")
    closed = hub.issue("Closed", labelIds=[bug])
    hub.mutate("closeIssue", "clientMutationId", issueId=closed["id"])
    hub.branch("cogworks/ledger/1")
    pull = hub.pull()

    found = hub.data(document("poll"), owner="octo", name="demo", label=["BUG"])["repository"]

    assert [node["number"] for node in found["issues"]["nodes"]] == [wanted["number"]]
    assert [node["name"] for node in found["refs"]["nodes"]] == ["cogworks/ledger/1"]
    assert [node["number"] for node in found["pullRequests"]["nodes"]] == [pull["number"]]


@pytest.mark.parametrize(
    ("login", "edges"),
    [
        ("wanda", [{"permission": "WRITE", "node": {"login": "wanda"}}]),
        ("octo", [{"permission": "ADMIN", "node": {"login": "octo"}}]),
        ("sam", []),
        ("helper", []),
        ("helper[bot]", []),
    ],
    ids=["writer", "owner", "stranger", "app", "app-with-suffix"],
)
def test_permissions_of_people_are_told_and_apps_come_back_as_none(
    graphql_hub: Hub, login: str, edges: list[Any]
) -> None:
    data = graphql_hub.data(document("permissions"), "app", owner="octo", name="demo", a=login, b="rita")

    assert data["repository"]["c0"] == {"edges": edges}
    assert data["repository"]["c1"] == {"edges": [{"permission": "READ", "node": {"login": "rita"}}]}


def test_a_reader_may_not_ask_who_collaborates(graphql_hub: Hub) -> None:
    answer = graphql_hub.answer(
        document("permissions"), "reader", owner="octo", name="demo", a="octo", b="rita"
    )

    assert answer["data"]["repository"] == {"c0": None, "c1": None}
    assert [(error["type"], error["path"]) for error in answer["errors"]] == [
        ("FORBIDDEN", ["repository", "c0"]),
        ("FORBIDDEN", ["repository", "c1"]),
    ]
