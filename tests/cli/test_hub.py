"""`cogworks hub`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cogworks.cli.hub import hub
from cogworks.errors import UsageError
from cogworks.hub.actions.access import authenticate, find_repository
from cogworks.hub.apps import app_of, find_installation
from cogworks.hub.world import World
from tests.hub.apps import app_key, app_signature


def run(*arguments: str) -> str:
    result = CliRunner().invoke(hub, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_hub_is_filled_from_the_command_line(tmp_path: Path) -> None:
    directory, tree = str(tmp_path / "hub"), tmp_path / "tree"
    tree.mkdir()
    (tree / "README.md").write_text("# Hello\n")
    for login in ("octo", "ada"):
        assert run("add-user", login, "--dir", directory) == f"user {login}\n"
    token = json.loads(
        run("add-token", "ada", "--permission", "contents=write", "--dir", directory, "--json")
    )
    made = run(
        "add-repo", "octo/hello", "--from", str(tree), "--collaborator", "ada=triage", "--dir", directory
    )

    world = World(Path(directory))
    try:
        actor = authenticate(world, token["token"])
        repository = find_repository(world, actor, "octo", "hello")
        assert (made, actor.known.login, actor.holds("issues")) == ("repository octo/hello\n", "ada", False)
        assert world.repository_git(repository).resolve("main:README.md") is not None
    finally:
        world.close()


def test_an_app_is_added_and_installed_with_a_key_of_ones_own(tmp_path: Path) -> None:
    key, directory = tmp_path / "app.pub", str(tmp_path / "hub")
    key.write_text(app_key()[1])
    run("add-user", "octo", "--dir", directory)
    run("add-user", "cogs[bot]", "--kind", "Bot", "--dir", directory)

    made = json.loads(
        run("add-app", "cogs[bot]", "octo", "--public-key", str(key), "--dir", directory, "--json")
    )

    world = World(Path(directory))
    try:
        app = app_of(world, app_signature(made["app_id"]))
        assert (app.slug, find_installation(world, app, made["installation_id"]).app_id) == ("cogs", app.id)
    finally:
        world.close()


def test_a_token_for_nobody_is_refused_with_the_next_command(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cogworks hub add-user octo"):
        CliRunner().invoke(hub, ["add-token", "octo", "--dir", str(tmp_path)], catch_exceptions=False)


@pytest.mark.parametrize("command", ["serve", "add-user", "add-token", "add-repo"])
def test_every_help_shows_an_example(command: str) -> None:
    _, heading, examples = run(command, "--help").partition("Example")

    assert heading
    assert f"cogworks hub {command}" in examples
