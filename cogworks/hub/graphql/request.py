"""What the resolvers of one request share: who asks, and what was read already."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cogworks.hub.actions.access import Actor, actor_role, can_read, repository_by_id, role_of
from cogworks.hub.gitstore import GitRepository
from cogworks.hub.graphql.limits import Measure
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Comment, Issue, Reaction, Repository, User
from cogworks.hub.store import Store
from cogworks.hub.world import World

T = TypeVar("T")


@dataclass(slots=True)
class Request:
    """One document being executed."""

    world: World
    actor: Actor
    measure: Measure
    read: dict[object, Any] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        return self.world.store

    def once(self, key: object, read: Callable[[], T]) -> T:
        """The result of `read`, which is called for a `key` only the first time."""
        if key not in self.read:
            self.read[key] = read()
        value: T = self.read[key]
        return value

    def forget(self) -> None:
        """Start afresh: something is about to be written, or was."""
        self.read.clear()

    def url(self, path: str) -> str:
        """The address of a page of this hub."""
        return self.world.base_url + path

    def avatar(self, user_id: int, size: int | None = None) -> str:
        """The address of a user's picture."""
        return self.url(f"/avatars/u/{user_id}" + ("" if size is None else f"?s={size}"))

    def user(self, user_id: int | None) -> User | None:
        return None if user_id is None else self.once(("user", user_id), lambda: self.world.user(user_id))

    def repository(self, repository_id: int) -> Repository:
        return self.once(("repository", repository_id), lambda: repository_by_id(self.world, repository_id))

    def git(self, repository: Repository) -> GitRepository:
        return self.world.repository_git(repository)

    def issue(self, issue_id: int | None) -> Issue | None:
        """The issue or pull request with that id, as it was when this request first looked."""
        return self.once(("issue", issue_id), lambda: self.store.get(Issue, issue_id))

    def issues(self, repository: Repository) -> list[Issue]:
        """All issues and pull requests of a repository, oldest first."""
        return self.once(("issues", repository.id), lambda: self.store.children(Issue, repository.id))

    def comments(self, issue: Issue) -> list[Comment]:
        return self.once(("comments", issue.id), lambda: self.store.children(Comment, issue.id))

    def reactions(self, subject_id: int) -> list[Reaction]:
        return self.once(("reactions", subject_id), lambda: self.store.children(Reaction, subject_id))

    def role(self, repository: Repository, user: User | None) -> Role:
        key = ("role", repository.id, None if user is None else user.id)
        return self.once(key, lambda: role_of(self.world, repository, user))

    def viewer_role(self, repository: Repository) -> Role:
        key = ("viewer-role", repository.id)
        return self.once(key, lambda: actor_role(self.world, self.actor, repository))

    def may_read(self, repository: Repository) -> bool:
        return self.once(("may-read", repository.id), lambda: can_read(self.world, self.actor, repository))

    def is_viewer(self, user_id: int | None) -> bool:
        return self.actor.user is not None and self.actor.user.id == user_id
