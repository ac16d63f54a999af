"""A pytest plugin that loads the others of ours as they are compiled; imports nothing of cogworks, and is named before them.

pytest reads the source of each plugin that it loads by its name, to show more of its assertions, and ours have none.
"""

from __future__ import annotations

import importlib
import os
import shlex
import sys
from collections.abc import Iterator, Sequence

_OWN = "cogworks_"
_AS_THEY_ARE = "PYTEST_DONT_REWRITE"
"""By which pytest knows that it need not warn of a plugin that it comes too late for."""


def _named(words: Sequence[str]) -> Iterator[str]:
    for at, word in enumerate(words):
        if word == "-p":
            yield from words[at + 1 : at + 2]
        elif word.startswith("-p"):
            yield word[2:]


for _name in _named([*sys.argv, *shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))]):
    if _name.startswith(_OWN):
        _module = importlib.import_module(_name)
        _module.__doc__ = f"{_module.__doc__} {_AS_THEY_ARE}"
