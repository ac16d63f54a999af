"""The order of the suite: what takes long begins first, so that no process is left alone with it at the end."""

from pathlib import Path

import pytest

LONG = ("end_to_end", "chaos", "bench", "action", "commands", "polling", "demo", "hub")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long folders first; inside a folder and between the others the order stays as it is."""
    root = Path(__file__).parent
    items.sort(key=lambda item: _place(item.path.relative_to(root).parts[0]))


def _place(folder: str) -> int:
    return LONG.index(folder) if folder in LONG else len(LONG)
