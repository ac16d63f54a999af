"""Repositories, labels and milestones, as REST writes them."""

from cogworks.hub.clock import iso
from cogworks.hub.node_ids import Role, node_id
from cogworks.hub.records import Issue, Label, Milestone, Repository
from cogworks.hub.rest.shapes.people import Json, api, maybe_user, permission_flags, simple_user
from cogworks.hub.world import World

_TEMPLATES = {
    "archive": "/{archive_format}{/ref}",
    "assignees": "/assignees{/user}",
    "blobs": "/git/blobs{/sha}",
    "branches": "/branches{/branch}",
    "collaborators": "/collaborators{/collaborator}",
    "comments": "/comments{/number}",
    "commits": "/commits{/sha}",
    "compare": "/compare/{base}...{head}",
    "contents": "/contents/{+path}",
    "contributors": "/contributors",
    "deployments": "/deployments",
    "downloads": "/downloads",
    "events": "/events",
    "forks": "/forks",
    "git_commits": "/git/commits{/sha}",
    "git_refs": "/git/refs{/sha}",
    "git_tags": "/git/tags{/sha}",
    "hooks": "/hooks",
    "issue_comment": "/issues/comments{/number}",
    "issue_events": "/issues/events{/number}",
    "issues": "/issues{/number}",
    "keys": "/keys{/key_id}",
    "labels": "/labels{/name}",
    "languages": "/languages",
    "merges": "/merges",
    "milestones": "/milestones{/number}",
    "notifications": "/notifications{?since,all,participating}",
    "pulls": "/pulls{/number}",
    "releases": "/releases{/id}",
    "stargazers": "/stargazers",
    "statuses": "/statuses/{sha}",
    "subscribers": "/subscribers",
    "subscription": "/subscription",
    "tags": "/tags",
    "teams": "/teams",
    "trees": "/git/trees{/sha}",
}


def repository_url(world: World, repository: Repository) -> str:
    return f"{api(world)}/repos/{repository.full_name}"


def repository_page(world: World, repository: Repository) -> str:
    return f"{world.base_url}/{repository.full_name}"


def repository(world: World, record: Repository) -> Json:
    """The shape that other answers embed."""
    url, page = repository_url(world, record), repository_page(world, record)
    issues = world.store.children(Issue, record.id)
    open_issues = sum(issue.is_open for issue in issues)
    return {
        "id": record.id,
        "node_id": record.node_id,
        "name": record.name,
        "full_name": record.full_name,
        "owner": simple_user(world, world.user(record.owner_id)),
        "private": record.is_private,
        "html_url": page,
        "description": record.description,
        "fork": False,
        "url": url,
        **{f"{name}_url": url + tail for name, tail in _TEMPLATES.items()},
        "clone_url": f"{page}.git",
        "git_url": f"{page}.git",
        "ssh_url": f"{page}.git",
        "svn_url": page,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "forks": 0,
        "forks_count": 0,
        "stargazers_count": 0,
        "watchers": 0,
        "watchers_count": 0,
        "size": 0,
        "default_branch": record.default_branch,
        "open_issues": open_issues,
        "open_issues_count": open_issues,
        "is_template": False,
        "topics": [],
        "has_issues": record.has_issues,
        "has_projects": False,
        "has_wiki": False,
        "has_pages": False,
        "has_downloads": False,
        "has_discussions": False,
        "archived": record.is_archived,
        "disabled": False,
        "visibility": "private" if record.is_private else "public",
        "pushed_at": iso(record.pushed_at),
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
    }


def full_repository(world: World, record: Repository, role: Role) -> Json:
    """The shape of the repository's own address, with what the viewer may do."""
    return {
        **repository(world, record),
        "permissions": permission_flags(role),
        "allow_merge_commit": record.allow_merge_commit,
        "allow_squash_merge": record.allow_squash_merge,
        "allow_rebase_merge": record.allow_rebase_merge,
        "allow_auto_merge": False,
        "allow_update_branch": False,
        "delete_branch_on_merge": record.delete_branch_on_merge,
        "allow_forking": False,
        "web_commit_signoff_required": False,
        "subscribers_count": 0,
        "network_count": 0,
    }


def label(world: World, record: Label) -> Json:
    repository = world.store.get(Repository, record.repository_id)
    root = "" if repository is None else repository_url(world, repository)
    return {
        "id": record.id,
        "node_id": record.node_id,
        "url": f"{root}/labels/{record.name.replace(' ', '%20')}",
        "name": record.name,
        "color": record.color,
        "default": False,
        "description": record.description,
    }


def milestone(world: World, record: Milestone) -> Json:
    repository = world.store.get(Repository, record.repository_id)
    root = "" if repository is None else repository_url(world, repository)
    page = "" if repository is None else repository_page(world, repository)
    members = [
        issue
        for issue in world.store.children(Issue, record.repository_id)
        if issue.milestone_id == record.id
    ]
    still_open = sum(issue.is_open for issue in members)
    return {
        "url": f"{root}/milestones/{record.number}",
        "html_url": f"{page}/milestone/{record.number}",
        "labels_url": f"{root}/milestones/{record.number}/labels",
        "id": record.id,
        "node_id": node_id("Milestone", record.id),
        "number": record.number,
        "state": record.state,
        "title": record.title,
        "description": record.description,
        "creator": maybe_user(world, record.creator_id),
        "open_issues": still_open,
        "closed_issues": len(members) - still_open,
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
        "closed_at": None if record.closed_at is None else iso(record.closed_at),
        "due_on": None if record.due_on is None else iso(record.due_on),
    }
