"""Looks at a repository for whatever would stop a work item there; writes nothing."""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from cogworks.errors import CogworksError, PermissionRefused
from cogworks.forge import diagnosis
from cogworks.forge.addresses import RepositoryAddress
from cogworks.forge.diagnosis import Check
from cogworks.forge.snapshot import Contents
from cogworks.github.documents import as_error, document
from cogworks.github.parsing import config_files, contents_of, pack_files
from cogworks.github.reading import Queries
from cogworks.settings.config import Config
from cogworks.unexpected import expecting

LOOKED_AT = ("cogworks/ledger/1", "cogworks/1/spec")
"""Branches whose names stand for all that cogworks makes."""


class RestReads(Protocol):
    """What only REST says."""

    def own_permissions(self) -> Mapping[str, bool]: ...
    def actions_may_open_pull_requests(self) -> bool: ...
    def rules_of(self, branch: str) -> tuple[str, ...]: ...


def examine_token(client: Queries, *, source: str, now: Callable[[], datetime]) -> list[Check]:
    """Whether the token is accepted at all, and the clock: one request."""
    try:
        answer = client.query(document("viewer"), {})
        with expecting("viewer"):
            login = answer.data["viewer"]["login"]
    except CogworksError as error:
        return [diagnosis.failed("token", error)]
    token = Check(name="token", status="ok", found=f"{source}, speaks for {login}")
    return [token, diagnosis.clock_check(answer.server_date, now())]


class Examined(NamedTuple):
    """What there is to say of a token, and of a repository where one was named."""

    checks: list[Check]
    config: Config | None = None
    files: Mapping[str, str] | None = None
    """Of the default branch below `.cogworks`; None: they could not be read."""
    contents: Contents = Contents()
    packs: Mapping[str, str | None] = MappingProxyType({})
    """Files of context packs on the default branch: path -> text, None where it is none."""


def examine_repository(
    client: Queries,
    rest: Callable[[], RestReads],
    address: RepositoryAddress,
    *,
    source: str,
    now: Callable[[], datetime],
) -> Examined:
    """Everything about one repository: one GraphQL request and three or four of REST.

    Args:
        source: where the token came from, in words.
    """
    try:
        answer = client.query(document("examine"), {"owner": address.owner, "name": address.name})
        with expecting("viewer"):
            login = answer.data["viewer"]["login"]
    except CogworksError as error:
        return Examined([diagnosis.failed("token", error)])
    checks = [
        Check(name="token", status="ok", found=f"{source}, speaks for {login}"),
        diagnosis.clock_check(answer.server_date, now()),
    ]
    repository = answer.data.get("repository")
    if not repository:
        checks.append(_not_seen(address))
        return Examined(checks)
    checks += [
        diagnosis.failed("repository", as_error(problem, doing=f"read {address.url}"))
        for problem in answer.errors
    ]
    configured, config, files = _configuration(repository, address)
    checks += [
        *_guarded("repository", lambda: _repository(repository)),
        *_guarded("permission", lambda: _permission(repository, rest)),
        *_guarded("workflows", lambda: _workflows(rest, source)),
        *_guarded(
            "rules", lambda: diagnosis.rules_check({name: rest().rules_of(name) for name in LOOKED_AT})
        ),
        configured,
    ]
    return Examined(checks, config, files, contents_of(repository), _packs(repository))


def _packs(repository: Mapping[str, Any]) -> Mapping[str, str | None]:
    with expecting("packs"):
        default = repository.get("defaultBranchRef") or {}
        return pack_files((default.get("target") or {}).get("packs"))


def _guarded(name: str, look: Callable[[], Check]) -> list[Check]:
    try:
        with expecting(name):
            return [look()]
    except CogworksError as error:
        return [diagnosis.failed(name, error)]


def _not_seen(address: RepositoryAddress) -> Check:
    return Check(
        name="repository",
        status="failed",
        found=f"{address.url} is not there, or the token cannot see it",
        remedy="Check the URL, and give the token read access to the repository.",
    )


def _repository(node: Mapping[str, Any]) -> Check:
    return diagnosis.repository_check(
        is_archived=node["isArchived"], has_issues=node["hasIssuesEnabled"], repository=node["nameWithOwner"]
    )


def _permission(node: Mapping[str, Any], rest: Callable[[], RestReads]) -> Check:
    return diagnosis.permission_check(
        node.get("viewerPermission"),
        lambda: bool(rest().own_permissions().get("push")),
        node["nameWithOwner"],
    )


def _workflows(rest: Callable[[], RestReads], source: str) -> Check:
    try:
        return diagnosis.workflow_check(rest().actions_may_open_pull_requests(), token_source=source)
    except PermissionRefused:
        return diagnosis.skipped(
            "workflows", "only an administrator's token may read the setting for workflows"
        )


def _configuration(
    repository: Mapping[str, Any], address: RepositoryAddress
) -> tuple[Check, Config | None, Mapping[str, str] | None]:
    try:
        with expecting("configuration"):
            default = repository.get("defaultBranchRef")
            if default is None:
                remedy = "Push a commit to the default branch."
                problem = "no commit yet"
                return (
                    Check(name="configuration", status="failed", found=problem, remedy=remedy),
                    None,
                    None,
                )
            files = config_files(default["target"].get("configuration"))
    except CogworksError as error:
        return diagnosis.failed("configuration", error), None, None
    return *diagnosis.configuration_check(files, where=address.full_name), files
