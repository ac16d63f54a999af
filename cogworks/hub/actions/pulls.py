"""Opening, editing, closing and reopening pull requests."""

from cogworks.hub.actions.access import Actor, actor_role, repository_of, require, require_author_or, role_of
from cogworks.hub.actions.issues import check_text, closed, new_issue, refreshed, reopened
from cogworks.hub.actions.timeline import record_event
from cogworks.hub.gitobjects import Commit
from cogworks.hub.gitstore import GitRepository
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Issue, PullRequest, Repository, User
from cogworks.hub.refusals import Forbidden, NotFound, Unprocessable, invalid
from cogworks.hub.world import World


def create_pull(
    world: World,
    actor: Actor,
    repository: Repository,
    *,
    title: str,
    head: str,
    base: str,
    body: str | None = None,
    is_draft: bool = False,
) -> Issue:
    """A new pull request from `head` (`branch` or `owner:branch`) into `base`.

    Raises `Unprocessable` in GitHub's words: head or base invalid, no commits between, one exists already;
    `Forbidden` for Actions where opening pull requests is switched off.
    """
    with world.changing():
        user = require(world, actor, repository, Role.READ, "pull_requests")
        if (
            actor.token is not None
            and actor.token.kind == "actions"
            and not repository.actions_may_open_pull_requests
        ):
            raise Forbidden("GitHub Actions is not permitted to create or approve pull requests.")
        if not actor_role(world, actor, repository).covers(Role.WRITE):
            # Without forks a head branch of this repository is the only one there is.
            raise Forbidden(
                "Resource not accessible: opening a pull request needs push access to its head branch"
            )
        check_text("PullRequest", title=title, body=body)
        branch = _head_branch(repository, head)
        git = world.repository_git(repository)
        head_oid, base_oid = _tips(git, branch, base)
        _check_distinct(world, git, repository, branch, base)
        pull = PullRequest(
            head_branch=branch,
            head_oid=head_oid,
            base_branch=base,
            base_oid=base_oid,
            is_draft=is_draft,
        )
        return new_issue(world, repository, user, title=title, body=body, pull=pull)


def _head_branch(repository: Repository, head: str) -> str:
    owner, colon, branch = head.partition(":")
    if not colon:
        return head
    if owner.lower() != repository.owner.lower():
        raise invalid("PullRequest", "head")
    return branch.rpartition(":")[2]


def _tips(git: GitRepository, head: str, base: str) -> tuple[str, str]:
    head_oid, base_oid = git.branch(head), git.branch(base)
    if head_oid is None:
        raise invalid("PullRequest", "head")
    if base_oid is None:
        raise invalid("PullRequest", "base")
    return head_oid, base_oid


def _check_distinct(world: World, git: GitRepository, repository: Repository, head: str, base: str) -> None:
    if find_open_pull(world, repository, head, base) is not None:
        message = f"A pull request already exists for {repository.owner}:{head}."
        raise invalid("PullRequest", "head", "custom", message)
    head_oid, base_oid = _tips(git, head, base)
    if git.merge_base(base_oid, head_oid) is None:
        message = f"The {head} branch has no history in common with {base}"
        raise invalid("PullRequest", "head", "custom", message)
    if git.is_ancestor(head_oid, base_oid):
        raise invalid("PullRequest", "head", "custom", f"No commits between {base} and {head}")


def find_open_pull(world: World, repository: Repository, head: str, base: str) -> Issue | None:
    """The open pull request of a head and a base; there is never more than one."""
    for issue in world.store.children(Issue, repository.id, tag="pull"):
        pull = issue.pull
        if issue.is_open and pull is not None and (pull.head_branch, pull.base_branch) == (head, base):
            return issue
    return None


def pull_part(issue: Issue) -> PullRequest:
    """What makes the issue a pull request. Raises `NotFound` when it is none."""
    if issue.pull is None:
        raise NotFound
    return issue.pull


def retarget_pull(world: World, actor: Actor, issue: Issue, base: str) -> Issue:
    """Change the base branch of an open pull request."""
    with world.changing():
        issue = refreshed(world, issue)
        pull = pull_part(issue)
        if base == pull.base_branch:
            return issue
        user = require_author_or(world, actor, issue, author_id=issue.author_id)
        if not issue.is_open:
            raise invalid(
                "PullRequest", "base", "custom", "Cannot change the base branch of a closed pull request."
            )
        repository = repository_of(world, issue)
        git = world.repository_git(repository)
        _, base_oid = _tips(git, pull.head_branch, base)
        _check_distinct(world, git, repository, pull.head_branch, base)
        record_event(world, issue, user.id, "base_ref_changed", before=pull.base_branch, after=base)
        update = {"base_branch": base, "base_oid": base_oid}
        changed = {"pull": pull.model_copy(update=update), "updated_at": world.clock.now()}
        return world.store.put(issue.model_copy(update=changed))


def close_pull(world: World, actor: Actor, issue: Issue) -> Issue:
    """Close without merging; a closed one stays as it is."""
    with world.changing():
        issue = refreshed(world, issue)
        pull_part(issue)
        user = require_author_or(world, actor, issue, author_id=issue.author_id, role=Role.TRIAGE)
        return closed(world, issue, user.id, None) if issue.is_open else issue


def reopen_pull(world: World, actor: Actor, issue: Issue) -> Issue:
    """Reopen a closed one. Raises `Unprocessable` when merged, when a branch is gone, or another one is open."""
    with world.changing():
        issue = refreshed(world, issue)
        pull = pull_part(issue)
        user = require_author_or(world, actor, issue, author_id=issue.author_id, role=Role.TRIAGE)
        if issue.is_open:
            return issue
        if pull.merged_at is not None:
            raise invalid(
                "PullRequest", "state", "invalid", "state cannot be changed. The pull request is merged."
            )
        repository = repository_of(world, issue)
        git = world.repository_git(repository)
        for word, branch in (("head", pull.head_branch), ("base", pull.base_branch)):
            if git.branch(branch) is None:
                message = f"state cannot be changed. The {branch} branch has been deleted."
                raise invalid("PullRequest", word, "invalid", message)
        _check_distinct(world, git, repository, pull.head_branch, pull.base_branch)
        head_oid, base_oid = _tips(git, pull.head_branch, pull.base_branch)
        tips = pull.model_copy(update={"head_oid": head_oid, "base_oid": base_oid})
        return reopened(world, issue.model_copy(update={"pull": tips}), user.id)


def set_draft(world: World, actor: Actor, issue: Issue, *, is_draft: bool) -> Issue:
    """Make a pull request a draft, or ready for review."""
    with world.changing():
        issue = refreshed(world, issue)
        pull = pull_part(issue)
        user = require_author_or(world, actor, issue, author_id=issue.author_id)
        if pull.is_draft == is_draft:
            return issue
        record_event(world, issue, user.id, "convert_to_draft" if is_draft else "ready_for_review")
        changed = pull.model_copy(update={"is_draft": is_draft})
        return world.store.put(issue.model_copy(update={"pull": changed, "updated_at": world.clock.now()}))


def set_maintainer_can_modify(world: World, actor: Actor, issue: Issue, *, allowed: bool) -> Issue:
    """Keep the author's word on whether maintainers may push to the head branch."""
    with world.changing():
        issue = refreshed(world, issue)
        pull = pull_part(issue)
        require_author_or(world, actor, issue, author_id=issue.author_id)
        changed = pull.model_copy(update={"maintainer_can_modify": allowed})
        return world.store.put(issue.model_copy(update={"pull": changed}))


def request_reviewers(world: World, actor: Actor, issue: Issue, logins: tuple[str, ...]) -> Issue:
    """Ask users to review. Raises `Unprocessable` for strangers and for the author."""
    with world.changing():
        issue = refreshed(world, issue)
        pull = pull_part(issue)
        repository = repository_of(world, issue)
        user = require(world, actor, repository, Role.TRIAGE, "pull_requests")
        ids = list(pull.requested_reviewer_ids)
        for login in logins:
            reviewer = world.store.find(User, login.lower())
            if reviewer is None or not role_of(world, repository, reviewer).covers(Role.READ):
                raise Unprocessable(
                    "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the repository."
                )
            if reviewer.id == issue.author_id:
                raise Unprocessable("Review cannot be requested from pull request author.")
            if reviewer.id not in ids:
                record_event(world, issue, user.id, "review_requested", reviewer_id=reviewer.id)
                ids.append(reviewer.id)
        changed = pull.model_copy(update={"requested_reviewer_ids": tuple(ids)})
        return world.store.put(issue.model_copy(update={"pull": changed}))


def remove_reviewers(world: World, actor: Actor, issue: Issue, logins: tuple[str, ...]) -> Issue:
    """Withdraw requests for review."""
    with world.changing():
        issue = refreshed(world, issue)
        pull = pull_part(issue)
        user = require(world, actor, repository_of(world, issue), Role.TRIAGE, "pull_requests")
        gone = {
            reviewer.id for login in logins if (reviewer := world.store.find(User, login.lower())) is not None
        }
        for reviewer_id in pull.requested_reviewer_ids:
            if reviewer_id in gone:
                record_event(world, issue, user.id, "review_request_removed", reviewer_id=reviewer_id)
        left = tuple(each for each in pull.requested_reviewer_ids if each not in gone)
        changed = pull.model_copy(update={"requested_reviewer_ids": left})
        return world.store.put(issue.model_copy(update={"pull": changed}))


def fork_point(world: World, issue: Issue) -> str:
    """The commit that the diff of a pull request starts from."""
    pull = pull_part(issue)
    git = world.repository_git(repository_of(world, issue))
    return git.merge_base(pull.base_oid, pull.head_oid) or pull.base_oid


def pull_commits(world: World, issue: Issue) -> list[Commit]:
    """The commits a pull request adds, oldest first."""
    pull = pull_part(issue)
    git = world.repository_git(repository_of(world, issue))
    return list(reversed(git.log(pull.head_oid, f"^{pull.base_oid}")))
