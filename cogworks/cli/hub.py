"""`cogworks hub`: the embedded GitHub, to try things out on this machine."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from cogworks.hub.records import User
    from cogworks.hub.world import World

_DIRECTORY = click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Where the hub keeps everything; copying the directory copies the hub.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")


@click.group("hub")
def hub() -> None:
    """Run an embedded GitHub: REST, GraphQL, git and web pages.

    It listens on a loopback port, so only this machine reaches it.

    \b
    Example:
      cogworks hub add-user octo --dir /tmp/hub
      cogworks hub add-token octo s3cret --dir /tmp/hub
      cogworks hub add-repo octo/hello --from ./hello --dir /tmp/hub
      cogworks hub serve --port 8730 --dir /tmp/hub
    """


@hub.command("serve")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="0 takes a free one."
)
@click.option(
    "--clock-offset",
    "clock_offset_s",
    type=float,
    default=0.0,
    metavar="SECONDS",
    help="Run ahead of this machine's clock, or behind it.",
)
@click.option(
    "--enterprise",
    "--ghes",
    is_flag=True,
    help="An older GitHub Enterprise Server: no dependencies between issues.",
)
@click.option(
    "--late-cross-references",
    "cross_reference_delay_s",
    type=click.IntRange(0),
    default=0,
    metavar="SECONDS",
    help="How late timelines show that something mentions an issue.",
)
@click.option(
    "--faults",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A TOML file with [[fault]] tables: what goes wrong, with which request and when.",
)
@_DIRECTORY
def serve(
    port: int,
    clock_offset_s: float,
    enterprise: bool,
    cross_reference_delay_s: int,
    faults: Path | None,
    directory: Path,
) -> None:
    """Serve the hub until it is ended by SIGTERM or Ctrl-C.

    It prints its address, which it writes to hub.json in the directory too, and a link that lets a browser in to the pages
    of private repositories. Only this machine reaches it.

    \b
    Examples:
      cogworks hub serve --port 8730 --dir /tmp/hub
      cogworks hub serve --faults plan.toml --dir /tmp/hub
    """
    from cogworks.hub.faults import plan_from_toml
    from cogworks.hub.server import serve as run

    run(
        directory,
        port,
        clock_offset_s=clock_offset_s,
        has_graphql_extensions=not enterprise,
        cross_reference_delay_s=cross_reference_delay_s,
        plan=plan_from_toml(faults.read_text(encoding="utf-8"), source=str(faults)) if faults else None,
    )


@hub.command("add-user")
@click.argument("login")
@click.option(
    "--kind",
    type=click.Choice(["User", "Bot", "Organization"]),
    default="User",
    show_default=True,
    help="A Bot's login ends in [bot].",
)
@click.option("--name", help="As git shows it.")
@click.option("--email", help="For commits; GitHub's no-reply form when missing.")
@_DIRECTORY
@_JSON
def add_user(
    login: str,
    kind: Literal["User", "Bot", "Organization"],
    name: str | None,
    email: str | None,
    directory: Path,
    as_json: bool,
) -> None:
    """Add a user; one that exists stays as it is.

    Example: cogworks hub add-user octo --dir /tmp/hub
    """
    from cogworks.hub import seeding

    with _world(directory) as world:
        user = seeding.add_user(world, login, kind=kind, name=name, email=email)
        _say({"login": user.login, "id": user.id, "kind": user.kind}, f"user {user.login}", as_json)


@hub.command("add-token")
@click.argument("login")
@click.argument("token", required=False)
@click.option(
    "--kind",
    type=click.Choice(["personal", "installation", "actions"]),
    default="personal",
    show_default=True,
    help="actions: what a workflow gets as GITHUB_TOKEN.",
)
@click.option(
    "--permission",
    "permissions",
    multiple=True,
    metavar="NAME=LEVEL",
    help="Restrict the token, e.g. contents=write; may be repeated. Without it the token may do what the user may.",
)
@_DIRECTORY
@_JSON
def add_token(
    login: str,
    token: str | None,
    kind: Literal["personal", "installation", "actions"],
    permissions: tuple[str, ...],
    directory: Path,
    as_json: bool,
) -> None:
    """Let TOKEN (a new one when missing, printed once) speak for a user.

    Example: cogworks hub add-token octo --permission contents=write --permission issues=write --dir /tmp/hub
    """
    from cogworks.hub import seeding

    with _world(directory) as world:
        user = _user(world, login)
        text = token or seeding.fresh_token()
        granted = seeding.parse_permissions(permissions) if permissions else None
        seeding.add_token(world, user, text, kind=kind, permissions=granted)
        _say({"login": user.login, "token": text}, text, as_json)


@hub.command("add-app")
@click.argument("bot")
@click.argument("account")
@click.option(
    "--public-key",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    required=True,
    help="PEM; the App signs with the other half.",
)
@click.option(
    "--permission", "permissions", multiple=True, metavar="NAME=LEVEL", help="E.g. contents=write; repeat it."
)
@_DIRECTORY
@_JSON
def add_app(
    bot: str, account: str, public_key: Path, permissions: tuple[str, ...], directory: Path, as_json: bool
) -> None:
    """Add a GitHub App that acts as BOT and is installed on ACCOUNT; prints the App's number.

    \b
    Example:
      openssl genrsa -out app.pem 2048 && openssl rsa -in app.pem -pubout -out app.pub
      cogworks hub add-user 'cogs[bot]' --kind Bot --dir /tmp/hub
      cogworks hub add-app 'cogs[bot]' octo --public-key app.pub --permission contents=write --dir /tmp/hub
    """
    from cogworks.hub import apps, seeding

    with _world(directory) as world:
        granted = seeding.parse_permissions(permissions)
        app = apps.add_app(world, _user(world, bot), public_key=public_key.read_text(), permissions=granted)
        installation = apps.install_app(world, app, _user(world, account))
        _say({"app_id": app.id, "installation_id": installation.id}, str(app.id), as_json)


@hub.command("add-repo")
@click.argument("full_name", metavar="OWNER/NAME")
@click.option(
    "--from",
    "tree",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A directory whose files become the first commit.",
)
@click.option("--public", is_flag=True, help="Readable without a token.")
@click.option("--delete-branch-on-merge", is_flag=True, help="As the setting of that name.")
@click.option("--actions-may-open-pull-requests", is_flag=True, help="As the setting for workflows.")
@click.option(
    "--collaborator",
    "collaborators",
    multiple=True,
    metavar="LOGIN=ROLE",
    help="read, triage, write, maintain or admin; may be repeated.",
)
@_DIRECTORY
@_JSON
def add_repo(
    full_name: str,
    tree: Path | None,
    public: bool,
    delete_branch_on_merge: bool,
    actions_may_open_pull_requests: bool,
    collaborators: tuple[str, ...],
    directory: Path,
    as_json: bool,
) -> None:
    """Add a repository; one that exists keeps its settings.

    Example: cogworks hub add-repo octo/hello --from ./hello --collaborator ada=write --dir /tmp/hub
    """
    from cogworks.hub import seeding

    with _world(directory) as world:
        repository = seeding.create_repository(
            world,
            full_name,
            tree=tree,
            settings=seeding.Settings(
                is_private=not public,
                delete_branch_on_merge=delete_branch_on_merge,
                actions_may_open_pull_requests=actions_may_open_pull_requests,
            ),
        )
        for word in collaborators:
            login, _, role = word.partition("=")
            seeding.add_collaborator(world, repository, _user(world, login), role or "write")
        name = repository.full_name
        _say({"repository": name, "default_branch": repository.default_branch}, f"repository {name}", as_json)


@contextmanager
def _world(directory: Path) -> Iterator["World"]:
    from cogworks.hub.world import World

    world = World(directory)
    try:
        yield world
    finally:
        world.close()


def _user(world: "World", login: str) -> "User":
    from cogworks.errors import UsageError
    from cogworks.hub.records import User

    user = world.store.find(User, login.lower())
    if user is None:
        raise UsageError(
            f"the hub in {world.directory} has no user {login!r}; "
            f"add it first: cogworks hub add-user {login} --dir {world.directory}"
        )
    return user


def _say(facts: dict[str, object], line: str, as_json: bool) -> None:
    click.echo(json.dumps(facts) if as_json else line)
