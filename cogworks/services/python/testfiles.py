"""Which files of a Python repository are tests or serve them."""

from pathlib import PurePosixPath

_FOLDERS = frozenset({"test", "tests", "testing"})


def is_test_file(path: str) -> bool:
    """By its name or a folder above it, as pytest finds tests when nothing else is configured."""
    place = PurePosixPath(path)
    return (
        place.name == "conftest.py"
        or place.stem.startswith("test_")
        or place.stem.endswith("_test")
        or not _FOLDERS.isdisjoint(place.parts[:-1])
    )
