"""One hub per module, whose demonstration item was played once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.chaos.timeline import Theatre, theatre


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    """Played up to the specification."""
    with _played(tmp_path_factory.mktemp("begun"), last="architecture") as opened:
        yield opened


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    """Played up to the plan."""
    with _played(tmp_path_factory.mktemp("planned"), last="planning") as opened:
        yield opened


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    """Played to its end."""
    with _played(tmp_path_factory.mktemp("done"), last="") as opened:
        yield opened


@contextmanager
def _played(directory: Path, *, last: str) -> Iterator[Theatre]:
    with theatre(directory) as opened:
        opened.play(last=last)
        yield opened
