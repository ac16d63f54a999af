"""Making and changing repositories, and who works in them."""

from typing import Any

from cogworks.hub.actions.access import Actor, require
from cogworks.hub.actions.labels import DEFAULT_LABELS, new_label
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Collaborator, Repository, User
from cogworks.hub.refusals import NotFound, Unprocessable
from cogworks.hub.world import World

CHANGEABLE = frozenset(
    {
        "description",
        "default_branch",
        "is_private",
        "is_archived",
        "has_issues",
        "delete_branch_on_merge",
        "allow_merge_commit",
        "allow_squash_merge",
        "allow_rebase_merge",
        "actions_may_open_pull_requests",
    }
)


def new_repository(world: World, owner: User, name: str, **settings: Any) -> Repository:
    """A repository with GitHub's default labels and an empty bare repository behind it."""
    with world.changing():
        now = world.clock.now()
        repository = Repository.model_validate(
            {
                "id": world.store.next_id(),
                "owner_id": owner.id,
                "owner": owner.login,
                "name": name,
                "created_at": now,
                "updated_at": now,
                "pushed_at": now,
                **settings,
            }
        )
        world.git.create(repository.full_name, default_branch=repository.default_branch)
        world.store.put(repository)
        for label, color, description in DEFAULT_LABELS:
            new_label(world, repository, name=label, color=color, description=description)
        return repository


def change_repository(world: World, actor: Actor, repository: Repository, **settings: Any) -> Repository:
    """Change some of `CHANGEABLE`. Raises `Unprocessable` for a default branch that does not exist."""
    with world.changing():
        if settings.get("is_archived") is False and repository.is_archived:
            world.store.put(repository.model_copy(update={"is_archived": False}))
            repository = repository.model_copy(update={"is_archived": False})
        require(world, actor, repository, Role.ADMIN, "administration")
        unknown = settings.keys() - CHANGEABLE
        if unknown:
            raise Unprocessable(f"Cannot change {', '.join(sorted(unknown))}")
        branch = settings.get("default_branch")
        if branch is not None and branch != repository.default_branch:
            git = world.repository_git(repository)
            if git.branch(branch) is None:
                raise Unprocessable(
                    f"The branch {branch} was not found. Please push that ref first or create it via the Git Data API."
                )
            git.set_head(branch)
        changed = {**repository.model_dump(), **settings, "updated_at": world.clock.now()}
        return world.store.put(Repository.model_validate(changed))


def put_collaborator(world: World, repository: Repository, user: User, role: Role) -> Collaborator:
    """Give a user a role; a second call replaces it. The caller's right has been checked."""
    with world.changing():
        existing = world.store.find(Collaborator, f"{repository.id}/{user.id}")
        record_id = world.store.next_id() if existing is None else existing.id
        record = Collaborator(id=record_id, repository_id=repository.id, user_id=user.id, role=role)
        return world.store.put(record)


def collaborators(world: World, repository: Repository) -> list[tuple[User, Role]]:
    """Everybody with a role, the owner first."""
    rows = world.store.children(Collaborator, repository.id)
    others = [(world.user(row.user_id), row.role) for row in rows if row.user_id != repository.owner_id]
    return [(world.user(repository.owner_id), Role.ADMIN), *others]


def find_user(world: World, login: str) -> User:
    """The user with a login, whatever its case. Raises `NotFound`."""
    user = world.store.find(User, login.lower())
    if user is None:
        raise NotFound
    return user


def permission_word(role: Role) -> str:
    """The older four-step word for a role: triage reads, maintain writes."""
    return {Role.TRIAGE: Role.READ, Role.MAINTAIN: Role.WRITE}.get(role, role).value
