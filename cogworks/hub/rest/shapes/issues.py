"""Issues, comments and reactions, as REST writes them."""

from datetime import datetime

from cogworks.hub.actions.access import association, repository_by_id
from cogworks.hub.actions.comments import REACTIONS, Reactable, reactions
from cogworks.hub.actions.hierarchy import blocked_by, blocking, sub_issues
from cogworks.hub.clock import iso
from cogworks.hub.records import Comment, Issue, Label, Milestone, Reaction, Repository
from cogworks.hub.rest.shapes.people import Json, integration, maybe_user, simple_user
from cogworks.hub.rest.shapes.repositories import label, milestone, repository_page, repository_url
from cogworks.hub.world import World


def moment(date: datetime | None) -> str | None:
    return None if date is None else iso(date)


def issue_url(world: World, repository: Repository, issue: Issue) -> str:
    return f"{repository_url(world, repository)}/issues/{issue.number}"


def issue_page(world: World, repository: Repository, issue: Issue) -> str:
    """The address a person opens."""
    word = "issues" if issue.pull is None else "pull"
    return f"{repository_page(world, repository)}/{word}/{issue.number}"


def issue(world: World, record: Issue) -> Json:
    """An issue, or a pull request as the issues endpoints show it."""
    repository = repository_by_id(world, record.repository_id)
    url = issue_url(world, repository, record)
    author = world.user(record.author_id)
    parent = world.store.get(Issue, record.parent_id)
    shape = {
        "url": url,
        "repository_url": repository_url(world, repository),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": issue_page(world, repository, record),
        **common(world, record),
        "state_reason": record.state_reason,
        "closed_by": maybe_user(world, record.closed_by_id),
        "reactions": rollup(world, record, url),
        "performed_via_github_app": integration(world, author),
        "parent_issue_url": None if parent is None else issue_url(world, repository, parent),
    }
    return {
        **shape,
        **(_hierarchy(world, record) if record.pull is None else _pull_part(world, record, repository)),
    }


def common(world: World, record: Issue) -> Json:
    """What an issue and a pull request share."""
    repository = repository_by_id(world, record.repository_id)
    assignees = [simple_user(world, world.user(user_id)) for user_id in record.assignee_ids]
    shelf = world.store.get(Milestone, record.milestone_id)
    return {
        "id": record.id,
        "node_id": record.node_id,
        "number": record.number,
        "title": record.title,
        "user": simple_user(world, world.user(record.author_id)),
        "labels": [label(world, each) for each in world.store.many(Label, record.label_ids)],
        "state": record.state,
        "locked": record.is_locked,
        "active_lock_reason": record.lock_reason,
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "milestone": None if shelf is None else milestone(world, shelf),
        "comments": world.store.count(Comment, record.id),
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
        "closed_at": moment(record.closed_at),
        "author_association": association(world, repository, record.author_id),
        "body": record.body,
    }


def _hierarchy(world: World, record: Issue) -> Json:
    children = sub_issues(world, record)
    completed = sum(not child.is_open for child in children)
    blockers, blocked = blocked_by(world, record), blocking(world, record)
    return {
        "sub_issues_summary": {
            "total": len(children),
            "completed": completed,
            "percent_completed": 100 * completed // len(children) if children else 0,
        },
        "issue_dependencies_summary": {
            "blocked_by": sum(each.is_open for each in blockers),
            "blocking": sum(each.is_open for each in blocked),
            "total_blocked_by": len(blockers),
            "total_blocking": len(blocked),
        },
    }


def _pull_part(world: World, record: Issue, repository: Repository) -> Json:
    page = issue_page(world, repository, record)
    return {
        "draft": record.pull is not None and record.pull.is_draft,
        "pull_request": {
            "url": f"{repository_url(world, repository)}/pulls/{record.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": None if record.pull is None else moment(record.pull.merged_at),
        },
    }


def rollup(world: World, subject: Reactable, url: str) -> Json:
    """How often each reaction was given."""
    contents = [reaction.content for reaction in reactions(world, subject)]
    return {
        "url": f"{url}/reactions",
        "total_count": len(contents),
        **{content: contents.count(content) for content in REACTIONS},
    }


def comment(world: World, record: Comment) -> Json:
    repository = repository_by_id(world, record.repository_id)
    owner = world.store.get(Issue, record.issue_id)
    url = f"{repository_url(world, repository)}/issues/comments/{record.id}"
    author = world.user(record.author_id)
    return {
        "url": url,
        "html_url": ""
        if owner is None
        else f"{issue_page(world, repository, owner)}#issuecomment-{record.id}",
        "issue_url": "" if owner is None else issue_url(world, repository, owner),
        "id": record.id,
        "node_id": record.node_id,
        "user": simple_user(world, author),
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
        "body": record.body,
        "author_association": association(world, repository, record.author_id),
        "reactions": rollup(world, record, url),
        "performed_via_github_app": integration(world, author),
    }


def reaction(world: World, record: Reaction) -> Json:
    return {
        "id": record.id,
        "node_id": record.node_id,
        "user": maybe_user(world, record.user_id),
        "content": record.content,
        "created_at": iso(record.created_at),
    }
