"""How the hub tells a GitHub App from everybody else, as GitHub does."""

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from cogworks.hub.apps import add_app
from cogworks.hub.seeding import add_collaborator, add_user, create_repository
from cogworks.hub.world import World
from tests import plain_http
from tests.hub.apps import app_id, app_key, app_signature, with_app
from tests.hub.running import OWNER_TOKEN, running_hub, seeded


@dataclass(frozen=True)
class Asked:
    api_url: str
    app: int
    stranger: int
    """Another App, installed nowhere."""

    def get(self, path: str, token: str) -> httpx.Response:
        return plain_http.get(self.api_url + path, headers={"Authorization": f"Bearer {token}"})

    def post(self, path: str, token: str, json: Any = None) -> httpx.Response:
        return plain_http.post(self.api_url + path, json=json, headers={"Authorization": f"Bearer {token}"})

    def installation_token(self, **wanted: Any) -> httpx.Response:
        """The answer to the App's wish for a token, made for something or for all that was granted."""
        signature = app_signature(self.app)
        installation = self.get("/repos/octo/demo/installation", signature).json()["id"]
        return self.post(f"/app/installations/{installation}/access_tokens", signature, wanted or None)

    def narrowed(self, **wanted: Any) -> str:
        text: str = self.installation_token(**wanted).json()["token"]
        return text

    def query(self, selection: str, token: str) -> dict[str, Any]:
        """What GraphQL answers about octo/demo."""
        document = f'{{ repository(owner: "octo", name: "demo") {{ {selection} }} }}'
        return self.graphql(document, token)

    def graphql(self, document: str, token: str, **variables: Any) -> dict[str, Any]:
        url = self.api_url.replace("/v3", "/graphql")
        asked = {"query": document, "variables": variables}
        headers = {"Authorization": f"Bearer {token}"}
        answer: dict[str, Any] = plain_http.post(url, json=asked, headers=headers).json()
        return answer

    def listing(self, name: str, token: str) -> int:
        """The exit code of `git ls-remote` on one of octo's repositories."""
        address = self.api_url.removesuffix("/api/v3").replace("//", f"//x-access-token:{token}@")
        command = ["git", "ls-remote", f"{address}/octo/{name}.git"]
        environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
        return subprocess.run(
            command, env=environment, capture_output=True, check=False, timeout=60
        ).returncode


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    directory: Path = with_app(seeded(tmp_path_factory.mktemp("apps") / "hub"))
    number = app_id(directory)
    world = World(directory)
    add_user(world, "ada")
    for name in ("octo/second", "octo/ungranted", "ada/elsewhere"):
        made = create_repository(world, name, tree=directory.parent / "hub-files")
        if name != "octo/ungranted":
            add_collaborator(world, made, add_user(world, "helper[bot]", kind="Bot"), "write")
    other = add_app(world, add_user(world, "other[bot]", kind="Bot"), public_key=app_key()[1], permissions={})
    world.close()
    with running_hub(directory) as running:
        yield Asked(running.api_url, number, other.id)


def test_an_installation_token_acts_as_the_apps_bot_with_its_permissions(hub: Asked) -> None:
    signature = app_signature(hub.app)
    installation = hub.get("/repos/octo/demo/installation", signature).json()
    made = hub.post(f"/app/installations/{installation['id']}/access_tokens", signature)

    assert made.status_code == 201
    assert hub.get("/user", made.json()["token"]).json()["login"] == "helper[bot]"
    refused = hub.get("/repos/octo/demo/actions/permissions/workflow", made.json()["token"])
    assert (refused.status_code, refused.json()["message"]) == (403, "Resource not accessible by integration")


def other_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.mark.parametrize(
    "case", ["foreign key", "unknown app", "future", "expired", "too long", "no jwt", "token"]
)
def test_a_signature_that_does_not_fit_is_refused(hub: Asked, case: str) -> None:
    now = int(time.time())
    signature = {
        "foreign key": app_signature(hub.app, key=other_key()),
        "unknown app": app_signature(99_999),
        "future": app_signature(hub.app, iat=now + 120),
        "expired": app_signature(hub.app, exp=now - 5),
        "too long": app_signature(hub.app, exp=now + 3600),
        "no jwt": "a.b.c",
        "token": OWNER_TOKEN,
    }[case]

    assert hub.get("/app", signature).status_code == 401


def test_a_signature_is_no_token_for_anything_else(hub: Asked) -> None:
    assert hub.get("/user", app_signature(hub.app)).status_code == 401


def test_an_app_that_is_not_installed_finds_nothing(hub: Asked) -> None:
    signature = app_signature(hub.stranger)
    installation = hub.get("/repos/octo/demo/installation", app_signature(hub.app)).json()["id"]

    assert hub.get("/repos/octo/demo/installation", signature).status_code == 404
    assert hub.post(f"/app/installations/{installation}/access_tokens", signature).status_code == 404


@pytest.mark.parametrize("by", ["name", "id"])
def test_a_token_that_was_made_for_some_repositories_finds_no_other(hub: Asked, by: str) -> None:
    number = hub.get("/repos/octo/demo", OWNER_TOKEN).json()["id"]
    made = hub.installation_token(
        **({"repositories": ["Demo"]} if by == "name" else {"repository_ids": [number]})
    )
    token = made.json()["token"]

    assert [each["full_name"] for each in made.json()["repositories"]] == ["octo/demo"]
    assert [hub.get(f"/repos/octo/{name}", token).status_code for name in ("demo", "second")] == [200, 404]
    assert [hub.listing(name, token) == 0 for name in ("demo", "second")] == [True, False]
    (error,) = hub.graphql('{ repository(owner: "octo", name: "second") { id } }', token)["errors"]
    assert error["type"] == "NOT_FOUND"


def test_a_token_that_was_not_narrowed_reaches_what_the_installation_was_granted(hub: Asked) -> None:
    token = hub.narrowed()

    found = [
        hub.get(f"/repos/{name}", token).status_code
        for name in ("octo/demo", "octo/second", "octo/ungranted", "ada/elsewhere")
    ]

    assert found == [200, 200, 404, 404]


def test_a_token_with_fewer_permissions_is_obeyed_by_rest_graphql_and_git(hub: Asked) -> None:
    made = hub.installation_token(permissions={"issues": "read"})
    token = made.json()["token"]

    assert made.json()["permissions"] == {"metadata": "read", "issues": "read"}
    statuses = {
        path: hub.get(f"/repos/octo/demo{path}", token).status_code
        for path in ("", "/issues", "/labels", "/contents/README.md", "/readme", "/pulls", "/branches", "/git/ref/heads/main")
    }  # fmt: skip
    assert statuses == {
        "": 200, "/issues": 200, "/labels": 200,
        "/contents/README.md": 403, "/readme": 403, "/pulls": 403, "/branches": 403, "/git/ref/heads/main": 403,
    }  # fmt: skip
    refused = hub.post("/repos/octo/demo/issues", token, {"title": "No"})
    assert (refused.status_code, refused.json()["message"]) == (403, "Resource not accessible by integration")
    answer = hub.query('name issues(first: 1) { totalCount } object(expression: "main") { oid }', token)
    assert answer["data"]["repository"] == {"name": "demo", "issues": {"totalCount": 0}, "object": None}
    (error,) = answer["errors"]
    assert (error["type"], error["path"]) == ("FORBIDDEN", ["repository", "object"])
    assert hub.listing("demo", token) != 0


def test_a_pull_request_is_no_way_around_a_missing_permission(hub: Asked) -> None:
    reader = hub.narrowed(permissions={"pull_requests": "read"})
    writer = hub.narrowed(permissions={"contents": "read", "issues": "write"})
    issue = hub.post("/repos/octo/demo/issues", writer, {"title": "Broken"}).json()

    assert hub.get(f"/repos/octo/demo/issues/{issue['number']}", reader).status_code == 403
    assert hub.get("/repos/octo/demo/issues", reader).json() == []
    assert hub.get("/search/issues?q=Broken", reader).json()["total_count"] == 0
    (error,) = hub.query(f"issueOrPullRequest(number: {issue['number']}) {{ __typename }}", reader)["errors"]
    assert error["type"] == "FORBIDDEN"
    nodes = hub.graphql("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", reader, ids=[issue["node_id"]])
    assert nodes["data"] == {"nodes": [None]}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"permissions": {"administration": "read"}}, "administration=read, held: none"),
        ({"permissions": {"metadata": "write"}}, "metadata=write, held: read"),
        ({"permissions": {"contents": ["write"]}}, "contents=['write'], held: write"),
        ({"repositories": ["demo", "ungranted"]}, "ungranted"),
        ({"repositories": ["elsewhere"]}, "elsewhere"),
        ({"repository_ids": [999_999]}, "999999"),
        ({"repositories": []}, "none is named"),
    ],
    ids=["not-held", "more-than-held", "no-level", "not-granted", "foreign", "unknown-id", "empty"],
)
def test_what_was_not_granted_is_refused(hub: Asked, wanted: dict[str, Any], found: str) -> None:
    made = hub.installation_token(**wanted)

    assert made.status_code == 422
    assert [error["message"] for error in made.json()["errors"]] == [found]


@pytest.mark.parametrize("wanted", [{"repositories": "demo"}, {"repository_ids": ["1"]}, {"permissions": []}])
def test_a_wish_of_the_wrong_kind_is_refused(hub: Asked, wanted: dict[str, Any]) -> None:
    assert hub.installation_token(**wanted).status_code == 422
