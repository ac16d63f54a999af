"""Pull requests over REST: opening, editing, merging, and what they change."""

from cogworks.hub.actions.issues import edit_issue
from cogworks.hub.actions.merging import MergeMethod, merge_pull, update_branch
from cogworks.hub.actions.pulls import (
    close_pull,
    create_pull,
    fork_point,
    pull_commits,
    pull_part,
    remove_reviewers,
    reopen_pull,
    request_reviewers,
    retarget_pull,
    set_maintainer_can_modify,
)
from cogworks.hub.records import Issue, User
from cogworks.hub.refusals import NotFound
from cogworks.hub.rest.exchange import NO_CONTENT, Answer, Call, Route, created
from cogworks.hub.rest.shapes.gitdata import commit_simple
from cogworks.hub.rest.shapes.people import simple_user
from cogworks.hub.rest.shapes.pulls import file_change, pull_full, pull_simple

_METHODS: tuple[MergeMethod, ...] = ("merge", "squash", "rebase")


def list_pulls(call: Call) -> Answer:
    """Filtered by state, head (`owner:branch`) and base; newest first unless told otherwise."""
    repository, query = call.repository(), call.query
    pulls = call.world.store.children(Issue, repository.id, tag="pull")
    matching = [
        issue
        for issue in pulls
        if query.get("state", "open") in ("all", issue.state)
        and query.get("base", pull_part(issue).base_branch) == pull_part(issue).base_branch
        and query.get("head")
        in (None, pull_part(issue).head_branch, f"{repository.owner}:{pull_part(issue).head_branch}")
    ]
    by_update = query.get("sort") == "updated"
    default = "asc" if "sort" in query and query["sort"] != "created" else "desc"
    matching.sort(
        key=lambda issue: (issue.updated_at if by_update else issue.created_at, issue.number),
        reverse=query.get("direction", default) == "desc",
    )
    return call.page(matching, lambda issue: pull_simple(call.world, issue))


def post_pull(call: Call) -> Answer:
    fields = call.fields
    pull = create_pull(
        call.world,
        call.actor,
        call.repository(),
        title=fields.required("title"),
        head=fields.required("head"),
        base=fields.required("base"),
        body=fields.text("body"),
        is_draft=fields.flag("draft") or False,
    )
    if fields.flag("maintainer_can_modify"):
        pull = set_maintainer_can_modify(call.world, call.actor, pull, allowed=True)
    return created(pull_full(call.world, pull))


def get_pull(call: Call) -> Answer:
    issue = call.issue(pull=True)
    if call.wants("diff"):
        head = pull_part(issue).head_oid
        return Answer(
            raw=call.git().patch(fork_point(call.world, issue), head).encode("utf-8", "surrogateescape")
        )
    return Answer(pull_full(call.world, issue))


def patch_pull(call: Call) -> Answer:
    world, actor, fields = call.world, call.actor, call.fields
    with world.changing():
        body = (fields.text("body") or "") if "body" in fields else None
        issue = edit_issue(world, actor, call.issue(pull=True), title=fields.text("title"), body=body)
        base = fields.text("base")
        if base is not None:
            issue = retarget_pull(world, actor, issue, base)
        allowed = fields.flag("maintainer_can_modify")
        if allowed is not None:
            issue = set_maintainer_can_modify(world, actor, issue, allowed=allowed)
        state = fields.choice("state", ("open", "closed"))
        if state == "closed":
            issue = close_pull(world, actor, issue)
        elif state == "open":
            issue = reopen_pull(world, actor, issue)
    return Answer(pull_full(world, issue))


def is_merged(call: Call) -> Answer:
    if pull_part(call.issue(pull=True)).merged_at is None:
        raise NotFound
    return NO_CONTENT


def put_merge(call: Call) -> Answer:
    fields = call.fields
    word = fields.choice("merge_method", _METHODS) or "merge"
    merged = merge_pull(
        call.world,
        call.actor,
        call.issue(pull=True),
        method=next(method for method in _METHODS if method == word),
        expected_head=fields.text("sha"),
        headline=fields.text("commit_title"),
        body=fields.text("commit_message"),
    )
    oid = pull_part(merged).merge_commit_oid
    return Answer({"sha": oid, "merged": True, "message": "Pull Request successfully merged"})


def put_update_branch(call: Call) -> Answer:
    issue = call.issue(pull=True)
    update_branch(call.world, call.actor, issue, expected_head=call.fields.text("expected_head_sha"))
    url = f"{call.api}/repos/{call.repository().full_name}/pulls/{issue.number}"
    return Answer({"message": "Updating pull request branch.", "url": url}, 202)


def list_files(call: Call) -> Answer:
    issue, repository = call.issue(pull=True), call.repository()
    head = pull_part(issue).head_oid
    changes = call.git().changes(fork_point(call.world, issue), head)
    return call.page(changes, lambda change: file_change(call.world, repository, head, change))


def list_commits(call: Call) -> Answer:
    issue, repository = call.issue(pull=True), call.repository()
    return call.page(pull_commits(call.world, issue), lambda one: commit_simple(call.world, repository, one))


def get_reviewers(call: Call) -> Answer:
    reviewers = call.world.store.many(User, pull_part(call.issue(pull=True)).requested_reviewer_ids)
    return Answer({"users": [simple_user(call.world, user) for user in reviewers], "teams": []})


def post_reviewers(call: Call) -> Answer:
    logins = call.fields.texts("reviewers") or ()
    return created(
        pull_simple(call.world, request_reviewers(call.world, call.actor, call.issue(pull=True), logins))
    )


def delete_reviewers(call: Call) -> Answer:
    logins = call.fields.texts("reviewers") or ()
    return Answer(
        pull_simple(call.world, remove_reviewers(call.world, call.actor, call.issue(pull=True), logins))
    )


_ROOT = "/repos/{owner}/{repo}/pulls"
_ONE = f"{_ROOT}/{{pull_number}}"
ROUTES = (
    Route("GET", _ROOT, list_pulls),
    Route("POST", _ROOT, post_pull),
    Route("GET", _ONE, get_pull),
    Route("PATCH", _ONE, patch_pull),
    Route("GET", f"{_ONE}/merge", is_merged),
    Route("PUT", f"{_ONE}/merge", put_merge),
    Route("PUT", f"{_ONE}/update-branch", put_update_branch),
    Route("GET", f"{_ONE}/files", list_files),
    Route("GET", f"{_ONE}/commits", list_commits),
    Route("GET", f"{_ONE}/requested_reviewers", get_reviewers),
    Route("POST", f"{_ONE}/requested_reviewers", post_reviewers),
    Route("DELETE", f"{_ONE}/requested_reviewers", delete_reviewers),
)
