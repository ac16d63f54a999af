"""Fixtures of the hub's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub.bench import Bench
from tests.hub.graphql_world import Hub, running_hub


@pytest.fixture
def graphql_hub(tmp_path: Path) -> Iterator[Hub]:
    """A fresh hub with `octo/demo`, asked in-process."""
    with running_hub(tmp_path) as hub:
        yield hub


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A world in this process with people, a repository and a standing clock."""
    made = Bench(tmp_path / "hub")
    yield made
    made.world.close()
