"""What GitHub's REST description has and the hub has not: 501 with its name, and 404 for what GitHub does not know."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cogworks.hub.rest.described import ROUTES, described
from cogworks.hub.server import hub_app
from cogworks.hub.world import World
from tests.hub.bench import Bench
from tests.hub.openapi import OfficialDescription
from tests.hub.running import OWNER_TOKEN
from tests.hub.web import web_client

OFFERED = {(route.method, route.path) for route in ROUTES}
OPERATIONS = [(method, row.path) for row in described() for method in sorted(row.methods)]


@pytest.fixture
def web(bench: Bench) -> Iterator[httpx.Client]:
    with web_client(hub_app(bench.world), authorization=f"token {OWNER_TOKEN}") as client:
        yield client


def example(path: str) -> str:
    """A request's path that fits a described one; nothing of it is on the hub."""
    return path.replace("{owner}/{repo}", "octo/none").replace("{", "a").replace("}", "")


@pytest.mark.parametrize("root", ["/repos/", "/orgs/", "/user", "/"])
def test_every_operation_of_github_is_implemented_or_answers_501_with_its_name(
    web: httpx.Client, root: str
) -> None:
    roots = ("/repos/", "/orgs/", "/user", "/")
    asked = [
        (method, path)
        for method, path in OPERATIONS
        if next(each for each in roots if path.startswith(each)) == root
    ]
    answers = {(method, path): web.request(method, "/api/v3" + example(path)) for method, path in asked}
    missing = {what: answer for what, answer in answers.items() if what not in OFFERED}

    assert missing
    assert {what: (answer.status_code, answer.json().get("message")) for what, answer in missing.items()} == {
        (method, path): (501, f"The hub does not implement {method} {path}.") for method, path in missing
    }
    assert {what for what in answers.keys() - missing.keys() if answers[what].status_code == 501} == set()


def test_the_list_of_operations_is_that_of_the_official_description() -> None:
    methods = {"get", "post", "put", "patch", "delete"}
    paths = OfficialDescription().document["paths"]
    subset = {(method.upper(), path) for path, all_of in paths.items() for method in all_of.keys() & methods}

    assert len(OPERATIONS) > 1200
    assert subset - set(OPERATIONS) == set()
    assert OFFERED - set(OPERATIONS) == {
        ("GET", "/repos/{owner}/{repo}/contents")
    }  # described with a path only


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v3/repos/octo/demo/nonsense", 404),
        ("DELETE", "/api/v3/rate_limit", 404),
        ("GET", "/api/v3/repos/octo/demo/hooks", 501),
        ("DELETE", "/api/v3/repos/octo/demo", 501),
        ("GET", "/api/v3/repos/octo/demo/branches/main/protection/enforce_admins", 501),
        ("GET", "/api/v3/repos/octo/demo/branches/topic/rename", 404),
        ("POST", "/api/v3/repos/octo/demo/branches/topic/rename", 501),
        ("HEAD", "/api/v3/emojis", 501),
        ("GET", "/orgs/octo", 501),
        ("POST", "/gists", 501),
    ],
)
def test_what_github_does_not_know_is_not_found(
    web: httpx.Client, method: str, path: str, status: int
) -> None:
    assert web.request(method, path).status_code == status


def test_an_enterprise_server_without_dependencies_does_not_know_them(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "hub")
    world: World = bench.world
    world.has_graphql_extensions = False
    with web_client(hub_app(world), authorization=f"token {OWNER_TOKEN}") as client:
        asked = client.get("/api/v3/repos/octo/demo/issues/1/dependencies/blocked_by")
    world.close()

    assert asked.status_code == 404
