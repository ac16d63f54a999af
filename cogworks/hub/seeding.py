"""Filling a hub: users, tokens, repositories and who works in them; doing it twice changes nothing."""

import re
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from cogworks.errors import UsageError
from cogworks.hub.actions.access import token_digest
from cogworks.hub.actions.refs import HEADS, reconcile
from cogworks.hub.actions.repositories import new_repository, put_collaborator
from cogworks.hub.gitobjects import ZERO_OID, NewFile, Signature
from cogworks.hub.gitstore import RefUpdate
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Repository, Token, User
from cogworks.hub.world import World

UserKind = Literal["User", "Bot", "Organization"]
TokenKind = Literal["personal", "installation", "actions"]
Level = Literal["none", "read", "write"]
Permissions = dict[str, Level]
_LEVELS: dict[str, Level] = {"none": "none", "read": "read", "write": "write"}
_NAME = re.compile(r"[A-Za-z0-9_.-]*[A-Za-z0-9_-]")
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}")


def add_user(
    world: World, login: str, *, kind: UserKind = "User", name: str | None = None, email: str | None = None
) -> User:
    """The user with that login, made if there is none. A Bot's login ends in `[bot]`.

    Raises `UsageError` for a login that GitHub would not take.
    """
    if not _LOGIN.fullmatch(login.removesuffix("[bot]")) or login.endswith("[bot]") is not (kind == "Bot"):
        raise UsageError(
            f"{login!r} is no login for a {kind}: wanted letters, digits and single hyphens, at most 39; "
            "a Bot's ends in [bot]"
        )
    with world.changing():
        existing = world.store.find(User, login.lower())
        if existing is not None:
            return existing
        user = User(
            id=world.store.next_id(),
            login=login,
            kind=kind,
            name=name,
            email=email,
            created_at=world.clock.now(),
        )
        return world.store.put(user)


def add_token(
    world: World,
    user: User,
    token: str,
    *,
    kind: TokenKind = "personal",
    permissions: Permissions | None = None,
    account_id: int | None = None,
    repository_ids: tuple[int, ...] | None = None,
    expires_at: datetime | None = None,
) -> Token:
    """Let `token` speak for the user; the text itself is not kept, only its digest."""
    with world.changing():
        digest = token_digest(token)
        existing = world.store.find(Token, digest)
        record = Token(
            id=world.store.next_id() if existing is None else existing.id,
            sha256=digest,
            user_id=user.id,
            kind=kind,
            permissions=permissions,
            account_id=account_id,
            repository_ids=repository_ids,
            expires_at=expires_at,
        )
        return world.store.put(record)


def fresh_token() -> str:
    """A token that nobody can guess."""
    return f"hub_{secrets.token_urlsafe(27)}"


def parse_permissions(words: Iterable[str]) -> Permissions:
    """`contents=write` and the like. Raises `UsageError`."""
    permissions: Permissions = {}
    for word in words:
        name, _, level = word.partition("=")
        if not name or level not in _LEVELS:
            raise UsageError(f"permission {word!r} does not fit; wanted NAME=LEVEL with none, read or write")
        permissions[name] = _LEVELS[level]
    return permissions


def add_collaborator(world: World, repository: Repository, user: User, role: str = "write") -> None:
    """Give a user one of the roles read, triage, write, maintain, admin. Raises `UsageError` for any other."""
    if role not in list(Role) or role == Role.NONE:
        raise UsageError(f"{role!r} is no role; wanted read, triage, write, maintain or admin")
    put_collaborator(world, repository, user, Role(role))


@dataclass(frozen=True)
class Settings:
    """What a new repository starts with."""

    is_private: bool = True
    delete_branch_on_merge: bool = False
    actions_may_open_pull_requests: bool = False


def create_repository(
    world: World,
    full_name: str,
    *,
    tree: Path | None = None,
    message: str = "Initial commit",
    date: datetime | None = None,
    default_branch: str = "main",
    settings: Settings = Settings(),
) -> Repository:
    """The repository `owner/name`, made if there is none, with the files below `tree` as its first commit.

    The owner must exist. With a given `date` the same tree makes the same commit. An existing repository keeps
    its settings and its commits. Raises `UsageError` for a name without an owner, or an unknown one.
    """
    owner_login, _, name = full_name.partition("/")
    owner = world.store.find(User, owner_login.lower())
    if owner is None or not _NAME.fullmatch(name):
        raise UsageError(
            f"cannot make repository {full_name!r}: wanted owner/name, of letters, digits, '-', '_' and '.', "
            "with an owner that exists; add the user first"
        )
    repository = world.store.find(Repository, full_name.lower())
    if repository is None:
        repository = new_repository(world, owner, name, default_branch=default_branch, **asdict(settings))
    if tree is not None and world.repository_git(repository).branch(repository.default_branch) is None:
        first_commit(world, repository, owner, tree, message=message, date=date)
    return repository


def first_commit(
    world: World, repository: Repository, owner: User, tree: Path, *, message: str, date: datetime | None
) -> str:
    """Write the files below a directory as the root of the default branch; returns the commit."""
    git = world.repository_git(repository)
    changes: dict[str, NewFile | None] = {}
    for path in sorted(tree.rglob("*")):
        inside = path.relative_to(tree)
        if ".git" in inside.parts or "__pycache__" in inside.parts:
            continue
        if path.is_symlink():
            changes[inside.as_posix()] = NewFile(
                oid=git.write("blob", str(path.readlink()).encode()), mode="120000"
            )
        elif path.is_file():
            mode = "100755" if path.stat().st_mode & 0o100 else "100644"
            changes[inside.as_posix()] = NewFile(oid=git.write("blob", path.read_bytes()), mode=mode)
    root = git.edited_tree(None, changes)
    if root is None:
        raise UsageError(f"{tree} holds no file; a repository's first commit needs at least one")
    who = Signature(
        name=owner.name or owner.login, email=owner.email or owner.noreply, date=date or world.clock.now()
    )
    oid = git.write_commit(tree=root, parents=(), author=who, committer=who, message=message)
    git.update_refs([RefUpdate(name=HEADS + repository.default_branch, new=oid, old=ZERO_OID)])
    reconcile(world, repository, owner.id)
    return oid
