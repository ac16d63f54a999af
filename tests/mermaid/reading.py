"""What the real mermaid reads in a picture."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent


class Read(NamedTuple):
    """One picture as mermaid understands it."""

    error: str
    """Why it draws nothing; empty when it does."""
    nodes: list[tuple[str, str, str, tuple[str, ...]]]
    """Identifier, text as people see it, shape, classes."""
    edges: list[tuple[str, str, str, str]]
    """From, to, text, stroke."""
    boxes: list[tuple[str, str, tuple[str, ...]]]
    """Identifier, title, nodes in it."""
    classes: frozenset[str]
    kinds: frozenset[str]
    """How the labels are read; `markdown` would format them."""


def read(place: Path, pictures: Sequence[str]) -> list[Read]:
    """What mermaid reads in each picture, all in one Node process."""
    done = subprocess.run(
        ["node", str(HERE / "read.mjs"), str(place)],
        input=json.dumps(list(pictures)),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return [_read(each) for each in json.loads(done.stdout)]


def _read(told: Mapping[str, Any]) -> Read:
    if "error" in told:
        return Read(str(told["error"]), [], [], [], frozenset(), frozenset())
    return Read(
        error="",
        nodes=[(name, text, shape, tuple(classes)) for name, text, shape, classes in told["nodes"]],
        edges=[(start, end, text, stroke) for start, end, text, stroke in told["edges"]],
        boxes=[(name, title, tuple(nodes)) for name, title, nodes in told["boxes"]],
        classes=frozenset(map(str, told["classes"])),
        kinds=frozenset(map(str, told["kinds"])),
    )
