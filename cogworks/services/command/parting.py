"""A suite that takes too long in parts: which test files there are, and which of them one command runs without the others."""

import time
from collections.abc import Sequence

from cogworks.grammars.languages.registry import language_of
from cogworks.grammars.testing import is_test_file
from cogworks.services.command.recipe import Recipe
from cogworks.services.command.selecting import Asked, Selected, select

_WHOLE = "cannot be told which files to test, so that it is not run in parts"
_REMEDY = "raise `timeout_s` under `[tests]` in `.cogworks/config.toml`"


def files_of_tests(files: Sequence[str]) -> tuple[str, ...]:
    """Those that hold nothing but tests, by the conventions of their languages."""
    return tuple(file for file in files if (spec := language_of(file)) and is_test_file(spec, file))


def units_of(recipe: Recipe, asked: Sequence[Asked]) -> tuple[tuple[Asked, ...], ...]:
    """Tests in groups that one command each runs, and nothing besides; none where they cannot be told apart."""
    groups: dict[str, list[Asked]] = {}
    for test in asked:
        # Go tests a package at a time.
        unit = (
            test.file.rpartition("/")[0] if recipe.runner == "go test" and not recipe.test_one else test.file
        )
        groups.setdefault(unit, []).append(test)
    units = tuple(map(tuple, groups.values()))
    return units if all(_is_alone(recipe, select(recipe, unit)) for unit in units) else ()


def _is_alone(recipe: Recipe, selected: Selected) -> bool:
    return not selected.note and recipe.test not in selected.lines


class Pace:
    """Tells when there is no time for another unit, by the longest until then."""

    def __init__(self, limit_s: float) -> None:
        self._ends_s = time.monotonic() + limit_s
        self._since_s: float | None = None
        self._longest_s = 0.0

    def may_begin(self) -> bool:
        """Whether the next may begin; the first always may."""
        now_s = time.monotonic()
        if self._since_s is not None:
            self._longest_s = max(self._longest_s, now_s - self._since_s)
        is_first, self._since_s = self._since_s is None, now_s
        return is_first or now_s + self._longest_s < self._ends_s

    @property
    def left_s(self) -> float:
        """What is left of the time; never below zero."""
        return max(0.0, self._ends_s - time.monotonic())


def too_long(recipe: Recipe, slow: Sequence[str], limit_s: float) -> str:
    """What to do about a suite that did not come to its end.

    Args:
        slow: the files that alone took too long; none: the runner cannot be told which to run.
    """
    if not slow:
        return f"`{recipe.test}` {_WHOLE}: {_REMEDY}, or name a command for one file as `test_one` in `.cogworks/services.toml`."
    named = ", ".join(f"`{file}`" for file in slow)
    return f"{named} did not come to its end within {round(limit_s, 1):g} s, although it was the first to run: {_REMEDY}, or divide it."
