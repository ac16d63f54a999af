"""Moving refs, and what a moved ref does to the pull requests that hang on it."""

from collections.abc import Sequence

from cogworks.hub.actions.access import Actor, repository_of, require
from cogworks.hub.actions.issues import closed
from cogworks.hub.actions.timeline import closing_numbers, record_event
from cogworks.hub.gitobjects import ZERO_OID, is_ref_name
from cogworks.hub.gitstore import GitRepository, RefConflict, RefUpdate
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Issue, PullRequest, RefTips, Repository
from cogworks.hub.refusals import Forbidden, NotFound, StaleData, Unprocessable
from cogworks.hub.world import World

HEADS = "refs/heads/"
WORKFLOWS = ".github/workflows/"
_READ_COMMITS = 250


def create_ref(world: World, actor: Actor, repository: Repository, name: str, oid: str) -> str:
    """A new ref at an existing object; returns the oid. Raises `Unprocessable`: exists, bad name, no such object."""
    with world.changing():
        require(world, actor, repository, Role.WRITE, "contents")
        git = world.repository_git(repository)
        if not is_ref_name(name):
            raise Unprocessable(f"{name} is not a valid ref name.")
        _check_target(git, name, oid)
        if git.ref(name) is not None:
            raise Unprocessable(f'A ref named "{name}" already exists in the repository.')
        _check_workflows(world, actor, repository, git.branch(repository.default_branch), oid)
        _move(world, actor, repository, [RefUpdate(name=name, new=oid, old=ZERO_OID)])
        return oid


def update_ref(
    world: World, actor: Actor, repository: Repository, name: str, oid: str, *, force: bool = False
) -> str:
    """Move a ref; without `force` only forward. Raises `Unprocessable` as REST does."""
    with world.changing():
        require(world, actor, repository, Role.WRITE, "contents")
        git = world.repository_git(repository)
        old = git.ref(name)
        if old is None:
            raise Unprocessable("Reference does not exist")
        _check_target(git, name, oid)
        if not force and not _is_forward(git, old, oid):
            raise Unprocessable("Update is not a fast forward")
        _check_workflows(world, actor, repository, old, oid)
        _move(world, actor, repository, [RefUpdate(name=name, new=oid, old=old)])
        return oid


def delete_ref(world: World, actor: Actor, repository: Repository, name: str) -> None:
    """Remove a ref. Raises `Unprocessable` when it is not there or is the default branch."""
    with world.changing():
        require(world, actor, repository, Role.WRITE, "contents")
        if world.repository_git(repository).ref(name) is None:
            raise Unprocessable("Reference does not exist")
        if name == HEADS + repository.default_branch:
            raise Unprocessable("Cannot delete the default branch")
        _move(world, actor, repository, [RefUpdate(name=name, new=None)])


def update_refs(
    world: World,
    actor: Actor,
    repository: Repository,
    updates: Sequence[RefUpdate],
    *,
    forced: frozenset[str] = frozenset(),
) -> None:
    """Move many refs, all or none, each only from its `old` where one is given; non-forward moves need `forced`.

    Raises `StaleData` when one of them is elsewhere, `Unprocessable` for a move that is not allowed.
    """
    with world.changing():
        require(world, actor, repository, Role.WRITE, "contents")
        git = world.repository_git(repository)
        for update in updates:
            if not is_ref_name(update.name):
                raise Unprocessable(f"{update.name} is not a valid ref name.")
            here = git.ref(update.name)
            if update.old is not None and update.old != (here or ZERO_OID):
                raise StaleData(f"Expected {update.name} to point to {update.old} but it did not.")
            if update.new is None and update.name == HEADS + repository.default_branch:
                raise Unprocessable("Cannot delete the default branch")
            if update.new is None and here is None:
                raise Unprocessable(f"Reference does not exist: {update.name}")
            if update.new is not None:
                _check_target(git, update.name, update.new)
            moved = here is not None and update.new is not None and update.name not in forced
            if moved and not _is_forward(git, str(here), str(update.new)):
                raise Unprocessable(f"Update of {update.name} is not a fast forward")
            if update.new is not None:
                _check_workflows(world, actor, repository, here, update.new)
        _move(world, actor, repository, updates)


def _check_target(git: GitRepository, name: str, oid: str) -> None:
    """Raises `Unprocessable` unless the object exists, and is a commit where the ref is a branch."""
    kind = git.object(oid)
    if kind is None:
        raise Unprocessable("Object does not exist")
    if name.startswith(HEADS) and kind[0] != "commit":
        raise Unprocessable("Object is not a commit")


def _is_forward(git: GitRepository, old: str, new: str) -> bool:
    before, after = git.commit(old), git.commit(new)
    return before is not None and after is not None and git.is_ancestor(before.oid, after.oid)


def _move(world: World, actor: Actor, repository: Repository, updates: Sequence[RefUpdate]) -> None:
    try:
        world.repository_git(repository).update_refs(updates)
    except (
        RefConflict
    ) as error:  # a push moved it between our look and our move, or the name clashes with another
        raise StaleData(f"Reference update failed: {error}") from error
    reconcile(world, repository, actor.known.id)


def _check_workflows(world: World, actor: Actor, repository: Repository, old: str | None, new: str) -> None:
    if actor.holds("workflows"):
        return
    git = world.repository_git(repository)
    if git.commit(new) is None:
        return
    before = None if old is None else git.commit(old)
    had = None if before is None else git.entry(before.tree, WORKFLOWS)
    after = git.commit(new)
    has = None if after is None else git.entry(after.tree, WORKFLOWS)
    if has is not None and has != had:
        raise Forbidden(
            f"refusing to allow a GitHub App to create or update workflow `{WORKFLOWS}` without `workflows` permission"
        )


def check_workflow_paths(actor: Actor, paths: Sequence[str]) -> None:
    """Raises `Forbidden` when one of the paths is a workflow and the token may not write those."""
    touched = next((path for path in paths if path.startswith(WORKFLOWS)), None)
    if touched is not None and not actor.holds("workflows"):
        raise Forbidden(
            f"refusing to allow a GitHub App to create or update workflow `{touched}` without `workflows` permission"
        )


def reconcile(world: World, repository: Repository, actor_id: int) -> None:
    """Bring the records up to the refs: whatever moved since the last time has its effect, once.

    Called after each change by API or push, and at start-up for what a kill left between ref and record.
    """
    with world.changing():
        git = world.repository_git(repository)
        stored = world.store.get(RefTips, repository.id)
        before = {} if stored is None else stored.tips
        after = {name: oid for name, oid in git.refs().items() if not name.startswith("refs/pull/")}
        if before == after and stored is not None:
            return
        world.store.put(RefTips(id=repository.id, tips=after))
        pushed = {"pushed_at": world.clock.now()}
        fresh = world.store.get(Repository, repository.id) or repository
        world.store.put(fresh.model_copy(update=pushed))
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        branches = {name.removeprefix(HEADS) for name in changed if name.startswith(HEADS)}
        default = HEADS + repository.default_branch
        _close_mentioned(world, repository, before.get(default), after.get(default), actor_id)
        for issue in world.store.children(Issue, repository.id, tag="pull"):
            pull = issue.pull
            if pull is not None and branches & {pull.head_branch, pull.base_branch}:
                _follow(world, issue, pull, branches, actor_id)


def _close_mentioned(
    world: World, repository: Repository, old: str | None, new: str | None, actor_id: int
) -> None:
    """Close the issues that new commits on the default branch say they fix."""
    if old is None or new is None or old == new:
        return
    for commit in world.repository_git(repository).log(new, f"^{old}", limit=_READ_COMMITS):
        for number in closing_numbers(commit.message):
            issue = world.store.find(Issue, f"{repository.id}/{number}")
            if issue is not None and issue.is_open and issue.pull is None:
                closed(world, issue, actor_id, "completed", commit_id=commit.oid)


def _follow(world: World, issue: Issue, pull: PullRequest, branches: set[str], actor_id: int) -> None:
    """Apply moved branches to one pull request."""
    git = world.repository_git(repository_of(world, issue))
    head, base = git.branch(pull.head_branch), git.branch(pull.base_branch)
    if head is None and pull.head_branch in branches:
        record_event(world, issue, actor_id, "head_ref_deleted", ref=pull.head_branch)
    if not issue.is_open:
        return
    tip = head or pull.head_oid
    if head is not None and head != pull.head_oid:
        if not git.is_ancestor(pull.head_oid, head):
            record_event(world, issue, actor_id, "head_ref_force_pushed", before=pull.head_oid, after=head)
        pull = pull.model_copy(update={"head_oid": head})
        issue = issue.model_copy(update={"pull": pull, "updated_at": world.clock.now()})
    if base is None:
        record_event(world, issue, actor_id, "base_ref_deleted", ref=pull.base_branch)
    elif base != pull.base_oid and git.is_ancestor(tip, base) and not git.is_ancestor(tip, pull.base_oid):
        record_merge(world, issue, actor_id, base)
        return
    if head is None or base is None:  # GitHub closes, without merging, what lost its head or its base
        closed(world, issue, actor_id, None)
        return
    world.store.put(issue.model_copy(update={"pull": pull.model_copy(update={"base_oid": base})}))


def record_merge(world: World, issue: Issue, user_id: int, merge_commit_oid: str) -> Issue:
    """Write that a pull request was merged; its commits are in the base already."""
    if issue.pull is None:
        raise NotFound
    now = world.clock.now()
    record_event(world, issue, user_id, "merged", commit_id=merge_commit_oid)
    update = {"merged_at": now, "merged_by_id": user_id, "merge_commit_oid": merge_commit_oid}
    merged = issue.model_copy(update={"pull": issue.pull.model_copy(update=update)})
    return closed(world, merged, user_id, None)
