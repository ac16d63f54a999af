"""Users, collaborators, limits: who works here and how much they may ask."""

from typing import Any

from cogworks.hub.actions.access import find_repository, require, role_of
from cogworks.hub.actions.repositories import collaborators, find_user, permission_word, put_collaborator
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Collaborator
from cogworks.hub.refusals import NotFound, Unprocessable
from cogworks.hub.rest.exchange import NO_CONTENT, Answer, Call, Route
from cogworks.hub.rest.shapes.people import collaborator, private_user, public_user

_WORDS = {"pull": Role.READ, "push": Role.WRITE}


def viewer(call: Call) -> Answer:
    return Answer(private_user(call.world, call.actor.known))


def user(call: Call) -> Answer:
    return Answer(public_user(call.world, find_user(call.world, call.path["username"])))


def rate_limit(call: Call) -> Answer:
    shapes: dict[str, Any] = {}
    for resource in ("core", "graphql", "search"):
        left = call.world.limits.allowance(call.actor.caller, resource)
        reset = int(left.reset_at.timestamp())
        shapes[resource] = {
            "limit": left.limit,
            "used": left.used,
            "remaining": left.remaining,
            "reset": reset,
        }
    return Answer({"resources": shapes, "rate": shapes["core"]})


def meta(call: Call) -> Answer:
    return Answer(
        {"verifiable_password_authentication": False, "domains": {"website": [call.world.base_url]}}
    )


def list_collaborators(call: Call) -> Answer:
    repository = call.repository()
    if _is_person(call):
        require(call.world, call.actor, repository, Role.WRITE, "metadata", level="read")
    return call.page(
        collaborators(call.world, repository), lambda row: collaborator(call.world, row[0], row[1])
    )


def _is_person(call: Call) -> bool:
    """An app reads collaborators with the metadata permission that all of them have."""
    return call.actor.token is not None and call.actor.token.permissions is None


def is_collaborator(call: Call) -> Answer:
    user = find_user(call.world, call.path["username"])
    repository = call.repository()
    record = call.world.store.find(Collaborator, f"{repository.id}/{user.id}")
    if record is None and user.id != repository.owner_id:
        raise NotFound
    return NO_CONTENT


def add_collaborator(call: Call) -> Answer:
    repository = call.repository()
    require(call.world, call.actor, repository, Role.ADMIN, "administration")
    word = call.fields.text("permission") or "push"
    if word not in _WORDS and word not in list(Role):
        raise Unprocessable(f"Invalid permission: {word}")
    role = _WORDS.get(word) or Role(word)
    # GitHub sends an invitation here; on the hub everybody accepts at once.
    put_collaborator(call.world, repository, find_user(call.world, call.path["username"]), role)
    return NO_CONTENT


def permission(call: Call) -> Answer:
    repository = find_repository(call.world, call.actor, call.path["owner"], call.path["repo"])
    call.actor.known  # noqa: B018 - an anonymous request is refused here
    user = find_user(call.world, call.path["username"])
    role = role_of(call.world, repository, user)
    return Answer(
        {
            "permission": permission_word(role),
            "role_name": role.value,
            "user": collaborator(call.world, user, role),
        }
    )


_REPOSITORY = "/repos/{owner}/{repo}"
ROUTES = (
    Route("GET", "/user", viewer),
    Route("GET", "/users/{username}", user),
    Route("GET", "/rate_limit", rate_limit),
    Route("GET", "/meta", meta),
    Route("GET", f"{_REPOSITORY}/collaborators", list_collaborators),
    Route("GET", f"{_REPOSITORY}/collaborators/{{username}}", is_collaborator),
    Route("PUT", f"{_REPOSITORY}/collaborators/{{username}}", add_collaborator),
    Route("GET", f"{_REPOSITORY}/collaborators/{{username}}/permission", permission),
)
