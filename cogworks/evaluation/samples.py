"""The bundled instances: three small libraries with faults in them, and what a model said of each."""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

_LEFT_BEHIND = frozenset({"__pycache__", ".pytest_cache", "misses"})


def sample_repositories() -> Mapping[str, Mapping[str, str]]:
    """Name -> every file of that library: path -> text."""
    found: dict[str, dict[str, str]] = {}
    for path, text in _texts(_folder() / "repositories"):
        name, _, rest = path.partition("/")
        found.setdefault(name, {})[rest] = text
    return found


def sample_cases() -> Mapping[str, Mapping[str, Any]]:
    """File name -> instance, as SWE-bench writes it, without the commit it starts from."""
    return {path: json.loads(text) for path, text in _texts(_folder() / "instances")}


def sample_recordings() -> Mapping[str, str]:
    """`<instance>/<file>` -> text of the recorded replies."""
    return dict(_texts(_folder() / "cassettes"))


def _folder() -> Traversable:
    return files("cogworks.evaluation") / "bundled"


def _texts(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name in _LEFT_BEHIND:
            continue
        if entry.is_dir():
            yield from _texts(entry, f"{prefix}{entry.name}/")
        else:
            # Bytes: what was recorded is compared to the last character.
            yield f"{prefix}{entry.name}", entry.read_bytes().decode()
