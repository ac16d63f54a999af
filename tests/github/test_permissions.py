from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from cogworks.errors import TryAgainLater
from cogworks.forge.inbox import may_command
from cogworks.github.documents import Answer, GraphQLProblem
from cogworks.github.permissions import permissions_of
from cogworks.vocabulary import Login

NOW = datetime(2026, 11, 21, tzinfo=UTC)
ANN, BOB, BOT = Login("ann"), Login("Bob"), Login("cogs")


@dataclass
class Collaborators:
    """Knows what people may do, by GraphQL, unless that is forbidden, and by REST."""

    people: Mapping[str, str]
    problem: GraphQLProblem | None = None
    documents: int = 0
    asked_by_rest: list[Login] = field(default_factory=list)

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer:
        self.documents += 1
        logins = {name: value for name, value in variables.items() if name.startswith("l")}
        if self.problem is not None:
            return Answer(
                {"repository": dict.fromkeys(f"c{name[1:]}" for name in logins)}, (self.problem,), NOW
            )
        found = {f"c{name[1:]}": {"edges": self._matching(login)} for name, login in logins.items()}
        return Answer({"repository": found}, (), NOW)

    def _matching(self, login: str) -> list[dict[str, Any]]:
        return [
            {"permission": permission.upper(), "node": {"login": name}}
            for name, permission in self.people.items()
            if name.casefold().startswith(login.casefold())
        ]

    def permission_of(self, login: Login) -> str:
        self.asked_by_rest.append(login)
        return self.people.get(login, "none")


def test_everybody_is_asked_about_in_one_document() -> None:
    github = Collaborators({"anna": "admin", "ann": "write", "bob": "read"})

    found = permissions_of(github, github, "o/r", [ANN, BOB, BOT, ANN])

    assert found == {ANN: "write", BOB: "read", BOT: "none"}
    assert (github.documents, github.asked_by_rest) == (1, [])


def test_where_graphql_is_forbidden_everybody_is_asked_about_alone() -> None:
    refusal = GraphQLProblem(
        ("repository", "c0"), "FORBIDDEN", "Must have push access to view collaborators."
    )
    github = Collaborators({"ann": "maintain"}, problem=refusal)

    assert permissions_of(github, github, "o/r", [ANN, BOT]) == {ANN: "maintain", BOT: "none"}
    assert github.asked_by_rest == [ANN, BOT]


def test_any_other_error_leaves_it_open_and_grants_nothing() -> None:
    github = Collaborators({}, problem=GraphQLProblem(("repository",), "RATE_LIMITED", "slow down"))

    with pytest.raises(TryAgainLater):
        permissions_of(github, github, "o/r", [ANN])


def test_twenty_people_fit_into_one_document() -> None:
    github = Collaborators({})

    permissions_of(github, github, "o/r", [Login(f"p{place}") for place in range(41)])

    assert github.documents == 3


@pytest.mark.parametrize(
    ("permission", "obeyed"),
    [
        ("admin", True),
        ("maintain", True),
        ("WRITE", True),
        ("triage", False),
        ("read", False),
        ("none", False),
    ],
)
def test_only_writers_and_better_may_command(permission: str, obeyed: bool) -> None:
    assert may_command(permission) is obeyed
