"""A pytest plugin that names no test after the folder that it runs in; imports nothing of cogworks.

That folder is another one in each run, and a test with another name would be another test.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import pytest

_WORDS = "_idlist"
"""Of a call in every version of pytest: what stands between the brackets of an id."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cogworks-folders",
        metavar="JSON",
        default="{}",
        help="what stands in a name for each folder that only this run has",
    )


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, Any, None]:
    yield
    _rename(getattr(metafunc, "_calls", ()), json.loads(metafunc.config.getoption("--cogworks-folders")))


def _rename(calls: Sequence[Any], folders: Mapping[str, str]) -> None:
    """Give the parameters of a test other words before anything is made of them: it is chosen by these as well."""
    used = {tuple(getattr(call, _WORDS)) for call in calls}
    for call in calls:
        words = tuple(_plain(str(word), folders) for word in getattr(call, _WORDS))
        if words not in used:
            used.add(words)
            # Most versions have calls that nothing may be set in.
            object.__setattr__(call, _WORDS, list(words))


def _plain(name: str, folders: Mapping[str, str]) -> str:
    for folder in sorted(folders, key=len, reverse=True):
        name = name.replace(f"{folder}/", folders[folder]).replace(folder, folders[folder].rstrip("/") or ".")
    return name
