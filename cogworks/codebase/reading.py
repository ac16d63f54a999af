"""Reads files below one directory as text, whatever path somebody names."""

from pathlib import Path

from cogworks.codebase.changes import path_problem
from cogworks.codebase.confined import read_file


def read_text(root: Path, path: str) -> str | None:
    """The text of a file below `root` as it lies there; None when there is none that is text in UTF-8, or the path leads elsewhere."""
    file = read_file(root, path) if path_problem(path) is None else None
    try:
        return file.data.decode() if file else None
    except UnicodeDecodeError:
        return None
