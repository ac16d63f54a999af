"""Can a pull request be merged, and merging it."""

from typing import Literal

from cogworks.hub.actions.access import Actor, repository_of, require
from cogworks.hub.actions.checks import rollup_state
from cogworks.hub.actions.commits import existing_commit, signature, signed, web_flow
from cogworks.hub.actions.issues import closed, refreshed
from cogworks.hub.actions.pulls import pull_commits, pull_part
from cogworks.hub.actions.refs import HEADS, reconcile, record_merge
from cogworks.hub.actions.timeline import closing_numbers
from cogworks.hub.gitobjects import Commit
from cogworks.hub.gitstore import GitRepository, RefConflict, RefUpdate
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Issue, PendingMerge, PullRequest, Repository, User
from cogworks.hub.refusals import Conflict, NotMergeable, Unprocessable
from cogworks.hub.world import World

Mergeability = Literal["UNKNOWN", "MERGEABLE", "CONFLICTING"]
MergeMethod = Literal["merge", "squash", "rebase"]


def mergeability(world: World, issue: Issue) -> Mergeability:
    """GitHub computes it in the background: the first question after a change of head or base is `UNKNOWN`."""
    pull = pull_part(issue)
    if pull.merged_at is not None or not issue.is_open:
        return "UNKNOWN"
    question = (issue.id, pull.head_oid, pull.base_oid)
    if question not in world.seen_merge_states:
        world.seen_merge_states.add(question)
        return "UNKNOWN"
    git = world.repository_git(repository_of(world, issue))
    return "CONFLICTING" if git.merged_tree(pull.base_oid, pull.head_oid) is None else "MERGEABLE"


def merge_state(world: World, issue: Issue, known: Mergeability) -> str:
    """GraphQL's `mergeStateStatus` for a known mergeability; REST writes it in lower case."""
    if known != "MERGEABLE":
        return "UNKNOWN" if known == "UNKNOWN" else "DIRTY"
    pull = pull_part(issue)
    if pull.is_draft:
        return "DRAFT"
    state = rollup_state(world, issue.repository_id, pull.head_oid)
    return "CLEAN" if state in (None, "SUCCESS") else "UNSTABLE"


def merge_pull(
    world: World,
    actor: Actor,
    issue: Issue,
    *,
    method: MergeMethod = "merge",
    expected_head: str | None = None,
    headline: str | None = None,
    body: str | None = None,
) -> Issue:
    """Merge; returns the merged pull request.

    Raises `Conflict` when the head is not the expected one, `NotMergeable` when closed, merged, a draft,
    conflicting, or when the repository does not allow the method.
    """
    with world.reading():
        issue = refreshed(world, issue)
        pull = pull_part(issue)
        repository = repository_of(world, issue)
        user = require(world, actor, repository, Role.WRITE, "contents")
        if expected_head is not None and expected_head != pull.head_oid:
            raise Conflict("Head branch was modified. Review and try the merge again.")
        _check_open(repository, issue, pull, method)
        message = _message(world, issue, method, headline, body)
        oid = _merge_commit(world, issue, user, method, message)
        pending = PendingMerge(
            id=issue.id, merge_commit_oid=oid, merged_by_id=user.id, merged_at=world.clock.now()
        )
        with world.changing():  # before the ref moves: a squash could not be recognised afterwards
            world.store.put(pending)
        try:
            move = RefUpdate(name=HEADS + pull.base_branch, new=oid, old=pull.base_oid)
            world.repository_git(repository).update_refs([move])
        except RefConflict as error:
            world.store.remove(pending)
            raise NotMergeable("Base branch was modified. Review and try the merge again.") from error
        with world.changing():
            return _finish(world, repository, issue, pending)


def _check_open(repository: Repository, issue: Issue, pull: PullRequest, method: MergeMethod) -> None:
    allowed = {
        "merge": repository.allow_merge_commit,
        "squash": repository.allow_squash_merge,
        "rebase": repository.allow_rebase_merge,
    }
    words = {"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}
    if not allowed[method]:
        raise NotMergeable(f"{words[method]} are not allowed on this repository.")
    if pull.merged_at is not None:
        raise NotMergeable("Pull Request is not mergeable")
    if not issue.is_open:
        raise NotMergeable("Pull Request is not mergeable: it is closed")
    if pull.is_draft:
        raise NotMergeable("Pull Request is still a draft")


def _message(world: World, issue: Issue, method: MergeMethod, headline: str | None, body: str | None) -> str:
    if method == "merge":
        source = f"{repository_of(world, issue).owner}/{pull_part(issue).head_branch}"
        headline = headline or f"Merge pull request #{issue.number} from {source}"
        body = issue.title if body is None else body
    else:
        headline = headline or f"{issue.title} (#{issue.number})"
        if body is None:
            body = "\n\n".join(f"* {commit.message.strip()}" for commit in pull_commits(world, issue))
    return f"{headline}\n\n{body}".strip()


def _merge_commit(world: World, issue: Issue, user: User, method: MergeMethod, message: str) -> str:
    """Write the commit (for a rebase: the commits) that the base will move to."""
    pull = pull_part(issue)
    repository = repository_of(world, issue)
    git = world.repository_git(repository)
    if method == "rebase":
        return _rebased(world, git, pull, pull_commits(world, issue))
    tree = git.merged_tree(pull.base_oid, pull.head_oid)
    if tree is None:
        raise NotMergeable("Pull Request is not mergeable")
    parents = (pull.base_oid, pull.head_oid) if method == "merge" else (pull.base_oid,)
    oid = git.write_commit(
        tree=tree,
        parents=parents,
        author=signature(world, user),
        committer=web_flow(world),
        message=message,
    )
    return signed(world, repository, oid)


def _rebased(world: World, git: GitRepository, pull: PullRequest, commits: list[Commit]) -> str:
    onto = existing_commit(git, pull.base_oid)
    for commit in commits:
        if len(commit.parents) != 1:
            raise NotMergeable("This branch can't be rebased")
        # A commit with the new tree and the old parent: merging with it is a cherry-pick.
        here = git.write_commit(
            tree=onto.tree,
            parents=commit.parents,
            author=onto.author,
            committer=onto.committer,
            message="onto",
        )
        tree = git.merged_tree(here, commit.oid)
        if tree is None:
            raise NotMergeable("This branch can't be rebased due to conflicts")
        oid = git.write_commit(
            tree=tree,
            parents=(onto.oid,),
            author=commit.author,
            committer=web_flow(world),
            message=commit.message,
        )
        onto = existing_commit(git, oid)
    return onto.oid


def _finish(world: World, repository: Repository, issue: Issue, pending: PendingMerge) -> Issue:
    """Write everything that follows from the moved base."""
    world.store.remove(pending)
    merged = record_merge(world, issue, pending.merged_by_id, pending.merge_commit_oid)
    pull = pull_part(merged)
    if pull.base_branch == repository.default_branch:
        for number in closing_numbers(issue.body):
            target = world.store.find(Issue, f"{repository.id}/{number}")
            if target is not None and target.is_open and target.pull is None:
                closed(world, target, pending.merged_by_id, "completed", commit_id=pending.merge_commit_oid)
    reconcile(world, repository, pending.merged_by_id)
    if repository.delete_branch_on_merge:
        _delete_merged_branch(world, repository, pull, pending.merged_by_id)
    return refreshed(world, merged)


def _delete_merged_branch(world: World, repository: Repository, pull: PullRequest, user_id: int) -> None:
    """Delete the head; open pull requests that were based on it move to the merged one's base first."""
    for other in world.store.children(Issue, repository.id, tag="pull"):
        part = other.pull
        if part is not None and other.is_open and part.base_branch == pull.head_branch:
            base_oid = world.repository_git(repository).branch(pull.base_branch) or part.base_oid
            moved = part.model_copy(update={"base_branch": pull.base_branch, "base_oid": base_oid})
            world.store.put(other.model_copy(update={"pull": moved, "updated_at": world.clock.now()}))
    git = world.repository_git(repository)
    if pull.head_branch != repository.default_branch and git.branch(pull.head_branch) == pull.head_oid:
        git.update_refs([RefUpdate(name=HEADS + pull.head_branch, new=None, old=pull.head_oid)])
        reconcile(world, repository, user_id)


def update_branch(world: World, actor: Actor, issue: Issue, *, expected_head: str | None = None) -> Issue:
    """Merge the base into the head. Raises `Unprocessable` when there is nothing to merge or it conflicts."""
    with world.changing():
        issue = refreshed(world, issue)
        pull = pull_part(issue)
        repository = repository_of(world, issue)
        user = require(world, actor, repository, Role.WRITE, "contents")
        git = world.repository_git(repository)
        if expected_head is not None and expected_head != pull.head_oid:
            raise Unprocessable("expected head sha didn’t match current head ref.")
        if git.is_ancestor(pull.base_oid, pull.head_oid):
            raise Unprocessable("There are no new commits on the base branch.")
        tree = git.merged_tree(pull.head_oid, pull.base_oid)
        if tree is None:
            raise Unprocessable("merge conflict between base and head")
        oid = git.write_commit(
            tree=tree,
            parents=(pull.head_oid, pull.base_oid),
            author=signature(world, user),
            committer=web_flow(world),
            message=f"Merge branch '{pull.base_branch}' into {pull.head_branch}",
        )
        signed(world, repository, oid)
        git.update_refs([RefUpdate(name=HEADS + pull.head_branch, new=oid, old=pull.head_oid)])
        reconcile(world, repository, user.id)
        return refreshed(world, issue)


def repair(world: World) -> None:
    """Finish or drop what a killed hub left between a ref and its records. Call before serving."""
    for repository in world.store.every(Repository):
        world.repository_git(repository).drop_stale_locks()
    for pending in world.store.every(PendingMerge):
        issue = world.store.get(Issue, pending.id)
        with world.changing():
            world.store.remove(pending)
            if issue is None or issue.pull is None or not issue.is_open:
                continue
            repository = repository_of(world, issue)
            git = world.repository_git(repository)
            tip = git.branch(issue.pull.base_branch)
            if tip is not None and git.is_ancestor(pending.merge_commit_oid, tip):
                _finish(world, repository, issue, pending)
    for repository in world.store.every(Repository):
        reconcile(world, repository, repository.owner_id)
