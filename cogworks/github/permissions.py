"""Who may command: what people may do in the repository, asked for in one document."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from cogworks.forge.snapshot import Snapshot
from cogworks.github.documents import Answer, as_error, is_forbidden
from cogworks.github.reading import Queries
from cogworks.unexpected import expecting
from cogworks.vocabulary import Login

_PER_DOCUMENT = 20


class PermissionSource(Protocol):
    """Asks about one person; costs a request each."""

    def permission_of(self, login: Login) -> str: ...


class People:
    """Says what people may do in the repository of a snapshot, through GraphQL or else REST."""

    def __init__(self, client: Queries, rest: Callable[[], PermissionSource]) -> None:
        """
        Args:
            rest: called only where GitHub forbids to ask in one document.
        """
        self._client = client
        self._rest = rest

    def permissions(self, snapshot: Snapshot, people: Sequence[Login]) -> Mapping[Login, str]:
        """What each of them may do; as `permissions_of`."""
        return permissions_of(self._client, self, snapshot.repository.name_with_owner, people)

    def permission_of(self, login: Login) -> str:
        return self._rest().permission_of(login)


def permissions_of(
    client: Queries, rest: PermissionSource, repository: str, logins: Sequence[Login]
) -> dict[Login, str]:
    """What each of them may do: `admin`, `maintain`, `write`, `triage`, `read` or `none` (also for Apps).

    One GraphQL request for 20 people; where GitHub forbids that, one REST request each.

    Args:
        repository: owner/name
    """
    permissions: dict[Login, str] = {}
    unique = list(dict.fromkeys(logins))
    for start in range(0, len(unique), _PER_DOCUMENT):
        some = unique[start : start + _PER_DOCUMENT]
        answer = client.query(*permission_document(repository, some))
        permissions.update(
            parse_permissions(answer, some) or {login: rest.permission_of(login).lower() for login in some}
        )
    return permissions


def permission_document(repository: str, logins: Sequence[Login]) -> tuple[str, dict[str, Any]]:
    """The document and its variables; `c0`, `c1`, … are the people in order."""
    owner, _, name = repository.partition("/")
    people = "".join(f", $l{index}: String!" for index in range(len(logins)))
    fields = "\n".join(
        # `login` matches names that begin alike as well, so more than one may come back.
        f"    c{index}: collaborators(login: $l{index}, first: 10) {{ edges {{ permission node {{ login }} }} }}"
        for index in range(len(logins))
    )
    document = f"query Permissions($owner: String!, $name: String!{people}) {{\n  repository(owner: $owner, name: $name) {{\n{fields}\n  }}\n}}\n"
    return document, {
        "owner": owner,
        "name": name,
        **{f"l{index}": login for index, login in enumerate(logins)},
    }


def parse_permissions(answer: Answer, logins: Sequence[Login]) -> dict[Login, str] | None:
    """Permission by login; None when the token may not ask this way.

    Raises:
        UnexpectedAnswer: it does not look as it was asked for.
        CogworksError: any other error beside the data.
    """
    for problem in answer.errors:
        if not is_forbidden(problem):
            raise as_error(problem, doing="say what people may do in the repository")
    with expecting("repository.collaborators"):
        repository: Mapping[str, Any] = answer.data.get("repository") or {}
        if answer.errors or any(repository.get(f"c{index}") is None for index in range(len(logins))):
            return None
        return {login: _permission(repository[f"c{index}"], login) for index, login in enumerate(logins)}


def _permission(connection: Mapping[str, Any], login: Login) -> str:
    for edge in connection["edges"]:
        if edge["node"]["login"].casefold() == login.casefold():
            return str(edge["permission"]).lower()
    return "none"
