"""Pull requests, their files, reviews and inline comments, as REST writes them."""

from cogworks.hub.actions.access import association, repository_of
from cogworks.hub.actions.merging import Mergeability, merge_state, mergeability
from cogworks.hub.actions.pulls import fork_point, pull_commits, pull_part
from cogworks.hub.actions.reviews import review_comments
from cogworks.hub.clock import iso
from cogworks.hub.gitdiff import FileChange
from cogworks.hub.records import Issue, PullRequest, Repository, Review, ReviewComment, User
from cogworks.hub.rest.shapes.issues import common, issue_page, moment, rollup
from cogworks.hub.rest.shapes.people import Json, maybe_user, simple_user
from cogworks.hub.rest.shapes.repositories import repository as repository_shape
from cogworks.hub.rest.shapes.repositories import repository_page, repository_url
from cogworks.hub.world import World

_MERGEABLE: dict[Mergeability, bool | None] = {"UNKNOWN": None, "MERGEABLE": True, "CONFLICTING": False}


def pull_simple(world: World, record: Issue) -> Json:
    """The shape of lists."""
    repository = repository_of(world, record)
    pull = pull_part(record)
    shared = {name: value for name, value in common(world, record).items() if name != "comments"}
    reviewers = world.store.many(User, pull.requested_reviewer_ids)
    return {
        **shared,
        **_links(world, repository, record, pull),
        "requested_reviewers": [simple_user(world, user) for user in reviewers],
        "requested_teams": [],
        "head": _end(world, repository, pull.head_branch, pull.head_oid),
        "base": _end(world, repository, pull.base_branch, pull.base_oid),
        "auto_merge": None,
        "draft": pull.is_draft,
        "merged_at": moment(pull.merged_at),
        "merge_commit_sha": pull.merge_commit_oid,
    }


def pull_full(world: World, record: Issue) -> Json:
    """The shape of a single pull request; asking for it is what makes GitHub compute `mergeable`."""
    pull = pull_part(record)
    state = mergeability(world, record)
    git = world.repository_git(repository_of(world, record))
    changes = git.changes(fork_point(world, record), pull.head_oid)
    return {
        **pull_simple(world, record),
        "merged": pull.merged_at is not None,
        "mergeable": _MERGEABLE[state],
        "rebaseable": _MERGEABLE[state],
        "mergeable_state": merge_state(world, record, state).lower(),
        "merged_by": maybe_user(world, pull.merged_by_id),
        "comments": common(world, record)["comments"],
        "review_comments": len(review_comments(world, record)),
        "maintainer_can_modify": pull.maintainer_can_modify,
        "commits": len(pull_commits(world, record)),
        "additions": sum(change.additions for change in changes),
        "deletions": sum(change.deletions for change in changes),
        "changed_files": len(changes),
    }


def _end(world: World, repository: Repository, branch: str, oid: str) -> Json:
    return {
        "label": f"{repository.owner}:{branch}",
        "ref": branch,
        "sha": oid,
        "user": simple_user(world, world.user(repository.owner_id)),
        "repo": repository_shape(world, repository),
    }


def _links(world: World, repository: Repository, record: Issue, pull: PullRequest) -> Json:
    root = repository_url(world, repository)
    url, page = f"{root}/pulls/{record.number}", issue_page(world, repository, record)
    urls = {
        "issue": f"{root}/issues/{record.number}",
        "comments": f"{root}/issues/{record.number}/comments",
        "commits": f"{url}/commits",
        "review_comments": f"{url}/comments",
        "review_comment": f"{root}/pulls/comments{{/number}}",
        "statuses": f"{root}/statuses/{pull.head_oid}",
    }
    return {
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        **{f"{name}_url": target for name, target in urls.items()},
        "_links": {name: {"href": target} for name, target in {"self": url, "html": page, **urls}.items()},
    }


def pull_minimal(world: World, record: Issue) -> Json:
    """The shape inside check runs."""
    repository = repository_of(world, record)
    pull = pull_part(record)
    repo = {"id": repository.id, "url": repository_url(world, repository), "name": repository.name}
    return {
        "id": record.id,
        "number": record.number,
        "url": f"{repository_url(world, repository)}/pulls/{record.number}",
        "head": {"ref": pull.head_branch, "sha": pull.head_oid, "repo": repo},
        "base": {"ref": pull.base_branch, "sha": pull.base_oid, "repo": repo},
    }


def file_change(world: World, repository: Repository, commit_oid: str, change: FileChange) -> Json:
    """A diff entry; `commit_oid` is the commit on whose side the file is shown."""
    page, root = repository_page(world, repository), repository_url(world, repository)
    shape = {
        "sha": change.oid,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page}/blob/{commit_oid}/{change.path}",
        "raw_url": f"{page}/raw/{commit_oid}/{change.path}",
        "contents_url": f"{root}/contents/{change.path}?ref={commit_oid}",
    }
    if change.patch:
        shape["patch"] = change.patch
    if change.old_path != change.path:
        shape["previous_filename"] = change.old_path
    return shape


def review(world: World, owner: Issue, record: Review) -> Json:
    repository = repository_of(world, owner)
    page = f"{issue_page(world, repository, owner)}#pullrequestreview-{record.id}"
    url = f"{repository_url(world, repository)}/pulls/{owner.number}"
    shape = {
        "id": record.id,
        "node_id": record.node_id,
        "user": maybe_user(world, record.author_id),
        "body": record.body,
        "state": record.state,
        "html_url": page,
        "pull_request_url": url,
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "commit_id": record.commit_oid,
        "author_association": association(world, repository, record.author_id),
    }
    if record.submitted_at is not None:
        shape["submitted_at"] = iso(record.submitted_at)
    return shape


def review_comment(world: World, owner: Issue, record: ReviewComment) -> Json:
    repository = repository_of(world, owner)
    root = repository_url(world, repository)
    url, pull_url = f"{root}/pulls/comments/{record.id}", f"{root}/pulls/{owner.number}"
    page = f"{issue_page(world, repository, owner)}#discussion_r{record.id}"
    position = max(record.diff_hunk.count("\n"), 1)
    shape = {
        "url": url,
        "pull_request_review_id": record.review_id,
        "id": record.id,
        "node_id": record.node_id,
        "diff_hunk": record.diff_hunk,
        "path": record.path,
        "position": position,
        "original_position": position,
        "commit_id": record.commit_oid,
        "original_commit_id": record.original_commit_oid,
        "user": maybe_user(world, record.author_id),
        "body": record.body,
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
        "html_url": page,
        "pull_request_url": pull_url,
        "author_association": association(world, repository, record.author_id),
        "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": pull_url}},
        "reactions": rollup(world, record, url),
        "side": record.side,
        "start_line": record.start_line,
        "original_start_line": record.start_line,
        "start_side": None if record.start_line is None else record.side,
        "subject_type": "file" if record.line is None else "line",
    }
    if record.line is not None:
        shape |= {"line": record.line, "original_line": record.line}
    if record.in_reply_to_id is not None:
        shape["in_reply_to_id"] = record.in_reply_to_id
    return shape
