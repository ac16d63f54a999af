"""Fixtures of the hub's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub.graphql_world import Hub, running_hub


@pytest.fixture
def graphql_hub(tmp_path: Path) -> Iterator[Hub]:
    """A fresh hub with `octo/demo`, asked in-process."""
    with running_hub(tmp_path) as hub:
        yield hub
