"""Long and split reads against a real server, where paging and page sizes are GitHub's own."""

from collections.abc import Iterator
from datetime import datetime

import httpx
import pytest

from cogworks.forge.addresses import IssueAddress, api_addresses, parse_issue_url
from cogworks.forge.snapshot import Snapshot
from cogworks.github.client import GraphQLClient
from cogworks.github.credentials import FixedToken
from cogworks.github.meter import Requests
from cogworks.github.reading import Habit, ReadSize, RememberedHere, SnapshotReader
from cogworks.github.rest import RestClient
from tests import plain_http
from tests.hub.running import OWNER_TOKEN, running_hub, seeded

COMMENTS = 103
BRANCHES = 41
LABELS = [f"area {number}" for number in range(51)]


@pytest.fixture(scope="module")
def long_item(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IssueAddress]:
    """An issue with more of everything than fits one page, and a configuration file of 600 kB."""
    directory = tmp_path_factory.mktemp("long") / "hub"
    with running_hub(seeded(directory)) as hub:
        headers = {"Authorization": f"token {OWNER_TOKEN}"}
        with plain_http.Client(base_url=f"{hub.api_url}/repos/octo/demo/", headers=headers) as rest:

            def ask(method: str, path: str, body: object = None) -> httpx.Response:
                answer = rest.request(method, path, json=body)
                assert answer.status_code < 300, answer.text
                return answer

            issue = ask("POST", "issues", {"title": "Long", "body": "x"}).json()
            writes = (
                f'c{number}: addComment(input: {{subjectId: "{issue["node_id"]}", body: "comment {number}"}}) '
                "{ clientMutationId }"
                for number in range(COMMENTS)
            )
            ask("POST", hub.graphql_url, {"query": "mutation { " + " ".join(writes) + " }"})
            ask("PUT", "issues/1/labels", {"labels": LABELS})
            ask("DELETE", "issues/1/labels")
            head = ask("GET", "git/ref/heads/main").json()["object"]["sha"]
            for number in range(BRANCHES):
                ask("POST", "git/refs", {"ref": f"refs/heads/cogworks/1/swi-{number:02}", "sha": head})
            part = ask("POST", "issues", {"title": "Part", "body": "y"}).json()
            ask("POST", "issues/1/sub_issues", {"sub_issue_id": part["id"]})
            text = "# " + "long " * 120_000 + "\n"
            blob = ask("POST", "git/blobs", {"content": text, "encoding": "utf-8"}).json()["sha"]
            row = {"path": ".cogworks/config.toml", "mode": "100644", "type": "blob", "sha": blob}
            tree = ask("POST", "git/trees", {"base_tree": head, "tree": [row]}).json()["sha"]
            commit = {"message": "Configure", "tree": tree, "parents": [head]}
            oid = ask("POST", "git/commits", commit).json()["sha"]
            ask("PATCH", "git/refs/heads/main", {"sha": oid})
        yield parse_issue_url(issue["html_url"])


def read(address: IssueAddress, size: ReadSize, meter: Requests) -> Snapshot:
    apis, token, habits = api_addresses(address.server_url), FixedToken(OWNER_TOKEN), RememberedHere()
    habits.keep(Habit(size=size))
    with (
        GraphQLClient(apis.graphql_url, token, meter=meter) as client,
        RestClient(apis.rest_url, token, address.repository, meter=meter) as rest,
    ):
        return SnapshotReader(client, sleep=lambda _: None, blobs=lambda: rest, habits=habits).read(address)


@pytest.mark.parametrize(("size", "requests"), [("whole", 4), ("half", 6), ("split", 7)])
def test_a_long_item_is_read_whole_in_every_way(
    long_item: IssueAddress, size: ReadSize, requests: int
) -> None:
    meter = Requests()

    snapshot = read(long_item, size, meter)

    assert [comment.body for comment in snapshot.issue.comments] == [f"comment {n}" for n in range(COMMENTS)]
    assert len(snapshot.issue.label_events) == 2 * len(LABELS)
    assert len(snapshot.branches) == BRANCHES
    assert [item.title for item in snapshot.issue.sub_issues] == ["Part"]
    assert len(snapshot.repository.config_files["config.toml"]) == 600_003
    assert (meter.graphql, meter.rest) == (requests, 1)


def test_every_way_of_reading_tells_the_same(long_item: IssueAddress) -> None:
    now = datetime.fromisoformat("2026-11-21T04:00:00Z")
    snapshots = [
        read(long_item, size, Requests()).model_copy(update={"server_date": now, "rate": None})
        for size in ("whole", "half", "split")
    ]

    assert snapshots[1:] == [snapshots[0]] * 2
