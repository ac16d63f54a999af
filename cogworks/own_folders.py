"""Folders of ours on this machine: what is in them is nobody else's."""

from pathlib import Path

_OWNER_ALONE = 0o700


def own_folder(path: Path) -> Path:
    """The folder, made where it is missing; it, and every one made on the way, is open to its owner alone.

    One that is there keeps its permissions: people may have made it, or share it.
    """
    if not path.is_dir():
        if not path.parent.exists():
            own_folder(path.parent)
        path.mkdir(mode=_OWNER_ALONE, exist_ok=True)
    return path


def closed_folder(path: Path) -> Path:
    """Like `own_folder`, for a folder that nobody but us makes: one that is there is closed to others as well."""
    own_folder(path)
    if path.stat().st_mode & 0o077:
        path.chmod(_OWNER_ALONE)
    return path
