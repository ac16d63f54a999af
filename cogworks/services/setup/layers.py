"""What a setup or a build leaves for the runs of tests: a layer, laid into each copy of the repository."""

import os
import shutil
from pathlib import Path

HOME, FILES = "home", "files"
"""Folders of what a setup leaves: what lies in the home of every run, and what is laid into every copy of the repository."""


def lay_over(layer: Path, copy: Path) -> None:
    """Put the files and links of a layer where the copy has nothing of that name; no link of either is followed."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        for entry in sorted(os.scandir(layer / below), key=lambda entry: entry.name):
            path = f"{below}{entry.name}"
            target = copy / path
            if entry.is_dir(follow_symlinks=False):
                if not os.path.lexists(target):
                    target.mkdir()
                if target.is_dir() and not target.is_symlink():
                    waiting.append(f"{path}/")
            elif not os.path.lexists(target):
                shutil.copy2(entry.path, target, follow_symlinks=False)
