"""GitHub Apps over REST: who signs, where the App is installed, and its tokens."""

from typing import Any

from cogworks.hub.apps import (
    App,
    Installation,
    Wanted,
    app_of,
    find_installation,
    installation_on,
    new_installation_token,
)
from cogworks.hub.clock import iso
from cogworks.hub.node_ids import node_id
from cogworks.hub.records import Repository
from cogworks.hub.refusals import NotFound
from cogworks.hub.rest.exchange import Answer, Call, Route, created
from cogworks.hub.rest.shapes.people import api, simple_user
from cogworks.hub.rest.shapes.repositories import repository

Json = dict[str, Any]


def app(call: Call) -> Answer:
    signer = app_of(call.world, call.actor.signature)
    bot = call.world.user(signer.bot_id)
    return Answer(
        {
            "id": signer.id,
            "slug": signer.slug,
            "node_id": node_id("App", signer.id),
            "owner": simple_user(call.world, bot),
            "name": signer.slug,
            "description": None,
            "external_url": call.world.base_url,
            "html_url": f"{call.world.base_url}/apps/{signer.slug}",
            "created_at": iso(signer.created_at),
            "updated_at": iso(signer.created_at),
            "permissions": signer.permissions,
            "events": [],
        }
    )


def repository_installation(call: Call) -> Answer:
    signer = app_of(call.world, call.actor.signature)
    name = f"{call.path['owner']}/{call.path['repo']}".lower()
    repository = call.world.store.find(Repository, name)
    if repository is None:
        raise NotFound
    return Answer(_installation(call, signer, installation_on(call.world, signer, repository.owner_id)))


def access_tokens(call: Call) -> Answer:
    signer = app_of(call.world, call.actor.signature)
    installation = find_installation(call.world, signer, call.path_number("installation_id"))
    fields = call.fields
    wanted = Wanted(
        names=fields.texts("repositories"),
        repository_ids=fields.numbers("repository_ids"),
        permissions=fields.object("permissions"),
    )
    text, token = new_installation_token(call.world, signer, installation, wanted)
    body: Json = {
        "token": text,
        "expires_at": None if token.expires_at is None else iso(token.expires_at),
        "permissions": token.permissions,
        "repository_selection": "selected",
    }
    if token.repository_ids is not None:
        chosen = call.world.store.many(Repository, token.repository_ids)
        body["repositories"] = [repository(call.world, each) for each in chosen]
    return created(body)


def _installation(call: Call, app: App, installation: Installation) -> Json:
    url = f"{api(call.world)}/app/installations/{installation.id}"
    return {
        "id": installation.id,
        "account": simple_user(call.world, call.world.user(installation.account_id)),
        "app_id": app.id,
        "app_slug": app.slug,
        "target_id": installation.account_id,
        "target_type": call.world.user(installation.account_id).kind,
        "repository_selection": "selected",
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{api(call.world)}/installation/repositories",
        "html_url": f"{call.world.base_url}/settings/installations/{installation.id}",
        "permissions": app.permissions,
        "events": [],
        "created_at": iso(installation.created_at),
        "updated_at": iso(installation.created_at),
        "single_file_name": None,
    }


ROUTES = (
    Route("GET", "/app", app),
    Route("GET", "/repos/{owner}/{repo}/installation", repository_installation),
    Route("POST", "/app/installations/{installation_id}/access_tokens", access_tokens),
)
