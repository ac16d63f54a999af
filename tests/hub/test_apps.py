"""How the hub tells a GitHub App from everybody else, as GitHub does."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from cogworks.hub.apps import add_app
from cogworks.hub.seeding import add_user
from cogworks.hub.world import World
from tests.hub.apps import app_id, app_key, app_signature, with_app
from tests.hub.running import OWNER_TOKEN, running_hub, seeded


@dataclass(frozen=True)
class Asked:
    api_url: str
    app: int
    stranger: int
    """Another App, installed nowhere."""

    def get(self, path: str, token: str) -> httpx.Response:
        return httpx.get(self.api_url + path, headers={"Authorization": f"Bearer {token}"})

    def post(self, path: str, token: str) -> httpx.Response:
        return httpx.post(self.api_url + path, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    directory: Path = with_app(seeded(tmp_path_factory.mktemp("apps") / "hub"))
    number = app_id(directory)
    world = World(directory)
    other = add_app(world, add_user(world, "other[bot]", kind="Bot"), public_key=app_key()[1], permissions={})
    world.close()
    with running_hub(directory) as running:
        yield Asked(running.api_url, number, other.id)


def test_an_installation_token_acts_as_the_apps_bot_with_its_permissions(hub: Asked) -> None:
    signature = app_signature(hub.app)
    installation = hub.get("/repos/octo/demo/installation", signature).json()
    made = hub.post(f"/app/installations/{installation['id']}/access_tokens", signature)

    assert made.status_code == 201
    assert hub.get("/user", made.json()["token"]).json()["login"] == "helper[bot]"
    refused = hub.get("/repos/octo/demo/actions/permissions/workflow", made.json()["token"])
    assert (refused.status_code, refused.json()["message"]) == (403, "Resource not accessible by integration")


def other_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.mark.parametrize(
    "case", ["foreign key", "unknown app", "future", "expired", "too long", "no jwt", "token"]
)
def test_a_signature_that_does_not_fit_is_refused(hub: Asked, case: str) -> None:
    now = int(time.time())
    signature = {
        "foreign key": app_signature(hub.app, key=other_key()),
        "unknown app": app_signature(99_999),
        "future": app_signature(hub.app, iat=now + 120),
        "expired": app_signature(hub.app, exp=now - 5),
        "too long": app_signature(hub.app, exp=now + 3600),
        "no jwt": "a.b.c",
        "token": OWNER_TOKEN,
    }[case]

    assert hub.get("/app", signature).status_code == 401


def test_a_signature_is_no_token_for_anything_else(hub: Asked) -> None:
    assert hub.get("/user", app_signature(hub.app)).status_code == 401


def test_an_app_that_is_not_installed_finds_nothing(hub: Asked) -> None:
    signature = app_signature(hub.stranger)
    installation = hub.get("/repos/octo/demo/installation", app_signature(hub.app)).json()["id"]

    assert hub.get("/repos/octo/demo/installation", signature).status_code == 404
    assert hub.post(f"/app/installations/{installation}/access_tokens", signature).status_code == 404
