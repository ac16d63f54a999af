"""Which credential is used when several are there."""

import os
import stat
from pathlib import Path

import pytest

from cogworks.errors import ConfigurationError, PermissionRefused, UsageError
from cogworks.github.app_tokens import AppTokens
from cogworks.github.credentials import TokenSource, credential, gh_token
from cogworks.github.meter import Requests
from cogworks.settings.config import read_environment
from tests.hub.apps import app_key

APP = {"COGWORKS_GITHUB_APP_ID": "5", "COGWORKS_GITHUB_APP_PRIVATE_KEY": app_key()[0]}


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A search path whose `gh` is logged in at github.com, and fails everywhere else."""
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text('#!/bin/sh\n[ "$*" = "auth token --hostname github.com" ] && echo gho_login || exit 1\n')
    gh.chmod(gh.stat().st_mode | stat.S_IXUSR)
    return f"{gh.parent}{os.pathsep}/usr/bin{os.pathsep}/bin"


def chosen(
    environ: dict[str, str], path: str, *, server: str = "https://github.com"
) -> tuple[TokenSource, str]:
    return credential(
        read_environment(environ),
        server_url=server,
        rest_url="https://api.github.com",
        repository="o/r",
        meter=Requests(),
        child_environment={"PATH": path},
    )


@pytest.mark.parametrize(
    ("environ", "token", "source"),
    [
        (
            {"COGWORKS_GITHUB_TOKEN": "a", "GH_TOKEN": "b", "GITHUB_TOKEN": "c", **APP},
            "a",
            "`COGWORKS_GITHUB_TOKEN`",
        ),
        ({"GH_TOKEN": "b", "GITHUB_TOKEN": "c", **APP}, "b", "`GH_TOKEN`"),
        ({"GITHUB_TOKEN": "c", **APP}, "c", "`GITHUB_TOKEN`"),
        ({}, "gho_login", "`gh auth token`"),
    ],
    ids=["own", "gh", "actions", "login"],
)
def test_the_first_token_of_the_order_is_used(
    environ: dict[str, str], token: str, source: str, path: str
) -> None:
    found, where = chosen(environ, path)

    assert (found.token(), where) == (token, source)


@pytest.mark.parametrize("variable", ["COGWORKS_GITHUB_TOKEN", "COGWORKS_GITHUB_APP_ID"])
def test_a_credential_with_stray_characters_is_refused_and_no_other_is_used(variable: str, path: str) -> None:
    with pytest.raises(ConfigurationError, match=f"`{variable}` holds a blank or a line break") as refused:
        chosen({**APP, variable: "s3 cret"}, path)

    assert "cret" not in str(refused.value)


def test_a_login_with_stray_characters_is_refused(tmp_path: Path) -> None:
    gh = tmp_path / "gh"
    gh.write_text("#!/bin/sh\necho 'gho_s3 cret'\n")
    gh.chmod(0o755)

    with pytest.raises(ConfigurationError, match="what it prints holds a blank or a line break") as refused:
        chosen({}, f"{tmp_path}:/usr/bin:/bin")

    assert "cret" not in str(refused.value)


def test_an_app_that_somebody_configured_comes_before_whoever_is_logged_in(path: str) -> None:
    found, where = chosen(APP, path)

    assert isinstance(found, AppTokens)
    assert where == "GitHub App 5"


def test_a_login_at_another_server_is_not_used(path: str) -> None:
    with pytest.raises(PermissionRefused, match="there is no GitHub token"):
        chosen({}, path, server="https://ghe.example")


def test_nothing_at_all_is_told_with_every_way_to_change_it(tmp_path: Path) -> None:
    with pytest.raises(PermissionRefused) as caught:
        chosen({}, str(tmp_path))
    for way in ("COGWORKS_GITHUB_TOKEN", "COGWORKS_GITHUB_APP_ID", "gh auth login"):
        assert way in str(caught.value)


@pytest.mark.parametrize("given", list(APP))
def test_half_an_app_is_told_what_is_missing(given: str, path: str) -> None:
    (other,) = set(APP) - {given}

    with pytest.raises(PermissionRefused, match=f"needs `{other}` as well"):
        chosen({given: APP[given]}, path)


def test_a_key_that_cannot_be_found_is_a_matter_of_configuration(path: str) -> None:
    with pytest.raises(UsageError, match="neither a PEM nor a file"):
        chosen({**APP, "COGWORKS_GITHUB_APP_PRIVATE_KEY": "/nowhere/key.pem"}, path)


def test_a_login_program_that_hangs_is_not_waited_for(
    tmp_path: Path,
) -> None:
    gh = tmp_path / "gh"
    gh.write_text("#!/bin/sh\nexec sleep 60\n")
    gh.chmod(0o755)

    assert gh_token("https://github.com", {"PATH": f"{tmp_path}:/usr/bin:/bin"}, limit_s=0.2) is None
