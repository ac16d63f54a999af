"""Reporters of ours that a command of the repository loads, told by a variable, beside whatever reports it has itself."""

import os
import re
from collections.abc import Mapping, Sequence

from cogworks.services.command.recipe import REPORT, Recipe
from cogworks.services.command.rooms import INSIDE, Room, Said

_RUBYS_SUM = re.compile(r"^\d{1,9} (?:runs|tests), \d{1,9} assertions, \d{1,9} failures,", re.MULTILINE)
"""What Minitest and test-unit end with; without it a failure says that nothing ran."""


def is_untold(recipe: Recipe, said_by: Sequence[Said]) -> bool:
    """Whether tests of Ruby ran and nobody heard of them: Minitest from 6 on loads no reporter by itself, test-unit none at all."""
    if recipe.language != "ruby" or not said_by or any(said.report is not None for said in said_by):
        return False
    return all(said.ended.code == 0 or _RUBYS_SUM.search(said.text) for said in said_by)


def reporter(recipe: Recipe, room: Room, asked: Mapping[str, str]) -> dict[str, str]:
    """The variable by which a reporter of ours is found, beside what stands in it already."""
    if recipe.runner.startswith("minitest"):
        return _beside("RUBYLIB", str(INSIDE / "ruby"), os.pathsep, room, asked)
    if is_listened_to(recipe):
        return _beside("NODE_OPTIONS", f"--require {INSIDE / 'tape.cjs'}", " ", room, asked)
    if recipe.report != "node-test" or recipe.runner in ("jasmine", "rspec"):
        return {}
    # Through a variable, for a script of the repository starts node.
    options = f"--test-reporter={INSIDE / 'report.mjs'} --test-reporter-destination={room.report_path}"
    return _beside("NODE_OPTIONS", options, " ", room, asked)


def is_listened_to(recipe: Recipe) -> bool:
    """Whether TAP may come from tape, which says of no test in which file it stands."""
    is_of_node = recipe.language == "typescript" and recipe.report == "tap" and REPORT not in recipe.test
    return is_of_node and recipe.runner in ("tape", "script", "command")


def _beside(name: str, own: str, between: str, room: Room, asked: Mapping[str, str]) -> dict[str, str]:
    there = asked.get(name) or room.configured(name)
    return {name: f"{own}{between}{there}" if there else own}
