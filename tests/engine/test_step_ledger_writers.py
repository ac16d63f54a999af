"""Whose ledger an item goes on from, where the repository names its writers."""

import pytest

from cogworks.errors import SafetyHalt
from tests.step_fakes import Runner
from tests.world import CONFIG, World

NAMED = CONFIG + '\n[ledger]\nwriters = ["Cogs", "deploy-bot"]\n'


def begun(*, author: str = "cogs[bot]", is_signed: bool = True) -> World:
    """An item after its first step, and who made the newest commit of its ledger."""
    world = World(config=NAMED)
    Runner(world).step()
    world.merge(world.pulls[0].number)
    world.ledger_author, world.is_ledger_signed = author, is_signed
    return world


@pytest.mark.parametrize(
    ("author", "is_signed", "said"),
    [
        ("mallory", True, "names `mallory` as its author and is signed by the host"),
        ("cogs[bot]", False, r"names `cogs\[bot\]` as its author and is not signed by the host"),
        ("", True, "names an account that the host does not know as its author"),
    ],
    ids=["another", "pushed", "unknown"],
)
def test_a_ledger_whose_tip_nobody_named_has_made_stops_the_item(
    author: str, is_signed: bool, said: str
) -> None:
    world = begun(author=author, is_signed=is_signed)
    written = len(world.commits)

    with pytest.raises(SafetyHalt, match=said):
        Runner(world).step()

    assert len(world.commits) == written


@pytest.mark.parametrize("author", ["cogs[bot]", "COGS", "deploy-bot"])
def test_a_ledger_that_a_named_account_wrote_goes_on(author: str) -> None:
    world = begun(author=author)
    written = len(world.commits)

    Runner(world).step()

    assert len(world.commits) > written


def test_without_names_nothing_is_compared() -> None:
    world = begun(author="mallory", is_signed=False)
    world.config = CONFIG
    written = len(world.commits)

    Runner(world).step()

    assert len(world.commits) > written
