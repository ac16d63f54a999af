"""What of a repository is not laid out for commands that run its code."""

import shutil
from collections.abc import Callable
from pathlib import PurePath

_CONFIGURATION, _HELD_OUT = ".cogworks", "scenarios"
"""Scenarios are held back from those who write code; a test that could read them would give them away."""


def left_out(*names: str) -> Callable[[str, list[str]], set[str]]:
    """For `copy_folder`: history, scenarios that are held back, and what has one of these names.

    History is no business of tests, and a worktree's link leads out of the copy.
    """
    named = shutil.ignore_patterns(".git", *names)

    def chosen(folder: str, entries: list[str]) -> set[str]:
        held_out = {_HELD_OUT} if PurePath(folder).name == _CONFIGURATION else set[str]()
        return {*named(folder, entries), *held_out.intersection(entries)}

    return chosen
