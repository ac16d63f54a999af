"""No request makes the hub fail: whatever is sent is answered or refused."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cogworks.hub.actions.comments import create_comment
from cogworks.hub.actions.reviews import create_review
from cogworks.hub.rest.described import ROUTES
from cogworks.hub.rest.exchange import Route
from cogworks.hub.server import hub_app
from cogworks.hub.world import LIMITS
from tests.exhaustive import examples
from tests.hub.bench import Bench
from tests.hub.openapi import OfficialDescription
from tests.hub.running import BOT_TOKEN, OWNER_TOKEN
from tests.hub.web import web_client

WORDS = (
    "main",
    "topic",
    "open",
    "closed",
    "bug",
    "octo",
    "rita",
    "eyes",
    "x",
    "",
    "refs/heads/x",
    "base64",
    "eA==",
)
DESCRIPTION = OfficialDescription()
INNER = ("path", "mode", "type", "sha", "content", "name", "email", "date", "body", "line", "title")
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 40), st.sampled_from(WORDS), st.text(max_size=5)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(INNER), inner, max_size=4),
    max_leaves=6,
)
FITTING: dict[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(
        (*WORDS, "{tip}", "{tree}", "{blob}", "APPROVE", "success", "README.md", "2026-01-01")
    ),
    "integer": st.integers(-1, 40),
    "boolean": st.booleans(),
    "array": st.lists(st.one_of(st.sampled_from(WORDS), JSON), max_size=3),
    "object": st.dictionaries(st.sampled_from(INNER), SCALARS, max_size=5),
}


def bodies(route: Route) -> st.SearchStrategy[Any]:
    """Bodies with the fields that the operation knows: of the right type more often than not."""
    operation = DESCRIPTION.document["paths"].get(route.path, {}).get(route.method.lower(), {})
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    fields = content.get("schema", {}).get("properties", {})
    values = {
        name: st.one_of(
            FITTING.get(schema.get("type", ""), JSON), FITTING.get(schema.get("type", ""), JSON), JSON
        )
        for name, schema in fields.items()
    }
    needed = set(content.get("schema", {}).get("required", ()))
    required = {name: value for name, value in values.items() if name in needed}
    optional = {name: value for name, value in values.items() if name not in needed}
    return st.one_of(st.fixed_dictionaries(required, optional=optional), JSON)


PARTS = {
    "owner": ["octo"],
    "repo": ["demo"],
    "username": ["rita", "none"],
    "issue_number": ["1", "2", "99", "x"],
    "pull_number": ["2", "1", "99"],
    "comment_id": ["{comment}", "1", "x"],
    "review_id": ["{review}", "1"],
    "name": ["bug", "none", "a%2Fb"],
    "branch": ["main", "topic", "none", "..", "%00"],
    "ref": ["main", "heads/main", "heads/topic", "none", "a..b", "%0A", "-x", "../../x"],
    "basehead": ["main...topic", "main", "none...main"],
    "path": ["README.md", "src", "none", "../x", "a//b", "%00"],
    "file_sha": ["0" * 40, "x"],
    "tree_sha": ["main", "x"],
    "commit_sha": ["{tip}", "0" * 40, "main"],
    "sha": ["{tip}", "0" * 40, "main"],
    "check_run_id": ["1", "x"],
    "issue_id": ["1", "x"],
}


class Asker:
    """A hub with an issue (1) and a reviewed pull request (2)."""

    def __init__(self, bench: Bench, client: httpx.Client) -> None:
        self.bench, self.client = bench, client
        issue = bench.issue()
        comment = create_comment(bench.world, bench.reader, issue, "A comment")
        review = create_review(
            bench.world, bench.owner, bench.pull("topic"), event="COMMENT", body="A review"
        )
        self.ids = {
            "{comment}": str(comment.id),
            "{review}": str(review.id),
            "{tip}": bench.tip("topic"),
            "{tree}": bench.git.resolve("main^{tree}") or "",
            "{blob}": bench.git.resolve("main:README.md") or "",
        }

    def ask(self, method: str, path: str, parts: dict[str, str], body: Any, token: str) -> int:
        url = path
        for name, value in parts.items():
            url = url.replace(f"{{{name}}}", self.ids.get(value, value))
        if isinstance(body, dict):
            body = {
                name: self.ids.get(value, value) if isinstance(value, str) else value
                for name, value in body.items()
            }
        headers = {"authorization": f"Bearer {token}"}
        # An exception in the hub comes out here.
        return self.client.request(method, f"/api/v3{url}", json=body, headers=headers).status_code


@pytest.fixture
def asker(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asker]:
    monkeypatch.setitem(LIMITS, "core", 10**9)
    with web_client(hub_app(bench.world)) as client:
        yield Asker(bench, client)


@settings(
    max_examples=examples(300),
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_whatever_is_sent_is_answered_or_refused(asker: Asker, data: st.DataObject) -> None:
    route = data.draw(st.sampled_from(ROUTES))
    names = [name for name in PARTS if f"{{{name}}}" in route.path]
    parts = {name: data.draw(st.sampled_from(PARTS[name]), label=name) for name in names}
    body = data.draw(bodies(route) if route.method != "GET" else st.none(), label="body")
    token = data.draw(st.sampled_from([OWNER_TOKEN, BOT_TOKEN]))

    assert asker.ask(route.method, route.path, parts, body, token) < 500
