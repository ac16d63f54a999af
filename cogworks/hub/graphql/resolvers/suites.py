"""What is answered about the suites that check runs form, and about the apps that make them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cogworks.hub.actions.checks import check_runs
from cogworks.hub.check_records import CheckRun
from cogworks.hub.graphql.connections import Connection, connect
from cogworks.hub.graphql.gitvalues import GitCommit
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.gitobjects import commit_of
from cogworks.hub.graphql.resolvers.paths import repository_path, user_path
from cogworks.hub.graphql.tables import Table
from cogworks.hub.node_ids import node_id
from cogworks.hub.records import User

TABLE = Table()

_PASSED = frozenset({"success", "neutral", "skipped"})


@dataclass(frozen=True, slots=True)
class App:
    """The app behind a bot."""

    type_name = "App"
    bot: User

    @property
    def node_id(self) -> str:
        return node_id(self.type_name, self.bot.id)


@dataclass(frozen=True, slots=True)
class Suite:
    """All runs of one app on one commit, oldest first; it is named by the first of them."""

    type_name = "CheckSuite"
    runs: tuple[CheckRun, ...]

    @property
    def node_id(self) -> str:
        return node_id(self.type_name, self.first.id)

    @property
    def first(self) -> CheckRun:
        return self.runs[0]

    @property
    def repository_id(self) -> int:
        return self.first.repository_id

    @property
    def is_done(self) -> bool:
        return all(run.status == "completed" for run in self.runs)

    @property
    def updated_at(self) -> datetime:
        return max(run.completed_at or run.started_at for run in self.runs)


def suites_of(request: Request, repository_id: int, oid: str) -> list[Suite]:
    """The suites of a commit in the order their apps appeared."""
    by_app: dict[int, list[CheckRun]] = {}
    for run in check_runs(request.world, repository_id, oid, only_latest=False):
        by_app.setdefault(run.creator_id, []).append(run)
    return [Suite(tuple(runs)) for runs in by_app.values()]


def suite_of(run: CheckRun, request: Request) -> Suite:
    """The suite that a run belongs to."""
    suites = suites_of(request, run.repository_id, run.oid)
    return next(suite for suite in suites if suite.first.creator_id == run.creator_id)


def app_of(request: Request, user_id: int) -> App | None:
    user = request.user(user_id)
    return App(user) if user is not None and user.kind == "Bot" else None


def _latest(suite: Suite, request: Request) -> list[CheckRun]:
    """Only the newest run of each name counts."""
    return [
        each for each in check_runs(request.world, suite.repository_id, suite.first.oid) if each in suite.runs
    ]


def _conclusion(suite: Suite, request: Request) -> str | None:
    if not suite.is_done:
        return None
    words = [run.conclusion or "" for run in _latest(suite, request)]
    return next((word.upper() for word in words if word not in _PASSED), "SUCCESS")


def _path(suite: Suite, request: Request) -> str:
    repository = request.repository(suite.repository_id)
    return f"{repository_path(repository)}/commit/{suite.first.oid}/checks?check_suite_id={suite.first.id}"


def _commit(suite: Suite, request: Request) -> GitCommit | None:
    return commit_of(request.repository(suite.repository_id), request, suite.first.oid)


TABLE.plain(
    "CheckSuite",
    Suite,
    {
        "id": lambda suite, _: suite.node_id,
        "databaseId": lambda suite, _: suite.first.id,
        "app": lambda suite, request: app_of(request, suite.first.creator_id),
        "commit": _commit,
        "status": lambda suite, _: "COMPLETED" if suite.is_done else "IN_PROGRESS",
        "conclusion": _conclusion,
        "createdAt": lambda suite, _: suite.first.started_at,
        "updatedAt": lambda suite, _: suite.updated_at,
        "repository": lambda suite, request: request.repository(suite.repository_id),
        "resourcePath": _path,
        "url": lambda suite, request: request.url(_path(suite, request)),
    },
)
TABLE.plain("CheckRun", CheckRun, {"checkSuite": suite_of})


@TABLE.field("CheckSuite", "checkRuns")
def runs_of_suite(
    suite: Suite, request: Request, filter_by: Mapping[str, Any] | None = None, **paging: Any
) -> Connection[CheckRun]:
    """The newest run of each name, or with `checkType: ALL` every run there was."""
    wanted = filter_by or {}
    everything = wanted.get("check_type") == "ALL"
    name, status, conclusions = (wanted.get(key) for key in ("check_name", "status", "conclusions"))
    runs = [
        run
        for run in (suite.runs if everything else _latest(suite, request))
        if (name is None or run.name == name)
        and (status is None or run.status.upper() == status)
        and (conclusions is None or (run.conclusion or "").upper() in conclusions)
    ]
    return connect(runs, paging, key=lambda run: run.id)


@TABLE.field("Commit", "checkSuites")
def suites_of_commit(
    commit: GitCommit, request: Request, filter_by: Mapping[str, Any] | None = None, **paging: Any
) -> Connection[Suite]:
    wanted = filter_by or {}
    app_id, name = wanted.get("app_id"), wanted.get("check_name")
    suites = [
        suite
        for suite in suites_of(request, commit.repository.id, commit.oid)
        if (app_id is None or suite.first.creator_id == app_id)
        and (name is None or any(run.name == name for run in suite.runs))
    ]
    return connect(suites, paging, key=lambda suite: suite.first.id)


TABLE.plain(
    "App",
    App,
    {
        "id": lambda app, _: app.node_id,
        "databaseId": lambda app, _: app.bot.id,
        "name": lambda app, _: app.bot.name or app.bot.handle,
        "slug": lambda app, _: app.bot.handle,
        "createdAt": lambda app, _: app.bot.created_at,
        "updatedAt": lambda app, _: app.bot.created_at,
        "url": lambda app, request: request.url(user_path(app.bot)),
    },
)


@TABLE.field("App", "logoUrl")
def logo_url(app: App, request: Request, size: int | None = None) -> str:
    del size
    return request.avatar(app.bot.id)
