"""GitHub Apps on the hub: who they are, where they are installed, and the tokens they are given for an hour."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cogworks.hub.node_ids import Record
from cogworks.hub.records import Collaborator, Repository, Token, User
from cogworks.hub.refusals import NotFound, Unauthenticated, Unprocessable
from cogworks.hub.seeding import Level, Permissions, add_token, fresh_token
from cogworks.hub.world import World

TOKEN_LIFE = timedelta(hours=1)
MAX_SIGNED_FOR = timedelta(minutes=10)


class App(Record):
    """An App; its bot is the user that its installations act as."""

    type_name = "App"
    slug: str
    bot_id: int
    public_key: str
    """PEM."""
    permissions: Permissions
    created_at: datetime

    @property
    def key(self) -> str:
        return str(self.id)


class Installation(Record):
    """An App on one account."""

    type_name = "Installation"
    app_id: int
    account_id: int
    created_at: datetime

    @property
    def parent(self) -> int:
        return self.account_id

    @property
    def key(self) -> str:
        return f"{self.app_id}/{self.account_id}"


def add_app(world: World, bot: User, *, public_key: str, permissions: Permissions) -> App:
    """An App that acts as `bot` and signs with the private half of `public_key`."""
    with world.changing():
        return world.store.put(
            App(
                id=world.store.next_id(),
                slug=bot.handle,
                bot_id=bot.id,
                public_key=public_key,
                permissions=permissions,
                created_at=world.clock.now(),
            )
        )


def install_app(world: World, app: App, account: User) -> Installation:
    """The App on an account; which repositories it sees is said by who collaborates on them."""
    with world.changing():
        existing = world.store.find(Installation, f"{app.id}/{account.id}")
        if existing is not None:
            return existing
        new = Installation(
            id=world.store.next_id(), app_id=app.id, account_id=account.id, created_at=world.clock.now()
        )
        return world.store.put(new)


def app_of(world: World, signature: str | None) -> App:
    """The App that signed a request: RS256, of this moment, for ten minutes at most. Raises `Unauthenticated`."""
    import jwt  # noqa: PLC0415 - slow, and of no use to a hub without Apps

    if signature is None or signature.count(".") != 2:
        raise Unauthenticated("A JSON web token could not be decoded")
    try:
        claimed = jwt.decode(signature, options={"verify_signature": False})
        app = world.store.find(App, str(claimed.get("iss")))
        if app is None:
            raise Unauthenticated("Integration not found")
        # Its dates are held against the hub's clock below.
        claims = jwt.decode(
            signature,
            app.public_key,
            algorithms=["RS256"],
            options={"verify_exp": False, "verify_iat": False, "verify_nbf": False},
        )
    except jwt.PyJWTError as error:
        raise Unauthenticated("A JSON web token could not be decoded") from error
    _check_dates(claims, world.clock.now())
    return app


def _check_dates(claims: dict[str, Any], now: datetime) -> None:
    issued, expires = claims.get("iat"), claims.get("exp")
    if not isinstance(issued, int) or not isinstance(expires, int):
        raise Unauthenticated("Missing 'issued at' or 'expiration time' claim")
    if issued > now.timestamp():
        raise Unauthenticated("'Issued at' claim ('iat') must be an Integer representing a time in the past")
    if expires <= now.timestamp() or expires - now.timestamp() > MAX_SIGNED_FOR.total_seconds():
        raise Unauthenticated("'Expiration time' claim ('exp') is too far in the future or has passed")


def find_installation(world: World, app: App, installation_id: int) -> Installation:
    """An installation of this very App. Raises `NotFound`."""
    installation = world.store.get(Installation, installation_id)
    if installation is None or installation.app_id != app.id:
        raise NotFound
    return installation


def installation_on(world: World, app: App, account_id: int) -> Installation:
    """Where the App is installed for an account. Raises `NotFound`."""
    installation = world.store.find(Installation, f"{app.id}/{account_id}")
    if installation is None:
        raise NotFound
    return installation


@dataclass(frozen=True)
class Wanted:
    """What a token is to be made for; None is everything that the installation was granted."""

    names: tuple[str, ...] | None = None
    repository_ids: tuple[int, ...] | None = None
    permissions: Mapping[str, object] | None = None

    @property
    def is_narrowed(self) -> bool:
        """Whether repositories are named, in one way or the other."""
        return self.names is not None or self.repository_ids is not None


def granted_repositories(world: World, app: App, installation: Installation) -> list[Repository]:
    """The account's repositories that the App's bot works in."""
    return [
        repository
        for repository in world.store.children(Repository, installation.account_id)
        if world.store.find(Collaborator, f"{repository.id}/{app.bot_id}") is not None
    ]


def chosen_repositories(
    world: World, app: App, installation: Installation, wanted: Wanted
) -> list[Repository]:
    """Those of the granted repositories that are named. Raises `Unprocessable` when one of the names is of no such."""
    granted = granted_repositories(world, app, installation)
    if not wanted.is_narrowed:
        return granted
    names, numbers = {name.lower() for name in wanted.names or ()}, set(wanted.repository_ids or ())
    chosen = [each for each in granted if each.name.lower() in names or each.id in numbers]
    strange = [
        *sorted(names - {each.name.lower() for each in granted}),
        *sorted(numbers - {each.id for each in granted}),
    ]
    if strange or not chosen:
        text = "There is at least one repository that does not exist or is not accessible to the parent installation."
        raise _not_granted(text, "repositories", ", ".join(map(str, strange)) or "none is named")
    return chosen


def chosen_permissions(app: App, wanted: Mapping[str, object] | None) -> Permissions:
    """The permissions that are asked for. Raises `Unprocessable` when one of them is more than the App has."""
    if wanted is None:
        return app.permissions
    levels: dict[object, Level] = {"read": "read", "write": "write"}
    # As on GitHub, every App reads metadata.
    granted = {"metadata": "read", **app.permissions}
    excess = [
        f"{name}={level}, held: {granted.get(name, 'none')}"
        for name, level in wanted.items()
        if level not in ("read", "write") or granted.get(name, "none") not in (level, "write")
    ]
    if excess:
        text = "The permissions requested are not granted to this installation."
        raise _not_granted(text, "permissions", "; ".join(excess))
    return {"metadata": "read", **{name: levels[level] for name, level in wanted.items()}}


def _not_granted(text: str, field: str, message: str) -> Unprocessable:
    error = {"resource": "Installation", "field": field, "code": "invalid", "message": message}
    return Unprocessable(text, [error])


def new_installation_token(
    world: World, app: App, installation: Installation, wanted: Wanted = Wanted()
) -> tuple[str, Token]:
    """A token that nobody has had before, for an hour: for what was granted, or for what is asked of it.

    Raises `Unprocessable` for what was not granted.
    """
    chosen = chosen_repositories(world, app, installation, wanted)
    permissions = chosen_permissions(app, wanted.permissions)
    text = f"ghs_{fresh_token()}"
    token = add_token(
        world,
        world.user(app.bot_id),
        text,
        kind="installation",
        permissions=permissions,
        account_id=installation.account_id,
        repository_ids=tuple(each.id for each in chosen) if wanted.is_narrowed else None,
        expires_at=world.clock.now() + TOKEN_LIFE,
    )
    return text, token
