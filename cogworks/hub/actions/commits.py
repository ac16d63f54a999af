"""Making commits by API: many files at once, single files, and from raw trees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from cogworks.hub.actions.access import Actor, require
from cogworks.hub.actions.refs import HEADS, check_workflow_paths, reconcile
from cogworks.hub.gitobjects import ZERO_OID, Commit, NewFile, Signature, TreeEntry
from cogworks.hub.gitstore import GitRepository, RefConflict, RefUpdate
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Repository, SignedCommit, User
from cogworks.hub.refusals import Conflict, NotFound, StaleData, Unprocessable
from cogworks.hub.world import World

MODES = ("100644", "100755", "040000", "160000", "120000")


@dataclass(frozen=True)
class TreeRow:
    """One entry of a tree to be made: `oid` None removes the path."""

    path: str
    mode: str
    oid: str | None


def signature(world: World, user: User, *, date: datetime | None = None) -> Signature:
    """A user as git's author; dated now unless told otherwise."""
    return Signature(
        name=user.name or user.login, email=user.email or user.noreply, date=date or world.clock.now()
    )


def web_flow(world: World) -> Signature:
    """Who commits what the API was asked to commit."""
    return Signature(name="GitHub", email="noreply@github.com", date=world.clock.now())


def signed(world: World, repository: Repository, oid: str) -> str:
    """Remember that the hub made this commit itself; answers its oid."""
    # The same change asked for on two branches within a second is one commit.
    if not is_signed(world, repository, oid):
        number = world.store.next_number("signed")
        world.store.put(SignedCommit(id=number, repository_id=repository.id, oid=oid))
    return oid


def is_signed(world: World, repository: Repository, oid: str) -> bool:
    """Whether the hub made the commit, so that its author is who asked for it."""
    return world.store.find(SignedCommit, f"{repository.id}/{oid}") is not None


def create_commit_on_branch(
    world: World,
    actor: Actor,
    repository: Repository,
    *,
    branch: str,
    expected_head_oid: str,
    message: str,
    additions: Mapping[str, bytes],
    deletions: Sequence[str] = (),
) -> Commit:
    """Append one commit to an existing branch whose tip is the expected one.

    Files are regular (100644). Raises `NotFound` for a missing branch, `StaleData` for a moved one,
    `Unprocessable` for a path that does not fit or a tree that would be empty.
    """
    with world.changing():
        user = require(world, actor, repository, Role.WRITE, "contents")
        git = world.repository_git(repository)
        name = branch if branch.startswith("refs/") else HEADS + branch
        tip = git.ref(name)
        if tip is None:
            raise NotFound(f"Could not resolve to a Branch with the name '{branch}'.")
        if tip != expected_head_oid:
            raise _stale(expected_head_oid)
        check_workflow_paths(actor, [*additions, *deletions])
        tree = _tree_with(git, tip, additions, deletions)
        oid = git.write_commit(
            tree=tree,
            parents=(tip,),
            author=signature(world, user),
            committer=web_flow(world),
            message=message,
        )
        signed(world, repository, oid)
        _advance(world, repository, user, RefUpdate(name=name, new=oid, old=tip), _stale(expected_head_oid))
        return existing_commit(git, oid)


def _tree_with(git: GitRepository, tip: str, additions: Mapping[str, bytes], deletions: Sequence[str]) -> str:
    changes: dict[str, NewFile | None] = {}
    base = existing_commit(git, tip).tree
    for path in deletions:
        check_path(path)
        if git.entry(base, path) is None:
            raise Unprocessable(
                f"A path was requested for deletion which does not exist as of commit oid `{tip}`: {path}"
            )
        changes[path] = None
    for path, content in additions.items():
        check_path(path)
        changes[path] = NewFile(oid=git.write("blob", content))
    tree = git.edited_tree(base, changes)
    if tree is None:
        raise Unprocessable("The resulting tree would be empty; a commit needs at least one file")
    return tree


def _stale(expected: str) -> StaleData:
    return StaleData(f'Expected branch to point to "{expected}" but it did not. Pull and try again.')


def _advance(world: World, repository: Repository, user: User, update: RefUpdate, refusal: Conflict) -> None:
    try:
        world.repository_git(repository).update_refs([update])
    except RefConflict as error:
        raise refusal from error
    reconcile(world, repository, user.id)


def check_path(path: str) -> None:
    """Raises `Unprocessable` for a path that git would not take."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts) or "\0" in path:
        raise Unprocessable(f"A path was malformed: {path!r}")


def existing_commit(git: GitRepository, oid: str) -> Commit:
    """The commit. Raises `NotFound`."""
    commit = git.commit(oid)
    if commit is None:
        raise NotFound(f"No commit found for SHA: {oid}")
    return commit


def write_blob(world: World, actor: Actor, repository: Repository, content: bytes) -> str:
    """Store a file's content; returns its oid."""
    require(world, actor, repository, Role.WRITE, "contents")
    return world.repository_git(repository).write("blob", content)


def write_tree(
    world: World, actor: Actor, repository: Repository, rows: Sequence[TreeRow], base_tree: str | None
) -> str:
    """Store a tree made of `base_tree` and the rows; returns its oid. Raises `Unprocessable` for bad rows, or none."""
    require(world, actor, repository, Role.WRITE, "contents")
    if not rows:
        raise Unprocessable("Invalid tree info")
    git = world.repository_git(repository)
    base = base_tree
    if base_tree is not None:
        commit = git.commit(base_tree)
        base = base_tree if commit is None else commit.tree
        if git.tree(base) is None:
            raise Unprocessable("base_tree is not a valid tree")
    changes: dict[str, NewFile | None] = {}
    for row in rows:
        check_path(row.path)
        if row.mode not in MODES:
            raise Unprocessable("tree.mode must be one of: " + ", ".join(MODES))
        if row.oid is not None and row.mode != "160000" and git.object(row.oid) is None:
            raise Unprocessable(f"tree.sha {row.oid} is not a valid object")
        changes[row.path] = None if row.oid is None else NewFile(oid=row.oid, mode=row.mode)
    tree = git.edited_tree(base, changes)
    return git.write_tree(()) if tree is None else tree


def write_commit(
    world: World,
    actor: Actor,
    repository: Repository,
    *,
    message: str,
    tree: str,
    parents: Sequence[str],
    author: Signature | None = None,
    committer: Signature | None = None,
) -> Commit:
    """Store a commit that no ref points to yet; no parents make a root. Raises `Unprocessable`."""
    user = require(world, actor, repository, Role.WRITE, "contents")
    git = world.repository_git(repository)
    if git.tree(tree) is None:
        raise Unprocessable("Tree SHA does not exist")
    if any(git.commit(parent) is None for parent in parents):
        raise Unprocessable("Parent SHA does not exist or is not a commit object")
    author = author or signature(world, user)
    oid = git.write_commit(
        tree=tree, parents=tuple(parents), author=author, committer=committer or author, message=message
    )
    return existing_commit(git, oid)


@dataclass(frozen=True)
class FileWrite:
    """One file to be written, or removed where `content` is None; `sha` is the blob that it replaces."""

    path: str
    content: bytes | None
    message: str
    branch: str
    sha: str | None = None
    author: Signature | None = None


def put_file(
    world: World, actor: Actor, repository: Repository, write: FileWrite
) -> tuple[TreeEntry | None, Commit, bool]:
    """Create, replace or delete one file: the entry, the commit, and whether the file is new.

    Raises `Conflict` when the file is not the blob it should be, `Unprocessable` when `sha` is missing.
    """
    with world.changing():
        user = require(world, actor, repository, Role.WRITE, "contents")
        git = world.repository_git(repository)
        check_path(write.path)
        check_workflow_paths(actor, [write.path])
        name = HEADS + write.branch
        tip = git.ref(name)
        if tip is None and git.refs(HEADS):  # an empty repository gets its first branch this way
            raise NotFound(f"Branch {write.branch} not found")
        base = None if tip is None else existing_commit(git, tip).tree
        old = None if base is None else git.entry(base, write.path)
        _check_blob(write, old)
        mode = old.mode if old is not None and old.type == "blob" else "100644"
        new = None if write.content is None else NewFile(oid=git.write("blob", write.content), mode=mode)
        tree = git.edited_tree(base, {write.path: new}) or git.write_tree(())
        oid = git.write_commit(
            tree=tree,
            parents=() if tip is None else (tip,),
            author=write.author or signature(world, user),
            committer=write.author or web_flow(world),
            message=write.message,
        )
        if write.author is None:
            signed(world, repository, oid)
        move = RefUpdate(name=name, new=oid, old=tip or ZERO_OID)
        _advance(world, repository, user, move, _is_at(write))
        return git.entry(tree, write.path), existing_commit(git, oid), old is None


def _check_blob(write: FileWrite, old: TreeEntry | None) -> None:
    if old is None and write.content is None:
        raise NotFound
    if old is None and write.sha is not None:
        raise _is_at(write)
    if old is not None and write.sha is None:
        raise Unprocessable('Invalid request.\n\n"sha" wasn\'t supplied.')
    if old is not None and old.oid != write.sha:
        raise _is_at(write)


def _is_at(write: FileWrite) -> Conflict:
    return Conflict(f"{write.path} does not match {write.sha}")
