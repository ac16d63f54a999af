"""Users, apps and what they may do, as REST writes them."""

from typing import Any

from cogworks.hub.clock import iso
from cogworks.hub.node_ids import Role, node_id
from cogworks.hub.records import Repository, User
from cogworks.hub.world import World

Json = dict[str, Any]


def api(world: World) -> str:
    """The root of every API URL."""
    return f"{world.base_url}/api/v3"


def simple_user(world: World, user: User) -> Json:
    url = f"{api(world)}/users/{user.login}"
    return {
        "login": user.login,
        "id": user.id,
        "node_id": user.node_id,
        "avatar_url": f"{world.base_url}/avatars/u/{user.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{world.base_url}/{user.handle}",
        "followers_url": f"{url}/followers",
        "following_url": f"{url}/following{{/other_user}}",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{url}/subscriptions",
        "organizations_url": f"{url}/orgs",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events{{/privacy}}",
        "received_events_url": f"{url}/received_events",
        "type": user.kind,
        "site_admin": False,
    }


def maybe_user(world: World, user_id: int | None) -> Json | None:
    return None if user_id is None else simple_user(world, world.user(user_id))


def public_user(world: World, user: User) -> Json:
    repositories = world.store.children(Repository, user.id)
    return {
        **simple_user(world, user),
        "name": user.name,
        "company": None,
        "blog": "",
        "location": None,
        "email": user.email,
        "hireable": None,
        "bio": None,
        "twitter_username": None,
        "public_repos": sum(not repository.is_private for repository in repositories),
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": iso(user.created_at),
        "updated_at": iso(user.created_at),
    }


def private_user(world: World, user: User) -> Json:
    mine = sum(repository.is_private for repository in world.store.children(Repository, user.id))
    return {
        **public_user(world, user),
        "private_gists": 0,
        "total_private_repos": mine,
        "owned_private_repos": mine,
        "disk_usage": 0,
        "collaborators": 0,
        "two_factor_authentication": True,
    }


def permission_flags(role: Role) -> Json:
    return {
        "admin": role.covers(Role.ADMIN),
        "maintain": role.covers(Role.MAINTAIN),
        "push": role.covers(Role.WRITE),
        "triage": role.covers(Role.TRIAGE),
        "pull": role.covers(Role.READ),
    }


def collaborator(world: World, user: User, role: Role) -> Json:
    return {**simple_user(world, user), "permissions": permission_flags(role), "role_name": role.value}


def integration(world: World, user: User) -> Json | None:
    """The app behind a bot; None for a person."""
    if user.kind != "Bot":
        return None
    return {
        "id": user.id,
        "slug": user.handle,
        "node_id": node_id("App", user.id),
        "owner": simple_user(world, user),
        "name": user.name or user.handle,
        "description": None,
        "external_url": f"{world.base_url}/apps/{user.handle}",
        "html_url": f"{world.base_url}/apps/{user.handle}",
        "created_at": iso(user.created_at),
        "updated_at": iso(user.created_at),
        "permissions": {"metadata": "read", "contents": "write", "issues": "write", "checks": "write"},
        "events": [],
    }
