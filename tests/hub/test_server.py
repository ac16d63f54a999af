"""GraphQL over HTTP, and that it speaks of the same objects as REST."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from cogworks.hub.server import hub_app
from tests.hub.graphql_world import Hub

REPO = "/repos/octo/demo"


@pytest.fixture
def client(graphql_hub: Hub) -> Iterator[TestClient]:
    headers = {"authorization": "Bearer owner"}
    with TestClient(
        hub_app(graphql_hub.world), base_url=graphql_hub.world.base_url, headers=headers
    ) as client:
        yield client


@pytest.mark.parametrize("path", ["/graphql", "/api/graphql"])
def test_a_posted_document_is_answered_with_the_cost_in_the_headers(client: TestClient, path: str) -> None:
    answer = client.post(
        path, json={"query": "query($l: String!) { user(login: $l) { login } }", "variables": {"l": "octo"}}
    )

    assert (answer.status_code, answer.json()) == (200, {"data": {"user": {"login": "octo"}}})
    assert answer.headers["x-ratelimit-resource"] == "graphql"
    assert answer.headers["x-ratelimit-used"] == "1"


def test_errors_of_fields_come_with_status_200(client: TestClient) -> None:
    answer = client.post("/graphql", json={"query": '{ user(login: "nobody") { login } }'})

    assert answer.status_code == 200
    assert [error["type"] for error in answer.json()["errors"]] == ["NOT_FOUND"]


@pytest.mark.parametrize("authorization", ["", "Bearer wrong"])
def test_nobody_is_answered_without_a_token(client: TestClient, authorization: str) -> None:
    answer = client.post(
        "/graphql", json={"query": "{ viewer { login } }"}, headers={"authorization": authorization}
    )

    assert answer.status_code == 401


SAME: dict[str, tuple[str, str]] = {
    "issue": (f"{REPO}/issues/1", "issue(number: 1)"),
    "pull request": (f"{REPO}/pulls/2", "pullRequest(number: 2)"),
    "repository": (REPO, ""),
    "commit": (f"{REPO}/commits/main", 'object(expression: "main")'),
}


@pytest.mark.parametrize("what", SAME)
def test_rest_and_graphql_give_one_object_one_id_and_one_page(
    graphql_hub: Hub, client: TestClient, what: str
) -> None:
    graphql_hub.issue()
    graphql_hub.pull()
    path, field = SAME[what]

    rest = client.get(path).json()
    selection = "id ... on UniformResourceLocatable { url }"
    found: Any = graphql_hub.repo(f"{field} {{ {selection} }}" if field else selection)
    found = found if not field else next(iter(found.values()))

    assert (rest["node_id"], rest["html_url"]) == (found["id"], found["url"])


def test_comments_and_reviews_have_one_id_and_one_page_as_well(graphql_hub: Hub, client: TestClient) -> None:
    pull = graphql_hub.pull()
    comment = graphql_hub.mutate(
        "addComment", "commentEdge { node { id url fullDatabaseId } }", subjectId=pull["id"], body="!"
    )["commentEdge"]["node"]
    review = graphql_hub.mutate(
        "addPullRequestReview",
        "pullRequestReview { id url }",
        "writer",
        pullRequestId=pull["id"],
        event="APPROVE",
    )["pullRequestReview"]

    (said,) = client.get(f"{REPO}/issues/1/comments").json()
    (judged,) = client.get(f"{REPO}/pulls/1/reviews").json()

    assert (said["node_id"], said["html_url"], str(said["id"])) == (
        comment["id"],
        comment["url"],
        comment["fullDatabaseId"],
    )
    assert (judged["node_id"], judged["html_url"]) == (review["id"], review["url"])


def test_what_graphql_writes_rest_reads(graphql_hub: Hub, client: TestClient) -> None:
    issue = graphql_hub.issue("By GraphQL", body="text")
    graphql_hub.mutate("addReaction", "clientMutationId", subjectId=issue["id"], content="HEART")

    found = client.get(f"{REPO}/issues/1").json()

    assert (found["title"], found["body"], found["reactions"]["heart"]) == ("By GraphQL", "text", 1)
