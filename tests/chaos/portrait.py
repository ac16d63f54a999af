"""What is on the hub, without the ids, oids, dates and sums that may differ from run to run."""

import json
import re
from pathlib import Path
from typing import Any

from cogworks.demo.facts import FULL_NAME
from cogworks.hub.check_records import CheckRun
from cogworks.hub.records import (
    Comment,
    Dependency,
    Event,
    Issue,
    Label,
    Reaction,
    Repository,
    Review,
    ReviewComment,
)
from cogworks.hub.world import World

Portrait = dict[str, Any]
_VARYING = (
    (re.compile(r"<details><summary>State</summary>.*?</details>", re.DOTALL), "<state>"),
    (re.compile(r"\*\*Cost so far:\*\*.*"), "<cost>"),
    # What a dead runner had reserved counts as spent.
    (re.compile(r"\*\*Budget\*\* .*\n\n"), ""),
    (re.compile(r"\$\d+\.\d+"), "$"),
    (re.compile(r"(/cogworks approve \S+) [0-9a-f]{12}\b"), r"\1 <artifact>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<key>"),
    (re.compile(r"\bh=[0-9a-f]{8}\b"), "<digest>"),
    (re.compile(r"\bt=review:[0-9a-f]{12}\b"), "t=review:<head>"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "<oid>"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT\S+"), "<date>"),
    (re.compile(r"http://127\.0\.0\.1:\d+"), "<hub>"),
)


def settled(text: str | None) -> str:
    """A text in which everything that may vary has the same name."""
    found = text or ""
    for pattern, name in _VARYING:
        found = pattern.sub(name, found)
    return found


def portrait(hub: Path) -> Portrait:
    """The sample repository of the hub in a directory, as anybody could see it on GitHub, and the item's state."""
    world = World(hub)
    try:
        with world.reading():
            return _Painter(world).whole()
    finally:
        world.close()


class _Painter:
    def __init__(self, world: World) -> None:
        self._world = world
        self._store = world.store
        repository = world.store.find(Repository, FULL_NAME)
        assert repository is not None
        self._repository = repository
        self._git = world.repository_git(repository)
        issues = world.store.children(Issue, repository.id)
        self._issues = sorted(issues, key=lambda issue: issue.number)
        self._numbers = {issue.id: issue.number for issue in issues}

    def whole(self) -> Portrait:
        return {
            "branches": {
                name: self._tree(oid)
                for name, oid in self._git.refs("refs/heads/").items()
                if "/ledger/" not in name
            },
            "ledgers": sorted(name for name in self._git.refs("refs/heads/") if "/ledger/" in name),
            "issues": {issue.number: self._issue(issue) for issue in self._issues},
            "labels": sorted(
                label.name
                for label in self._store.children(Label, self._repository.id)
                # A view that failed once may never be needed again.
                if not label.name.startswith("cogworks:node:")
            ),
            "check runs": sorted(run.name for run in self._store.children(CheckRun, self._repository.id)),
            "state": self._state(),
        }

    def _tree(self, oid: str) -> str:
        commit = self._git.commit(oid)
        assert commit is not None
        return commit.tree

    def _issue(self, issue: Issue) -> Portrait:
        store = self._store
        comments = store.children(Comment, issue.id)
        subjects = [issue.id, *(comment.id for comment in comments)]
        pull = issue.pull
        return {
            "title": issue.title,
            "body": settled(issue.body),
            "author": self._login(issue.author_id),
            "state": issue.state,
            "labels": sorted(label.name for label in store.many(Label, issue.label_ids)),
            "comments": [(self._login(each.author_id), settled(each.body)) for each in comments],
            "sub-issues": [self._numbers[each] for each in issue.sub_issue_ids],
            "blocked by": [self._numbers[each.blocking_id] for each in store.children(Dependency, issue.id)],
            "mentioned by": sorted(
                self._numbers[int(event.details["source_id"] or 0)]
                for event in store.children(Event, issue.id, tag="cross_referenced")
            ),
            "reviews": [(each.state, settled(each.body)) for each in store.children(Review, issue.id)],
            "remarks": [settled(each.body) for each in store.children(ReviewComment, issue.id)],
            "reactions": [each.content for id_ in subjects for each in store.children(Reaction, id_)],
            "pull": None
            if pull is None
            else (pull.head_branch, pull.base_branch, pull.is_draft, pull.merged_at is not None),
        }

    def _login(self, user_id: int) -> str:
        return self._world.user(user_id).login

    def _state(self) -> Portrait:
        found = state_in(self._world)
        visits = [(v["node"], v["sub_item"], v["ordinal"], v["status"]) for v in found.get("visits", ())]
        return {
            "status": found.get("status"),
            "leases": [(lease["node"], lease["sub_item"]) for lease in found.get("leases", ())],
            "visits": visits,
            "pulls": [(p["slug"], p["number"], p["head"], p["base"]) for p in found.get("pull_requests", ())],
            "sub-items": [(s["key"], s["number"]) for s in found.get("sub_items") or ()],
            "gates": [(gate["node"], gate["how"]) for gate in found.get("gates", ())],
            "marks": found.get("marks", {}),
            "traversals": found.get("traversals", {}),
        }


def state_in(world: World) -> dict[str, Any]:
    """`state.json` at the tip of the item's ledger; empty where there is none."""
    repository = world.store.find(Repository, FULL_NAME)
    assert repository is not None
    git = world.repository_git(repository)
    found = git.resolve("refs/heads/cogworks/ledger/1:state.json")
    content = git.blob(found) if found is not None else None
    state: dict[str, Any] = json.loads(content) if content is not None else {}
    return state


def visits_in(hub: Path) -> int:
    """How many visits the item's ledger has recorded."""
    world = World(hub)
    try:
        return len(state_in(world).get("visits", ()))
    finally:
        world.close()


def differences(expected: Portrait, found: Portrait, where: str = "") -> list[str]:
    """Where two portraits differ, one line each."""
    lines: list[str] = []
    for key in sorted({*expected, *found}, key=str):
        one, other = expected.get(key), found.get(key)
        place = f"{where}/{key}"
        if isinstance(one, dict) and isinstance(other, dict):
            lines += differences(one, other, place)
        elif one != other:
            lines.append(f"{place}: wanted {one!r}, found {other!r}")
    return lines
