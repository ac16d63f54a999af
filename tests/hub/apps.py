"""A GitHub App on a seeded hub, and the private half of its key."""

import time
from functools import cache
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from cogworks.hub.apps import App, add_app, install_app
from cogworks.hub.seeding import Permissions, add_user
from cogworks.hub.world import World


@cache
def app_key() -> tuple[str, str]:
    """A private key and its public half, both PEM; the same for the whole test run."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    return private, public


def with_app(directory: Path) -> Path:
    """The hub directory with an App that acts as `helper[bot]` and is installed on octo's account."""
    world = World(directory)
    bot, octo = add_user(world, "helper[bot]", kind="Bot"), add_user(world, "octo")
    permissions: Permissions = {
        "contents": "write",
        "issues": "write",
        "pull_requests": "write",
        "metadata": "read",
    }
    app = add_app(world, bot, public_key=app_key()[1], permissions=permissions)
    install_app(world, app, octo)
    world.close()
    return directory


def app_id(directory: Path) -> int:
    """The number of the one App on a hub."""
    world = World(directory)
    (app,) = world.store.every(App)
    world.close()
    return app.id


def app_signature(number: int, *, key: str | None = None, **claims: int) -> str:
    """What the App with that number puts in place of a token."""
    now = int(time.time())
    payload = {"iat": now - 60, "exp": now + 300, "iss": str(number), **claims}
    return jwt.encode(payload, key or app_key()[0], algorithm="RS256")
