"""What `docs/hub.md` says is tested."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TABLE = re.findall(r"`([\w/]+\.py)::(\w+)`", (HERE.parents[1] / "docs" / "hub.md").read_text())


@pytest.mark.parametrize(("file", "name"), TABLE)
def test_every_test_that_the_documentation_names_is_there(file: str, name: str) -> None:
    assert f"def {name}(" in (HERE / file).read_text()


def test_the_documentation_names_a_test_for_every_behaviour() -> None:
    assert len(TABLE) > 20
