"""One validation of a node: what is refused, and all that is said of it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest

from cogworks.errors import CogworksError
from cogworks.nodes.contract import Failed, Outcome


class Row(NamedTuple):
    """One validation: what is refused, and all that is said of it."""

    name: str
    found: Callable[[], Sequence[str]]
    says: tuple[str, ...]


def reason(outcome: Outcome) -> list[str]:
    assert isinstance(outcome, Failed)
    return [outcome.reason]


def raised(act: Callable[[], object]) -> list[str]:
    with pytest.raises(CogworksError) as error:
        act()
    return [str(error.value)]
