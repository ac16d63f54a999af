"""What npm packages do without while they are installed, where the host that they fetch from is out of a setup's reach."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from cogworks.services.setup.registries import HTTPS, Registries

_WITHOUT: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "storage.googleapis.com": {
            "PUPPETEER_SKIP_DOWNLOAD": "true",
            # Its name before version 20, and that of its siblings.
            "PUPPETEER_SKIP_CHROMIUM_DOWNLOAD": "true",
            "CHROMEDRIVER_SKIP_DOWNLOAD": "true",
        },
        "cdn.playwright.dev": {"PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"},
        "download.cypress.io": {"CYPRESS_INSTALL_BINARY": "0"},
        "downloads.sentry-cdn.com": {"SENTRYCLI_SKIP_DOWNLOAD": "1"},
        "github.com": {"ELECTRON_SKIP_BINARY_DOWNLOAD": "1"},
    }
)
"""Host -> the variables by which packages that would fetch a program from there leave it out."""
_HEADERS_FROM = "nodejs.org"
_HEADER = "include/node/node_version.h"


def without_downloads(registries: Registries, search_path: str) -> dict[str, str]:
    """The variables of a setup: a browser that cannot be fetched would end the installation of everything else.

    Args:
        search_path: where its programs are, for the headers of Node.js lie beside the program.
    """
    variables = {
        name: value
        for host, by_name in _WITHOUT.items()
        if registries.fitting(host, HTTPS) is None
        for name, value in by_name.items()
    }
    if registries.fitting(_HEADERS_FROM, HTTPS) is None and (folder := _node_folder(search_path)):
        variables["npm_config_nodedir"] = folder
    return variables


def _node_folder(search_path: str) -> str:
    """Where Node.js is installed with the headers that native modules are compiled with; empty where these are missing."""
    program = shutil.which("node", path=search_path)
    folder = Path(os.path.realpath(program)).parent.parent if program else None
    return str(folder) if folder is not None and (folder / _HEADER).is_file() else ""
