"""A small hub whose GraphQL endpoint is asked in-process: people, a repository, and shorthands for asking."""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cogworks.hub import seeding
from cogworks.hub.actions.access import Actor, authenticate
from cogworks.hub.graphql.endpoint import execute
from cogworks.hub.records import Repository
from cogworks.hub.world import World

FILES = {
    "README.md": "# demo\n",
    ".cogworks/config.toml": "[budget]\n",
    ".cogworks/packs/python.md": "pack\n",
    "src/calc.py": "def add(a, b):\n    return a - b\n",
}


class SteppingClock:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment


@dataclass
class Hub:
    """One hub with `octo/demo`; `owner`, `writer`, `reader`, `app` and `stranger` are tokens."""

    world: World
    clock: SteppingClock
    repository: Repository

    def actor(self, token: str) -> Actor:
        return authenticate(self.world, token)

    def answer(self, document: str, token: str = "owner", /, **variables: Any) -> dict[str, Any]:
        return execute(self.world, self.actor(token), document, variables)

    def data(self, document: str, token: str = "owner", /, **variables: Any) -> dict[str, Any]:
        """The data of an answer without errors."""
        answer = self.answer(document, token, **variables)
        assert "errors" not in answer, answer["errors"]
        found: dict[str, Any] = answer["data"]
        return found

    def errors(self, document: str, token: str = "owner", /, **variables: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.answer(document, token, **variables)["errors"]
        return found

    def mutate(self, name: str, selection: str, token: str = "owner", /, **given: Any) -> dict[str, Any]:
        """The payload of one mutation that succeeds."""
        payload: dict[str, Any] = self.data(mutation(name, selection), token, input=given)[name]
        return payload

    def refusal(self, name: str, token: str = "owner", /, **given: Any) -> dict[str, Any]:
        """The one error of one mutation that fails, without its locations."""
        answer = self.answer(mutation(name, "clientMutationId"), token, input=given)
        assert answer["data"] == {name: None}
        (error,) = answer["errors"]
        assert error.pop("locations")
        found: dict[str, Any] = error
        return found

    def repo(self, selection: str, token: str = "owner", **variables: Any) -> dict[str, Any]:
        """The selected fields of `octo/demo`."""
        document = f'{{ repository(owner: "octo", name: "demo") {{ {selection} }} }}'
        found: dict[str, Any] = self.data(document, token, **variables)["repository"]
        return found

    @property
    def repository_id(self) -> str:
        return self.repository.node_id

    def tip(self, branch: str = "main") -> str:
        oid = self.world.repository_git(self.repository).branch(branch)
        assert oid is not None
        return oid

    def branch(self, name: str, oid: str | None = None) -> str:
        """Make a branch and return its tip."""
        given = {"repositoryId": self.repository_id, "name": f"refs/heads/{name}", "oid": oid or self.tip()}
        target: dict[str, str] = self.mutate("createRef", "ref { target { oid } }", **given)["ref"]["target"]
        return target["oid"]

    def issue(self, title: str = "Broken", **given: Any) -> dict[str, Any]:
        given = {"repositoryId": self.repository_id, "title": title, **given}
        found: dict[str, Any] = self.mutate("createIssue", "issue { id number }", **given)["issue"]
        return found

    def commit(self, branch: str, files: dict[str, str], message: str = "Change", **given: Any) -> str:
        """Add files to a branch and return its new tip."""
        token = given.pop("token", "owner")
        given = {"expectedHeadOid": self.tip(branch), **given}
        payload = self.mutate(
            "createCommitOnBranch", "commit { oid }", token, **commit_input(branch, files, message, **given)
        )
        oid: str = payload["commit"]["oid"]
        return oid

    def pull(self, branch: str = "topic", title: str = "Repair", **given: Any) -> dict[str, Any]:
        """A pull request of a new branch with one new file."""
        token = given.pop("token", "owner")
        self.branch(branch)
        self.commit(branch, {f"{branch}.txt": branch})
        given = {
            "repositoryId": self.repository_id, "title": title, "headRefName": branch, "baseRefName": "main", **given,
        }  # fmt: skip
        found: dict[str, Any] = self.mutate("createPullRequest", "pullRequest { id number }", token, **given)
        pull: dict[str, Any] = found["pullRequest"]
        return pull


def commit_input(branch: str, files: dict[str, str], message: str = "Change", **given: Any) -> dict[str, Any]:
    """The input of `createCommitOnBranch` that adds files to a branch of `octo/demo`."""
    headline, _, body = message.partition("\n\n")
    additions = [
        {"path": path, "contents": b64encode(text.encode()).decode()} for path, text in files.items()
    ]
    return {
        "branch": {"repositoryNameWithOwner": "octo/demo", "branchName": branch},
        "message": {"headline": headline, "body": body},
        "fileChanges": {"additions": additions},
        **given,
    }


def mutation(name: str, selection: str) -> str:
    return f"mutation Do($input: {name[0].upper()}{name[1:]}Input!) {{ {name}(input: $input) {{ {selection} }} }}"


@contextmanager
def running_hub(directory: Path) -> Iterator[Hub]:
    clock = SteppingClock()
    world = World(directory / "hub", clock=clock, base_url="http://127.0.0.1:8000")
    tree = directory / "tree"
    for path, text in FILES.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    try:
        for login in ("octo", "wanda", "rita", "sam"):
            seeding.add_user(world, login, name=login.title())
        app = seeding.add_user(world, "helper[bot]", kind="Bot")
        repository = seeding.create_repository(world, "octo/demo", tree=tree)
        for login, token, role in (
            ("octo", "owner", None),
            ("wanda", "writer", "write"),
            ("rita", "reader", "read"),
            ("sam", "stranger", None),
        ):
            user = seeding.add_user(world, login)
            seeding.add_token(world, user, token)
            if role is not None:
                seeding.add_collaborator(world, repository, user, role)
        held: seeding.Permissions = {
            "contents": "write", "issues": "write", "pull_requests": "write",
            "checks": "write", "statuses": "write", "workflows": "write",
        }  # fmt: skip
        seeding.add_token(world, app, "app", kind="installation", permissions=held)
        seeding.add_collaborator(world, repository, app, "write")
        yield Hub(world, clock, repository)
    finally:
        world.close()
