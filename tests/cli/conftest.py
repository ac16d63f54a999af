"""Fixtures of the commands' tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.planned_item import plan_in
from tests.end_to_end.scene import Scene, copy_of, open_scene


@pytest.fixture(scope="package")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed scene whose item has its plan; copy it before anything is changed."""
    directory = tmp_path_factory.mktemp("planned") / "scene"
    plan_in(directory)
    return directory


@pytest.fixture(scope="package")
def looked_at(planned: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """The item with its plan, for commands that only read."""
    with open_scene(copy_of(planned, tmp_path_factory.mktemp("looked-at") / "scene")) as scene:
        yield scene


@pytest.fixture(scope="module")
def own_scene(planned: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """The item with its plan, for the tests of one module: each leaves it as it found it, or says what it needs."""
    with open_scene(copy_of(planned, tmp_path_factory.mktemp("own") / "scene")) as scene:
        yield scene
