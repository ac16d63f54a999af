"""Which command of a script in `package.json` runs its tests, and how that tells of each; a pure rule from texts."""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from cogworks.services.command.recipe import INSIDE, REPORT, Recipe

_MOST_LEVELS = 5
_JOINT = re.compile(r"&&|;")
_CALL = re.compile(r"^(?:npm|pnpm|yarn|bun)(?: run| run-script)? ([\w:.-]{1,80})$")
_CALLS = re.compile(
    r"^(?:npm-run-all|run-s)((?: (?:-[scln]|--(?:silent|sequential|serial|print-label|print-name)))*(?: [\w:][\w:.-]{0,79})+)$"
)
"""Several of them, one after the other."""
_LOOKS = re.compile(
    r"^(?:npx )?(?:eslint|tslint|standard|semistandard|ts-standard|xo|prettier\S{0,20}|prettierx|tsd|dtslint|publint|"
    r"markdownlint\S{0,10}|remark|commitlint|biome|oxlint|jshint|jscs|ls-lint|cspell|size-limit|attw|knip)(?:\s|$)"
)
"""What looks at sources and leaves nothing that a test could need."""


def of_script(script: str, scripts: Mapping[str, str]) -> Recipe:
    """What the script `test` says.

    Args:
        scripts: the others of the manifest, by name, for `npm run NAME` within it.
    """
    source = "package.json, scripts.test"
    steps = _steps(script, scripts, 0)
    running = [(place, made) for place, step in enumerate(steps) if (made := _runner(step)) is not None]
    if len(running) != 1:
        return Recipe(runner="script", test=script, source=source)
    [(place, recipe)] = running
    before = [step for step in steps[:place] if not _LOOKS.match(step)]
    left_out = [step for step in steps if step not in before and step != steps[place]]
    note = (
        f"of the script `test` these do not run with the tests: {', '.join(f'`{each}`' for each in left_out)}"
    )
    test = " && ".join([*before, recipe.test])
    return recipe._replace(test=test, source=source, notes=(note,) if left_out else ())


def of_packages(packages: Mapping[str, str]) -> Recipe:
    """What the packages say of a manifest without the script."""
    for name, made in _RUNNERS.items():
        if name in packages:
            return made(name)._replace(source="package.json, devDependencies")
    note = "package.json names neither a script `test` nor a runner of tests that is known"
    return Recipe(notes=(note,), source="package.json")


def _steps(script: str, scripts: Mapping[str, str], level: int) -> list[str]:
    """The commands of a script one after the other, those of other scripts in the place of their names."""
    found: list[str] = []
    for step in (part.strip() for part in _JOINT.split(script)):
        called = _called(step)
        if called and level < _MOST_LEVELS and all(name in scripts for name in called):
            names = [each for name in called for each in (f"pre{name}", name, f"post{name}")]
            for each in names:
                found += _steps(scripts.get(each, ""), scripts, level + 1)
        elif step:
            found.append(step)
    return found


def _called(step: str) -> list[str]:
    """The scripts that a command calls one after the other."""
    if one := _CALL.match(step):
        return [one[1]]
    several = _CALLS.match(step)
    return [word for word in several[1].split() if not word.startswith("-")] if several else []


def _runner(step: str) -> Recipe | None:
    if _LOOKS.match(step) or "||" in step:
        return None
    line, _, rest = step.partition(" | ")
    for name, made in _RUNNERS.items():
        if re.search(rf"(?:^|[\s/]){name}(?:\s|$)", line):
            recipe = made(line)
            # What stands behind a pipe makes TAP prettier, and tells no test from another.
            return recipe if not rest or recipe.report == "tap" else None
    if re.search(r"\s--test(?:\s|=|$)", step):
        return Recipe(runner="node:test", test=step, report="node-test")
    return None


def _jest(line: str) -> Recipe:
    return Recipe(runner="jest", test=f"{line} --json --outputFile={REPORT}", report="jest-json")


def _vitest(line: str) -> Recipe:
    run = line if re.search(r"\srun\b|--run\b", line) else f"{line} --run"
    return Recipe(runner="vitest", test=f"{run} --reporter=json --outputFile={REPORT}", report="vitest-json")


def _mocha(line: str) -> Recipe:
    # Of its own reports the one for machines names no files in older versions.
    test = f"{line} --reporter {INSIDE}/mocha.cjs"
    return Recipe(runner="mocha", test=test, report="node-test")


def _jasmine(line: str) -> Recipe:
    # It has no report for machines; a helper listens beside the reporter that the repository chose.
    test = f"{line} --helper={INSIDE}/jasmine.cjs"
    return Recipe(runner="jasmine", test=test, report="node-test")


def _speaks_tap(name: str, option: str = "") -> Callable[[str], Recipe]:
    def made(line: str) -> Recipe:
        return Recipe(runner=name, test=" ".join(filter(None, [line, option])), report="tap")

    return made


_RUNNERS: Mapping[str, Callable[[str], Recipe]] = MappingProxyType(
    {
        "vitest": _vitest,
        "jest": _jest,
        "react-scripts test": _jest,
        "mocha": _mocha,
        "jasmine": _jasmine,
        "ava": _speaks_tap("ava", "--tap"),
        "tape": _speaks_tap("tape"),
        "tap": _speaks_tap("tap", "--reporter=tap"),
    }
)
"""How each is started -> what it is asked for."""


def without_places(line: str) -> Sequence[str]:
    """The words of a command without the files and patterns that it names."""
    words = line.split()
    return [word for word in words if not re.search(r"[*/]|\.[cm]?[jt]sx?$", word) or word.startswith("-")]
