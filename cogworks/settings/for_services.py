"""What of this process's environment a bundled service gets: where it keeps what it makes, and where packages come from.

Loads next to nothing, for a service may be started before anything else is loaded.
"""

import os
from collections.abc import Mapping
from pathlib import Path

PACKAGE_INDEX_VARIABLES = (
    "PIP_CERT", "PIP_CONFIG_FILE", "PIP_CONSTRAINT", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_INDEX_URL",
    "PIP_NO_INDEX", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_INDEX_URL", "SSL_CERT_FILE",
    "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy",
    "CARGO_HOME", "GOPROXY", "NPM_CONFIG_REGISTRY", "npm_config_registry", "COGWORKS_REGISTRY_HOSTS",
)  # fmt: skip
"""What says where packages come from, and which registries a setup may reach; the bundled services get it, and nobody's code that they run."""
SERVICES_VARIABLE = "COGWORKS_DOMAIN_SERVICES_CONFIG"
"""Names a `services.toml` of this machine."""


def own_environment() -> Mapping[str, str]:
    """That of this process."""
    return os.environ


def work_folder(env: Mapping[str, str]) -> str:
    """Where cogworks keeps what outlives a run."""
    return env.get("COGWORKS_WORK_DIR") or str(_cache_home(env) / "cogworks")


def environments_in(work_dir: str) -> Path:
    """Where the bundled services keep what they install for repositories."""
    return Path(work_dir) / "environments"


def package_index_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that says where packages come from, pip's file of this user included."""
    settings = {name: environ[name] for name in PACKAGE_INDEX_VARIABLES if environ.get(name)}
    home = environ.get("HOME")
    config_home = environ.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    # A service has a home of its own, where pip would look in vain.
    own = Path(config_home) / "pip" / "pip.conf"
    if "PIP_CONFIG_FILE" not in settings and config_home and own.is_file():
        settings["PIP_CONFIG_FILE"] = str(own)
    return settings


def _cache_home(env: Mapping[str, str]) -> Path:
    return Path(env.get("XDG_CACHE_HOME") or Path(env.get("HOME") or "/tmp") / ".cache")  # noqa: S108 - only where a service account has no home
