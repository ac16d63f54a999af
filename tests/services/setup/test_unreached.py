"""What packages are told to leave out in a setup, by the hosts that it may reach."""

from pathlib import Path

import pytest

from cogworks.services.setup.registries import PUBLIC, Host, Registries
from cogworks.services.setup.unreached import without_downloads


def node_in(folder: Path, *, headers: bool) -> str:
    """A search path with a program `node`, beside which its headers lie or not."""
    (folder / "real/bin").mkdir(parents=True)
    (folder / "real/bin/node").touch(mode=0o755)
    (folder / "bin").mkdir()
    (folder / "bin/node").symlink_to(folder / "real/bin/node")
    if headers:
        (folder / "real/include/node").mkdir(parents=True)
        (folder / "real/include/node/node_version.h").touch()
    return str(folder / "bin")


@pytest.mark.parametrize(
    ("host", "name", "value"),
    [
        ("storage.googleapis.com", "PUPPETEER_SKIP_DOWNLOAD", "true"),
        ("cdn.playwright.dev", "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1"),
        ("download.cypress.io", "CYPRESS_INSTALL_BINARY", "0"),
        ("downloads.sentry-cdn.com", "SENTRYCLI_SKIP_DOWNLOAD", "1"),
        ("github.com", "ELECTRON_SKIP_BINARY_DOWNLOAD", "1"),
    ],
)
def test_a_program_is_left_out_unless_the_operator_allows_the_host_it_comes_from(
    host: str, name: str, value: str
) -> None:
    assert without_downloads(Registries(), "")[name] == value
    assert name not in without_downloads(Registries((*PUBLIC, Host(host))), "")


def test_native_modules_are_compiled_with_the_headers_beside_the_program(tmp_path: Path) -> None:
    variables = without_downloads(Registries(), node_in(tmp_path, headers=True))

    assert variables["npm_config_nodedir"] == str(tmp_path / "real")


@pytest.mark.parametrize("headers", [True, False])
def test_headers_are_fetched_where_they_are_missing_or_may_be(headers: bool, tmp_path: Path) -> None:
    registries = Registries((*PUBLIC, Host("nodejs.org"))) if headers else Registries()

    assert "npm_config_nodedir" not in without_downloads(registries, node_in(tmp_path, headers=headers))
