"""Who is asking, and may they?"""

import hashlib
from dataclasses import dataclass
from typing import Literal

from cogworks.hub.node_ids import Role
from cogworks.hub.records import Collaborator, Issue, Repository, Token, User
from cogworks.hub.refusals import Forbidden, Gone, NotFound, Unauthenticated
from cogworks.hub.world import World


@dataclass(frozen=True)
class Actor:
    """Who makes a request: a user with a token, or nobody."""

    user: User | None = None
    token: Token | None = None
    signature: str | None = None
    """What a GitHub App sent in place of a token: a JSON web token that nobody has checked yet."""

    @property
    def known(self) -> User:
        """The user. Raises `Unauthenticated` for an anonymous request."""
        if self.user is None:
            raise Unauthenticated
        return self.user

    @property
    def caller(self) -> str:
        """The name under which requests are counted."""
        return "anonymous" if self.user is None else self.user.login

    def holds(self, permission: str, level: str = "write") -> bool:
        """Whether the token carries an app permission (`contents`, `issues`, …); a personal one carries all."""
        if self.token is None or self.token.permissions is None:
            return self.token is not None
        granted = self.token.permissions.get(permission, "none")
        return granted == "write" or (level == "read" and granted == "read")


ANONYMOUS = Actor()


def token_digest(token: str) -> str:
    """What the store keeps in place of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def authenticate(world: World, token: str | None) -> Actor:
    """The actor of a token; None is anonymous. Raises `Unauthenticated` for one that is unknown or expired."""
    if token is None:
        return ANONYMOUS
    record = world.store.find(Token, token_digest(token))
    if record is None and token.count(".") == 2:
        return Actor(signature=token)
    if record is None or (record.expires_at is not None and record.expires_at <= world.clock.now()):
        raise Unauthenticated("Bad credentials")
    return Actor(user=world.user(record.user_id), token=record)


def role_of(world: World, repository: Repository, user: User | None) -> Role:
    """What a user may do in a repository; everybody reads a public one."""
    floor = Role.NONE if repository.is_private else Role.READ
    if user is None:
        return floor
    if user.id == repository.owner_id:
        return Role.ADMIN
    collaborator = world.store.find(Collaborator, f"{repository.id}/{user.id}")
    return floor if collaborator is None else max(collaborator.role, floor, key=lambda role: role.rank)


def actor_role(world: World, actor: Actor, repository: Repository) -> Role:
    """What the actor may do in a repository: the user's role where the token reaches, a stranger's elsewhere."""
    is_reached = actor.token is None or actor.token.reaches(repository)
    return role_of(world, repository, actor.user if is_reached else None)


def sees(actor: Actor, repository: Repository, *any_of: str) -> bool:
    """Whether the token may read what any of these app permissions covers; what is public everybody may."""
    return not any_of or not repository.is_private or any(actor.holds(each, "read") for each in any_of)


def sees_issue(actor: Actor, repository: Repository, issue: Issue) -> bool:
    """The same for an issue; as one, a pull request may be read with the permission for either."""
    return sees(actor, repository, *(("issues",) if issue.pull is None else ("issues", "pull_requests")))


def require_sight(actor: Actor, repository: Repository, *any_of: str) -> None:
    """Raises `Forbidden` for a token that does not see what these app permissions cover."""
    if not sees(actor, repository, *any_of):
        raise Forbidden("Resource not accessible by integration")


def find_repository(world: World, actor: Actor, owner: str, name: str) -> Repository:
    """The repository. Raises `NotFound` also for one that the actor may not see."""
    repository = world.store.find(Repository, f"{owner}/{name}".lower())
    if repository is None or not can_read(world, actor, repository):
        raise NotFound
    return repository


def can_read(world: World, actor: Actor, repository: Repository) -> bool:
    return actor_role(world, actor, repository).covers(Role.READ)


def require(
    world: World,
    actor: Actor,
    repository: Repository,
    role: Role,
    permission: str,
    *,
    level: Literal["read", "write"] = "write",
) -> User:
    """The user, who has the role and whose token carries `permission` at that level.

    Raises `Unauthenticated`, `NotFound` when the repository is not visible, `Forbidden` otherwise.
    """
    user = actor.known
    held_role = actor_role(world, actor, repository)
    if not held_role.covers(Role.READ):
        raise NotFound
    if not actor.holds(permission, level):
        raise Forbidden("Resource not accessible by integration")
    if not held_role.covers(role):
        needed = "admin rights" if role is Role.ADMIN else f"{role.value} access"
        raise Forbidden(f"Must have {needed} to Repository.")
    if repository.is_archived and level == "write":
        raise Forbidden("Repository was archived so is read-only.")
    return user


def find_issue(world: World, repository: Repository, number: int, *, pull: bool | None = None) -> Issue:
    """The issue or pull request with a number; `pull` asks for one of the two. Raises `NotFound`, `Gone`."""
    issue = world.store.find(Issue, f"{repository.id}/{number}")
    if issue is None or (pull is not None and pull is not (issue.pull is not None)):
        raise NotFound
    if issue.pull is None and not repository.has_issues:
        raise Gone("Issues are disabled for this repo")
    return issue


def repository_of(world: World, issue: Issue) -> Repository:
    """The repository of a record that has one."""
    return repository_by_id(world, issue.repository_id)


def repository_by_id(world: World, repository_id: int) -> Repository:
    repository = world.store.get(Repository, repository_id)
    if repository is None:
        raise NotFound
    return repository


def require_conversation(world: World, actor: Actor, issue: Issue) -> User:
    """The user, who may write into a conversation: readers may, once it is locked only writers."""
    repository = repository_of(world, issue)
    permission = "issues" if issue.pull is None else "pull_requests"
    if issue.pull is not None and actor.holds("issues"):
        permission = "issues"  # comments of a pull request are issue comments
    role = Role.WRITE if issue.is_locked else Role.READ
    return require(world, actor, repository, role, permission)


def require_author_or(
    world: World, actor: Actor, issue: Issue, *, author_id: int, role: Role = Role.WRITE
) -> User:
    """The user, who wrote the thing or has the role."""
    own = actor.user is not None and actor.user.id == author_id
    permission = "issues" if issue.pull is None or actor.holds("issues") else "pull_requests"
    return require(world, actor, repository_of(world, issue), Role.READ if own else role, permission)


def association(world: World, repository: Repository, user_id: int) -> str:
    """GitHub's `author_association`; an app is never more than a contributor."""
    user = world.user(user_id)
    if user.id == repository.owner_id:
        return "OWNER"
    if user.kind == "Bot":
        return "CONTRIBUTOR"
    collaborator = world.store.find(Collaborator, f"{repository.id}/{user_id}")
    return "NONE" if collaborator is None else "COLLABORATOR"
