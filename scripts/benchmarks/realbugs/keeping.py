"""Results of the benchmark on the disk, each under the state of the code that made it: what other code found is done anew."""

import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripts.benchmarks.published import CACHE

RESULTS = CACHE.parent / "realbugs"
_HERE = Path(__file__).parent
_PACKAGE = _HERE.parents[2] / "cogworks"
FINDING = (_HERE, _PACKAGE / "repair" / "transact" / "validators.py", _PACKAGE / "services" / "python")
"""What decides which bugs there are: the rule, and what it asks about signatures and environments."""
REPAIRING = (_HERE, _PACKAGE)
"""What decides what becomes of a bug, and at which rank it stands."""
_LEFT_OUT = "__pycache__"


def harvests_in(results: Path) -> Path:
    """The folder of what this code found, made if it is not there."""
    return _folder(results, "harvests", FINDING)


def repairs_in(results: Path) -> Path:
    """The folder of what this code repaired, made if it is not there."""
    return _folder(results, "repairs", REPAIRING)


def ranks_in(results: Path) -> Path:
    """The folder of the ranks that this code gave, made if it is not there."""
    return _folder(results, "ranks", REPAIRING)


def state_of(roots: Sequence[Path]) -> str:
    """Twelve hexadecimal digits that are others when a file of these has changed, come, gone or moved, or with another Python.

    Args:
        roots: files, and folders with everything below them that is not compiled.
    """
    digest = hashlib.sha256(str(sys.implementation.cache_tag).encode())
    for name, path in _files(roots):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{name}\0{content}\n".encode())
    return digest.hexdigest()[:12]


def _folder(results: Path, kind: str, roots: Sequence[Path]) -> Path:
    folder = results / f"{kind}-{state_of(roots)}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _files(roots: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    for root in roots:
        below = [root] if root.is_file() else sorted(root.rglob("*"))
        for path in below:
            if path.is_file() and _LEFT_OUT not in path.parts:
                yield path.relative_to(root.parent).as_posix(), path
