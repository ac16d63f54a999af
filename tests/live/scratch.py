"""A scratch repository on a live GitHub: asks it, and removes what asking has left there."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx

Json = dict[str, Any]


class Reply(NamedTuple):
    """What came back, whatever its status."""

    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def data(self) -> Json:
        """GraphQL's data; empty where there is none."""
        found: Json = (self.body.get("data") or {}) if isinstance(self.body, dict) else {}
        return found

    @property
    def errors(self) -> list[Json]:
        found: list[Json] = self.body.get("errors") or [] if isinstance(self.body, dict) else []
        return found

    @property
    def said(self) -> str:
        """Its errors or its message, in one line."""
        if self.errors and all(isinstance(error, dict) for error in self.errors):
            texts = [f"{error.get('type', '')} {error.get('message', '')}".strip() for error in self.errors]
            return "; ".join(texts)[:200]
        message = self.body.get("message", "") if isinstance(self.body, dict) else ""
        return f"{self.status} {message}".strip()[:200]


@dataclass
class Scratch:
    """One repository; every write is followed by a pause, as GitHub wants it."""

    rest_url: str
    graphql_url: str
    repository: str
    """owner/name"""
    stamp: str
    """Part of every name that is made, so that nothing else is ever touched."""
    http: httpx.Client
    pause_s: float = 1.0
    id: str = ""
    default_branch: str = ""
    head: str = ""
    clean_ups: list[tuple[str, Callable[[], Reply]]] = field(default_factory=list)

    @property
    def branch(self) -> str:
        return f"cogworks/live-{self.stamp}"

    def look(self) -> None:
        """Learn the repository's id and head. Raises LookupError when the token cannot see it."""
        reply = self.query("{ id defaultBranchRef { name target { oid } } }")
        found = reply.data.get("repository")
        if not found or not found["defaultBranchRef"]:
            raise LookupError(f"{self.repository} cannot be read, or has no commit: {reply.said}")
        self.id = found["id"]
        self.default_branch = found["defaultBranchRef"]["name"]
        self.head = found["defaultBranchRef"]["target"]["oid"]

    def query(self, selection: str) -> Reply:
        """Ask for fields of the repository."""
        owner, _, name = self.repository.partition("/")
        text = f"query($o: String!, $n: String!) {{ repository(owner: $o, name: $n) {selection} }}"
        return self.graphql(text, {"o": owner, "n": name})

    def mutate(self, text: str, variables: Json) -> Reply:
        reply = self.graphql(text, variables)
        time.sleep(self.pause_s)
        return reply

    def graphql(self, text: str, variables: Json | None = None) -> Reply:
        return _reply(self.http.post(self.graphql_url, json={"query": text, "variables": variables or {}}))

    def get(self, path: str) -> Reply:
        """Read something beside the repository."""
        return _reply(self.http.get(self.rest_url + path))

    def rest(self, verb: str, path: str, body: Json | None = None) -> Reply:
        """Path below the repository."""
        reply = _reply(self.http.request(verb, f"{self.rest_url}/repos/{self.repository}{path}", json=body))
        if verb != "GET":
            time.sleep(self.pause_s)
        return reply

    def afterwards(self, what: str, call: Callable[[], Reply]) -> None:
        self.clean_ups.append((what, call))

    def new_branch(self, name: str) -> str:
        """A branch at the head, removed in the end; its name."""
        branch = f"{self.branch}-{name}"
        self.rest("POST", "/git/refs", {"ref": f"refs/heads/{branch}", "sha": self.head})
        self.afterwards(f"branch {branch}", lambda: self.rest("DELETE", f"/git/refs/heads/{branch}"))
        return branch

    def new_issue(self) -> Json:
        """An issue, closed in the end; `node_id` and `number`."""
        body = {"title": f"live check {self.stamp}", "body": "Made and closed by scripts/live-check."}
        issue: Json = self.rest("POST", "/issues", body).body
        self.afterwards(
            f"issue #{issue['number']}",
            lambda: self.rest("PATCH", f"/issues/{issue['number']}", {"state": "closed"}),
        )
        return issue

    def clean(self) -> list[str]:
        """Remove everything, last made first; what could not be removed, in words."""
        left = []
        while self.clean_ups:
            what, call = self.clean_ups.pop()
            try:
                reply = call()
            except httpx.HTTPError as error:
                left.append(f"{what}: {type(error).__name__}")
                continue
            if reply.status >= 400 or reply.errors:
                left.append(f"{what}: {reply.said}")
        return left


def _reply(response: httpx.Response) -> Reply:
    try:
        body = response.json() if response.content else None
    except ValueError:
        body = None
    return Reply(response.status_code, body, response.headers)
