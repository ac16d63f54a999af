"""What this machine's own configuration says of registries; never a credential, and nothing of a repository."""

import tomllib
from pathlib import Path

from cogworks.services.setup.registries import own_registries
from tests.services.asking import laid_out

FILES = {
    ".npmrc": "registry = https://npm.example.com/\n@team:registry=https://user:secret@team.example.com/\n//x/:_authToken=t\n",
    ".cargo/config.toml": '[source.crates-io]\nreplace-with = "m"\n[source.m]\nregistry = "sparse+https://crates.example.com/"\n',
    ".config/go/env": "GOPROXY=https://go.example.com,direct\n",
}


def test_every_tool_s_own_configuration_is_read_without_credentials(tmp_path: Path) -> None:
    own = own_registries({}, laid_out(tmp_path, FILES), ["https://me:secret@pip.example.com/simple/"])

    assert own.urls == (
        "https://pip.example.com/simple/",
        "https://npm.example.com/",
        "https://team.example.com/",
        "https://go.example.com",
        "sparse+https://crates.example.com/",
    )
    assert dict(own.variables) == {
        "npm_config_registry": "https://npm.example.com/",
        "YARN_NPM_REGISTRY_SERVER": "https://npm.example.com/",
        "GOPROXY": "https://go.example.com",
    }
    assert tomllib.loads(own.cargo) == tomllib.loads(FILES[".cargo/config.toml"])


def test_cargo_s_own_configuration_is_handed_on_without_what_grants_anything(tmp_path: Path) -> None:
    config = (
        '[registries.team]\nindex = "sparse+https://me:secret@team.example.com/"\ntoken = "secret"\n'
        '[net]\noffline = true\n[source.local]\ndirectory = "/x"\n[source.crates-io]\nreplace-with = "local"\n'
    )
    own = own_registries({}, laid_out(tmp_path, {".cargo/config.toml": config}))

    assert tomllib.loads(own.cargo) == {"registries": {"team": {"index": "sparse+https://team.example.com/"}}}


def test_variables_come_before_files(tmp_path: Path) -> None:
    settings = {"NPM_CONFIG_REGISTRY": "https://other.example.com", "GOPROXY": "off"}
    own = own_registries(settings, laid_out(tmp_path, FILES))

    assert dict(own.variables) == {
        "npm_config_registry": "https://other.example.com",
        "YARN_NPM_REGISTRY_SERVER": "https://other.example.com",
    }


def test_a_registry_without_encryption_is_named_to_yarn_which_would_not_ask_it(tmp_path: Path) -> None:
    settings = {"npm_config_registry": "http://me:secret@npm.example.com:4873/"}

    assert dict(own_registries(settings, tmp_path).variables) == {
        "npm_config_registry": "http://npm.example.com:4873/",
        "YARN_NPM_REGISTRY_SERVER": "http://npm.example.com:4873/",
        "YARN_UNSAFE_HTTP_WHITELIST": "npm.example.com",
    }


def test_without_configuration_and_with_broken_files_there_is_nothing(tmp_path: Path) -> None:
    assert own_registries({}, tmp_path) == ((), (), "")
    broken = {".cargo/config.toml": "[[[", ".npmrc": "\0\xff registry", ".config/go/env": "GOPROXY="}
    assert own_registries({}, laid_out(tmp_path, broken)) == ((), (), "")
