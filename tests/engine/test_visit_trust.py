"""Whose items run code only in complete isolation, and what it costs to know."""

from collections.abc import Mapping, Sequence

import pytest

from cogworks.engine.visit import needs_walls
from cogworks.forge.facts import Account
from cogworks.forge.snapshot import Snapshot
from cogworks.settings.config import CommandConfig, Config
from cogworks.settings.sections import IsolationConfig, LlmConfig
from cogworks.vocabulary import Login
from tests.world import World

ZOE = Account(login=Login("zoe"), id=4711)
HELPER = Account(login=Login("helper"), id=4712, is_bot=True)
CONFIG = Config(llm=LlmConfig(model="claude-sonnet-5-5"))


class Permissions:
    def __init__(self, permission: str) -> None:
        self.permission = permission
        self.asked: list[Login] = []

    def permissions(self, snapshot: Snapshot, people: Sequence[Login]) -> Mapping[Login, str]:
        self.asked += people
        return dict.fromkeys(people, self.permission)


def item_of(author: Account | None, known: Mapping[Login, str] | None = None) -> Snapshot:
    snapshot = World().snapshot()
    issue = snapshot.issue.model_copy(update={"author": author})
    return snapshot.model_copy(update={"issue": issue, "permissions": known or {}})


@pytest.mark.parametrize(
    ("permission", "is_needed"), [("write", False), ("admin", False), ("triage", True), ("none", True)]
)
def test_an_author_who_may_not_write_is_not_trusted(permission: str, is_needed: bool) -> None:
    source = Permissions(permission)

    assert needs_walls(source, item_of(ZOE), CONFIG, is_safety_critical=False) is is_needed
    assert source.asked == [ZOE.login]


def test_what_is_known_is_not_asked_again() -> None:
    source = Permissions("none")

    trusted = item_of(ZOE, {ZOE.login: "write"})
    assert not needs_walls(source, trusted, CONFIG, is_safety_critical=False)
    assert needs_walls(source, item_of(ZOE, {ZOE.login: "read"}), CONFIG, is_safety_critical=False)
    assert source.asked == []


def test_an_author_who_is_gone_and_an_app_that_is_not_named_are_not_trusted() -> None:
    source = Permissions("admin")
    named = CONFIG.model_copy(update={"commands": CommandConfig(allowed_apps=("helper[bot]",))})

    assert needs_walls(source, item_of(None), CONFIG, is_safety_critical=False)
    assert needs_walls(source, item_of(HELPER), CONFIG, is_safety_critical=False)
    assert not needs_walls(source, item_of(HELPER), named, is_safety_critical=False)
    assert source.asked == []


def test_safety_and_the_team_s_wish_need_walls_whoever_wrote_the_issue() -> None:
    source = Permissions("admin")
    always = CONFIG.model_copy(update={"isolation": IsolationConfig(require="always")})

    assert needs_walls(source, item_of(ZOE), CONFIG, is_safety_critical=True)
    assert needs_walls(source, item_of(ZOE), always, is_safety_critical=False)
    assert source.asked == []
