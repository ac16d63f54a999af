"""The tokens that a hub's own directory keeps: whoever may read the directory may use them."""

import secrets
from pathlib import Path

ADMIN = "admin.token"
PAGES = "pages.token"
LOGS = "logs.token"
"""Signs the addresses of logs."""


def kept_token(directory: Path, name: str) -> str:
    """The token of that name, in a file that only its owner reads; made when there is none."""
    file = directory / name
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_hex(20) + "\n")
    return file.read_text().strip()


def pages_link(directory: Path, page: str) -> str:
    """The address that lets a browser in to the pages of private repositories, and shows the page."""
    return f"{page}?token={kept_token(directory, PAGES)}"
