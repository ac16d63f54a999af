"""Hubs whose demonstration item was played once; every test goes back to the snapshot it needs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.chaos.large_way import large_way
from tests.chaos.long_talk import LongTalk, long_talk
from tests.chaos.short_way import conflicting, short_way
from tests.chaos.timeline import Theatre, theatre


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    """Played up to the specification."""
    with _played(tmp_path_factory.mktemp("begun"), last="architecture") as opened:
        yield opened


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    """Played to its end."""
    with _played(tmp_path_factory.mktemp("done"), last="") as opened:
        yield opened


@pytest.fixture(scope="session")
def short(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    """An item of the lane `small`, played to its end."""
    with short_way(tmp_path_factory.mktemp("short")) as opened:
        yield opened


@pytest.fixture(scope="session")
def moving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    """An item that moves up from `small`, played to the specification."""
    with short_way(tmp_path_factory.mktemp("moving"), moves_up=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def mending(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    """An item of `small` whose review gives an exact fix, played to its end."""
    with short_way(tmp_path_factory.mktemp("mending"), mends=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    """An issue that is divided, played until its parts are started."""
    with large_way(tmp_path_factory.mktemp("large")) as opened:
        yield opened


@pytest.fixture(scope="session")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    """An item of `small` whose pull request conflicted with a base that moved, played until it is merged in."""
    with conflicting(tmp_path_factory.mktemp("merged")) as opened:
        yield opened


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongTalk]:
    """An item whose code took twelve turns, played up to it."""
    with long_talk(tmp_path_factory.mktemp("talk")) as opened:
        yield opened


@contextmanager
def _played(directory: Path, *, last: str) -> Iterator[Theatre]:
    with theatre(directory) as opened:
        opened.play(last=last)
        yield opened
