"""A hub full of open work items whose ledgers say where they stand, made without running a single step."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from cogworks.hub.actions.access import authenticate, find_issue, find_repository
from cogworks.hub.actions.issues import create_issue, create_milestone, set_milestone
from cogworks.hub.actions.timeline import events
from cogworks.hub.clock import SystemClock
from cogworks.hub.gitobjects import ZERO_OID, NewFile, Signature
from cogworks.hub.gitstore import GitRepository, RefUpdate
from cogworks.hub.seeding import add_collaborator, add_token, add_user, create_repository
from cogworks.hub.world import World

OWNER_TOKEN = "owner-token"
RUNNER_TOKEN = "runner-token"
EARLIER = timedelta(hours=1)
CONFIG = '[llm]\nmodel = "claude-sonnet-5-5"\n'


SEEN = f"event=e1 pulls=9:open:{'a' * 12}"
"""The label event `e1` was dealt with, and pull request 9 was open at this head."""


def record(
    verb: str,
    *,
    node: str = "architecture",
    waits_for: str = "",
    holder: str = "host:1:ab",
    seen: str = SEEN,
) -> str:
    """The message of a ledger commit as a step writes it."""
    lines = [f"cogworks: {node} {verb} [skip ci]", "", f"Visit: {'0' * 64}", f"Holder: {holder}", ""]
    lines += [f"Cogworks-Waits-For: {waits_for}"] if waits_for else []
    lines += [f"Cogworks-Seen: {seen}"]
    return "\n".join([*lines, "skip-checks: true"])


@dataclass(frozen=True)
class Item:
    """One open issue to be made."""

    ledger: str = ""
    """The message of its ledger's newest commit; empty = it has no ledger."""
    age_s: int = 0
    """Seconds since that commit."""
    took_s: int = 60
    """Seconds between the claim and that commit."""
    labels: tuple[str, ...] = ("cogworks:run",)
    milestone: str = ""


def fill(directory: Path, items: Iterable[Item], *, config: str = CONFIG) -> None:
    """Make octo/demo with its configuration and the items, numbered from 1 in their order."""
    tree = directory.parent / f"{directory.name}-files"
    (tree / ".cogworks").mkdir(parents=True)
    (tree / ".cogworks" / "config.toml").write_text(config)
    # The issues and their labels are an hour old, so that no record can be older than they are.
    world = World(directory, clock=SystemClock(offset=-EARLIER))
    try:
        owner, runner = add_user(world, "octo"), add_user(world, "runner")
        add_token(world, owner, OWNER_TOKEN)
        add_token(world, runner, RUNNER_TOKEN)
        repository = create_repository(world, "octo/demo", tree=tree)
        add_collaborator(world, repository, runner, "write")
        with world.changing():
            ledgers = _make_issues(world, list(items))
        _make_ledgers(world, ledgers)
    finally:
        world.close()


def _make_issues(world: World, items: list[Item]) -> dict[int, Item]:
    actor = authenticate(world, OWNER_TOKEN)
    repository = find_repository(world, actor, "octo", "demo")
    milestones: dict[str, int] = {}
    made = {}
    for count, item in enumerate(items, start=1):
        issue = create_issue(world, actor, repository, title=f"Item {count}", labels=item.labels)
        if item.milestone:
            if item.milestone not in milestones:
                new = create_milestone(world, actor, repository, title=item.milestone)
                milestones[item.milestone] = new.number
            set_milestone(world, actor, issue, milestones[item.milestone])
        made[issue.number] = item
    return made


def _make_ledgers(world: World, items: Mapping[int, Item]) -> None:
    repository = find_repository(world, authenticate(world, OWNER_TOKEN), "octo", "demo")
    git = world.repository_git(repository)
    blob = git.write("blob", b"{}\n")
    root = git.edited_tree(None, {"state.json": NewFile(oid=blob, mode="100644")})
    assert root is not None
    updates = []
    for number, item in items.items():
        if item.ledger:
            labelled = events(world, find_issue(world, repository, number), frozenset({"labeled"}))
            # The trigger's event has an id of the hub's making.
            message = item.ledger.replace("event=e1", f"event={labelled[-1].node_id}" if labelled else "")
            when = world.clock.now() + EARLIER - timedelta(seconds=item.age_s)
            claim = _commit(git, root, (), record("claim"), when - timedelta(seconds=item.took_s))
            oid = _commit(git, root, (claim,), message, when)
            name = f"refs/heads/cogworks/ledger/{number}"
            updates.append(RefUpdate(name=name, new=oid, old=ZERO_OID))
    git.update_refs(updates)


def _commit(git: GitRepository, tree: str, parents: tuple[str, ...], message: str, when: datetime) -> str:
    who = Signature(name="runner", email="runner@example.com", date=when)
    return git.write_commit(tree=tree, parents=parents, author=who, committer=who, message=message)
