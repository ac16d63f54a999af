"""Which scripts of `package.json` make the files that its tests are run from; a pure rule from texts."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from cogworks.services.command.calls import steps_of
from cogworks.services.command.fetching import workflows_by_rank
from cogworks.services.command.recipe import Recipe

_RUN = re.compile(
    r"(?m)^[ \t]*(?:-[ \t]+)?(?:run:[ \t]*)?['\"]?(?:(?:npm|pnpm|yarn)(?:[ \t]+(?:run|run-script))?|node[ \t]+--run)[ \t]+"
    r"(\w[\w:.-]{0,79})[ \t]*['\"]?[ \t]*$"
)
_BEGINS = re.compile(r"\bactions/checkout\b")
"""What a job of a workflow starts with."""
_BUILDS = re.compile(r"(?:pre)?(?:builds?|compile|transpile|tsc|bundle|dist)(?:[:_-][\w:.-]{1,60})?")
_LIKELY = ("build", "compile", "tsc", "transpile", "bundle")
"""What a script that builds is called where no workflow runs one."""
_TESTS = re.compile(r"\btests?\b")
_LOADING = re.compile(r"-r|--(?:require|import|loader|experimental-loader)")
_PLACE = re.compile(r"[\"']?(?:\./)?([\w.-]{1,80})/")
"""No folder begins with `@`: that is a package."""
_ELSEWHERE = frozenset({"node_modules", "..", "."})


def with_build(
    recipe: Recipe, scripts: Mapping[str, str], texts: Mapping[str, str], starter: str = ""
) -> Recipe:
    """The recipe whose test command begins with the scripts that make what it runs, if the repository lacks that.

    Args:
        scripts: of the manifest, by name.
        texts: of all files at the root by their names, and of workflows by their paths.
        starter: what a program needs before it to find its packages, with a space behind; empty: nothing.
    """
    if recipe.runner == "script" or "&&" in recipe.test:
        # Of a script that does more than run tests the rest may well be the build.
        return recipe
    folder = next((place for place in _places(recipe.test.split()) if place not in texts), "")
    names, source = _building(scripts, texts) if folder else ((), "")
    if not names:
        return recipe
    if starter:
        commands = [f"{starter}run {name}" for name in names]
    else:
        commands = [step.plain for name in names for step in steps_of(f"npm run {name}", scripts, "test")]
    listed = ", ".join(f"`{name}`" for name in names)
    as_there = f", as in `{source}`" if source else ""
    note = f"`{folder}/` is not in the repository, so the tests begin with the script {listed}{as_there}"
    return recipe._replace(test=" && ".join([*commands, recipe.test]), notes=(note, *recipe.notes))


def _places(words: Sequence[str]) -> list[str]:
    """The folders at the root in which a command looks; what it loads by `--require` and the like is a package."""
    own = (word for before, word in pairwise(words) if not _LOADING.fullmatch(before))
    matches = map(_PLACE.match, own)
    return [match[1] for match in matches if match and match[1] not in _ELSEWHERE]


def _building(scripts: Mapping[str, str], texts: Mapping[str, str]) -> tuple[tuple[str, ...], str]:
    """The scripts that build, and the workflow that says so; none where nothing does."""
    for path in workflows_by_rank(texts):
        if names := _before_tests(texts[path], scripts):
            return names, path
    likely = (name for name in _LIKELY if name in scripts and not _TESTS.search(scripts[name]))
    return tuple(likely)[:1], ""


def _before_tests(workflow: str, scripts: Collection[str]) -> tuple[str, ...]:
    """The scripts that build in a job before it runs the script `test`; none where no job runs both."""
    begins = [0, *(match.start() for match in _BEGINS.finditer(workflow)), len(workflow)]
    for start, end in pairwise(begins):
        names = [match[1] for match in _RUN.finditer(workflow, start, end)]
        before = names[: names.index("test")] if "test" in names else []
        building = tuple(name for name in before if name in scripts and _BUILDS.fullmatch(name))
        if building:
            return building
    return ()
