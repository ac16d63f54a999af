"""Searching issues over REST, with the qualifiers that tell issues apart."""

import re
from collections.abc import Callable

from cogworks.hub.actions.access import can_read, sees_issue
from cogworks.hub.records import Issue, Label, Repository, User
from cogworks.hub.refusals import invalid
from cogworks.hub.rest.exchange import Answer, Call, Route
from cogworks.hub.rest.shapes.issues import issue as issue_shape
from cogworks.hub.world import World

_TERM = re.compile(r'(?P<minus>-)?(?:(?P<name>[a-z-]+):)?(?:"(?P<quoted>[^"]*)"|(?P<plain>\S+))')
Test = Callable[[World, Repository, Issue], bool]


def parse_query(text: str) -> list[Test]:
    """One test for each term; an issue is found when all hold. Raises `Unprocessable` for an unknown qualifier."""
    return [_term(match) for match in _TERM.finditer(text)]


def _term(match: re.Match[str]) -> Test:
    value = (match["quoted"] if match["quoted"] is not None else match["plain"]).lower()
    name = match["name"]
    if name in ("in", "sort"):
        return lambda _world, _repository, _issue: True
    test = _text(value) if name is None else _qualifier(name, value)
    if match["minus"] is None:
        return test
    return lambda world, repository, issue: not test(world, repository, issue)


def _text(value: str) -> Test:
    return lambda _world, _repository, issue: value in f"{issue.title}\n{issue.body or ''}".lower()


def _qualifier(name: str, value: str) -> Test:
    tests: dict[str, Test] = {
        "repo": lambda _world, repository, _issue: repository.key == value,
        "user": lambda _world, repository, _issue: repository.owner.lower() == value,
        "org": lambda _world, repository, _issue: repository.owner.lower() == value,
        "is": lambda _world, _repository, issue: value in _words(issue),
        "type": lambda _world, _repository, issue: value in _words(issue),
        "state": lambda _world, _repository, issue: value == issue.state,
        "label": lambda world, _repository, issue: value in _labels(world, issue),
        "author": lambda world, _repository, issue: value == world.user(issue.author_id).login.lower(),
        "assignee": lambda world, _repository, issue: value in _assignees(world, issue),
        "head": lambda _world, _repository, issue: (
            issue.pull is not None and issue.pull.head_branch.lower() == value
        ),
        "base": lambda _world, _repository, issue: (
            issue.pull is not None and issue.pull.base_branch.lower() == value
        ),
    }
    if name not in tests:
        raise invalid(
            "Search", "q", "invalid", f"The qualifier {name}: is not known here; known: {', '.join(tests)}"
        )
    return tests[name]


def _words(issue: Issue) -> set[str]:
    words = {
        issue.state,
        "issue" if issue.pull is None else "pr",
        "locked" if issue.is_locked else "unlocked",
    }
    if issue.pull is not None:
        words |= {"merged" if issue.pull.merged_at is not None else "unmerged"}
        words |= {"draft"} if issue.pull.is_draft else set()
    return words


def _labels(world: World, issue: Issue) -> set[str]:
    return {label.name.lower() for label in world.store.many(Label, issue.label_ids)}


def _assignees(world: World, issue: Issue) -> set[str]:
    return {user.login.lower() for user in world.store.many(User, issue.assignee_ids)}


def search_issues(call: Call) -> Answer:
    """Issues and pull requests of all repositories the actor may read, newest first."""
    text = call.query.get("q", "")
    if not text.strip():
        raise invalid("Search", "q", "missing")
    tests, world = parse_query(text), call.world
    issues = [
        issue
        for repository in world.store.every(Repository)
        if can_read(world, call.actor, repository)
        for issue in world.store.children(Issue, repository.id)
        if sees_issue(call.actor, repository, issue) and all(test(world, repository, issue) for test in tests)
    ]
    by_update = call.query.get("sort") == "updated"
    issues.sort(
        key=lambda issue: (issue.updated_at if by_update else issue.created_at, issue.id),
        reverse=call.query.get("order", "desc") != "asc",
    )
    answer = call.page(issues, lambda issue: {**issue_shape(world, issue), "score": 1.0}, "items")
    return Answer(
        {**answer.body, "incomplete_results": False, "search_type": "lexical"}, headers=answer.headers
    )


ROUTES = (Route("GET", "/search/issues", search_issues),)
