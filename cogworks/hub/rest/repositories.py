"""A repository's settings, labels and milestones over REST."""

from cogworks.hub.actions.access import actor_role, require
from cogworks.hub.actions.issues import create_milestone
from cogworks.hub.actions.labels import create_label, delete_label, find_label, update_label
from cogworks.hub.actions.repositories import change_repository
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Label, Milestone
from cogworks.hub.rest.exchange import NO_CONTENT, Answer, Call, Route, created
from cogworks.hub.rest.shapes.repositories import full_repository, label, milestone

_SETTINGS = {
    "description": "description",
    "default_branch": "default_branch",
    "private": "is_private",
    "archived": "is_archived",
    "has_issues": "has_issues",
    "delete_branch_on_merge": "delete_branch_on_merge",
    "allow_merge_commit": "allow_merge_commit",
    "allow_squash_merge": "allow_squash_merge",
    "allow_rebase_merge": "allow_rebase_merge",
}


def get(call: Call) -> Answer:
    repository = call.repository()
    return Answer(full_repository(call.world, repository, actor_role(call.world, call.actor, repository)))


def patch(call: Call) -> Answer:
    fields = call.fields
    settings = {
        setting: fields.text(name) if name in ("description", "default_branch") else fields.flag(name)
        for name, setting in _SETTINGS.items()
        if name in fields and (name == "description" or fields.get(name) is not None)
    }
    changed = change_repository(call.world, call.actor, call.repository(), **settings)
    return Answer(full_repository(call.world, changed, actor_role(call.world, call.actor, changed)))


def list_labels(call: Call) -> Answer:
    labels = call.world.store.children(Label, call.repository().id)
    return call.page(sorted(labels, key=lambda each: each.name.lower()), lambda each: label(call.world, each))


def post_label(call: Call) -> Answer:
    fields = call.fields
    record = create_label(
        call.world,
        call.actor,
        call.repository(),
        name=fields.required("name"),
        color=(fields.text("color") or "ededed").removeprefix("#"),
        description=fields.text("description"),
    )
    return created(label(call.world, record))


def get_label(call: Call) -> Answer:
    return Answer(label(call.world, find_label(call.world, call.repository(), call.path["name"])))


def patch_label(call: Call) -> Answer:
    repository = call.repository()
    fields = call.fields
    color = fields.text("color")
    changed = update_label(
        call.world,
        call.actor,
        find_label(call.world, repository, call.path["name"]),
        repository,
        name=fields.text("new_name") or fields.text("name"),
        color=None if color is None else color.removeprefix("#"),
        description=fields.text("description"),
    )
    return Answer(label(call.world, changed))


def remove_label(call: Call) -> Answer:
    repository = call.repository()
    delete_label(call.world, call.actor, find_label(call.world, repository, call.path["name"]), repository)
    return NO_CONTENT


def list_milestones(call: Call) -> Answer:
    state = call.query.get("state", "open")
    milestones = call.world.store.children(Milestone, call.repository().id)
    return call.page(
        [each for each in milestones if state in ("all", each.state)],
        lambda each: milestone(call.world, each),
    )


def post_milestone(call: Call) -> Answer:
    fields = call.fields
    record = create_milestone(
        call.world,
        call.actor,
        call.repository(),
        title=fields.required("title"),
        description=fields.text("description"),
    )
    return created(milestone(call.world, record))


def workflow_permissions(call: Call) -> Answer:
    repository = call.repository()
    require(call.world, call.actor, repository, Role.WRITE, "administration", level="read")
    return Answer(
        {
            "default_workflow_permissions": "read",
            "can_approve_pull_request_reviews": repository.actions_may_open_pull_requests,
        }
    )


def actions_permissions(call: Call) -> Answer:
    require(call.world, call.actor, call.repository(), Role.WRITE, "administration", level="read")
    return Answer({"enabled": True, "allowed_actions": "all"})


def nothing(call: Call) -> Answer:
    """Rules and deploy keys: the hub has none."""
    call.repository()
    return Answer([])


def no_runs(call: Call) -> Answer:
    """The hub runs no workflows."""
    call.repository()
    return Answer({"total_count": 0, "workflow_runs": []})


_ROOT = "/repos/{owner}/{repo}"
ROUTES = (
    Route("GET", _ROOT, get),
    Route("PATCH", _ROOT, patch),
    Route("GET", f"{_ROOT}/labels", list_labels),
    Route("POST", f"{_ROOT}/labels", post_label),
    Route("GET", f"{_ROOT}/labels/{{name}}", get_label),
    Route("PATCH", f"{_ROOT}/labels/{{name}}", patch_label),
    Route("DELETE", f"{_ROOT}/labels/{{name}}", remove_label),
    Route("GET", f"{_ROOT}/milestones", list_milestones),
    Route("POST", f"{_ROOT}/milestones", post_milestone),
    Route("GET", f"{_ROOT}/actions/permissions", actions_permissions),
    Route("GET", f"{_ROOT}/actions/permissions/workflow", workflow_permissions),
    Route("GET", f"{_ROOT}/rulesets", nothing),
    Route("GET", f"{_ROOT}/rules/branches/{{branch}}", nothing),
    Route("GET", f"{_ROOT}/keys", nothing),
    Route("GET", f"{_ROOT}/actions/runs", no_runs),
)
