"""The labels of a repository, and which of them an issue wears."""

import re
from collections.abc import Iterable

from cogworks.hub.actions.access import Actor, repository_of, require
from cogworks.hub.actions.timeline import record_event
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Issue, Label, Repository
from cogworks.hub.refusals import NotFound, invalid
from cogworks.hub.world import World

_COLOR = re.compile(r"[0-9a-fA-F]{6}")
DEFAULT_LABELS = (
    ("bug", "d73a4a", "Something isn't working"),
    ("documentation", "0075ca", "Improvements or additions to documentation"),
    ("duplicate", "cfd3d7", "This issue or pull request already exists"),
    ("enhancement", "a2eeef", "New feature or request"),
    ("good first issue", "7057ff", "Good for newcomers"),
    ("help wanted", "008672", "Extra attention is needed"),
    ("invalid", "e4e669", "This doesn't seem right"),
    ("question", "d876e3", "Further information is requested"),
    ("wontfix", "ffffff", "This will not be worked on"),
)


def find_label(world: World, repository: Repository, name: str) -> Label:
    """The label with that name, whatever its case. Raises `NotFound`."""
    label = world.store.find(Label, f"{repository.id}/{name.lower()}")
    if label is None:
        raise NotFound
    return label


def create_label(
    world: World,
    actor: Actor,
    repository: Repository,
    *,
    name: str,
    color: str = "ededed",
    description: str | None = None,
) -> Label:
    """A new label. Raises `Unprocessable` (already_exists, invalid colour, too long a name)."""
    with world.changing():
        require(world, actor, repository, Role.WRITE, "issues")
        return new_label(world, repository, name=name, color=color, description=description)


def new_label(
    world: World, repository: Repository, *, name: str, color: str = "ededed", description: str | None = None
) -> Label:
    """As `create_label`, for a caller whose right has been checked."""
    _check_label(name, color, description)
    if world.store.find(Label, f"{repository.id}/{name.lower()}") is not None:
        raise invalid("Label", "name", "already_exists")
    label = Label(
        id=world.store.next_id(),
        repository_id=repository.id,
        name=name,
        color=color.lower(),
        description=description,
        created_at=world.clock.now(),
    )
    return world.store.put(label)


def update_label(
    world: World,
    actor: Actor,
    label: Label,
    repository: Repository,
    *,
    name: str | None = None,
    color: str | None = None,
    description: str | None = None,
) -> Label:
    """Change what is given; the label keeps its id, so issues that wear it show the new name."""
    with world.changing():
        require(world, actor, repository, Role.WRITE, "issues")
        changed = label.model_copy(
            update={
                "name": label.name if name is None else name,
                "color": label.color if color is None else color.lower(),
                "description": label.description if description is None else description,
            }
        )
        _check_label(changed.name, changed.color, changed.description)
        other = world.store.find(Label, changed.key)
        if other is not None and other.id != label.id:
            raise invalid("Label", "name", "already_exists")
        return world.store.put(changed)


def delete_label(world: World, actor: Actor, label: Label, repository: Repository) -> None:
    """Remove a label from the repository and from everything that wears it."""
    with world.changing():
        require(world, actor, repository, Role.WRITE, "issues")
        for issue in world.store.children(Issue, repository.id):
            if label.id in issue.label_ids:
                left = tuple(each for each in issue.label_ids if each != label.id)
                world.store.put(issue.model_copy(update={"label_ids": left}))
        world.store.remove(label)


def labels_named(
    world: World, actor: Actor, repository: Repository, names: Iterable[str]
) -> tuple[Label, ...]:
    """The labels with these names; those that do not exist are created, as REST does on an issue.

    Raises `Forbidden` when one must be created and the actor may not write.
    """
    labels = []
    for name in dict.fromkeys(names):
        label = world.store.find(Label, f"{repository.id}/{name.lower()}")
        if label is None:
            require(world, actor, repository, Role.WRITE, "issues")
            label = new_label(world, repository, name=name)
        labels.append(label)
    return tuple(labels)


def add_labels(world: World, actor: Actor, issue: Issue, labels: Iterable[Label]) -> Issue:
    """Put labels on; those it wears already change nothing and write no event."""
    with world.changing():
        issue = _fresh(world, issue)
        user = require(world, actor, repository_of(world, issue), Role.TRIAGE, label_permission(actor, issue))
        missing = [label for label in labels if label.id not in issue.label_ids]
        return _wear(world, issue, user.id, added=missing, removed=[])


def remove_labels(world: World, actor: Actor, issue: Issue, labels: Iterable[Label]) -> Issue:
    """Take labels off; those it does not wear are passed over."""
    with world.changing():
        issue = _fresh(world, issue)
        user = require(world, actor, repository_of(world, issue), Role.TRIAGE, label_permission(actor, issue))
        worn = [label for label in labels if label.id in issue.label_ids]
        return _wear(world, issue, user.id, added=[], removed=worn)


def set_labels(world: World, actor: Actor, issue: Issue, labels: Iterable[Label]) -> Issue:
    """Replace all labels."""
    with world.changing():
        issue = _fresh(world, issue)
        user = require(world, actor, repository_of(world, issue), Role.TRIAGE, label_permission(actor, issue))
        wanted = list(labels)
        ids = {label.id for label in wanted}
        worn = world.store.many(Label, issue.label_ids)
        return _wear(
            world,
            issue,
            user.id,
            added=[label for label in wanted if label.id not in issue.label_ids],
            removed=[label for label in worn if label.id not in ids],
        )


def label_permission(actor: Actor, issue: Issue) -> str:
    """Issues permission covers both; pull requests permission covers pull requests."""
    return "issues" if issue.pull is None or actor.holds("issues") else "pull_requests"


def _wear(world: World, issue: Issue, user_id: int, *, added: list[Label], removed: list[Label]) -> Issue:
    if not added and not removed:
        return issue
    gone = {label.id for label in removed}
    ids = tuple(each for each in issue.label_ids if each not in gone) + tuple(label.id for label in added)
    for kind, labels in (("unlabeled", removed), ("labeled", added)):
        for label in labels:
            record_event(
                world, issue, user_id, kind, label_id=label.id, label_name=label.name, label_color=label.color
            )
    return world.store.put(issue.model_copy(update={"label_ids": ids, "updated_at": world.clock.now()}))


def _fresh(world: World, issue: Issue) -> Issue:
    return world.store.get(Issue, issue.id) or issue


def _check_label(name: str, color: str, description: str | None) -> None:
    if not name.strip():
        raise invalid("Label", "name", "missing_field")
    if len(name) > 50:
        raise invalid("Label", "name", "invalid", "name is too long (maximum is 50 characters)")
    if not _COLOR.fullmatch(color):
        raise invalid("Label", "color")
    if len(description or "") > 100:
        raise invalid(
            "Label", "description", "invalid", "description is too long (maximum is 100 characters)"
        )
