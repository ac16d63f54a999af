"""Which command of a script in `package.json` runs its tests, and how that reports each; a pure rule from texts."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from cogworks.services.command.recipe import INSIDE, REPORT, Recipe

_MOST_LEVELS = 5
_JOINT = re.compile(r"&&|;")
_CALL = re.compile(
    r"^(?:npm|pnpm|yarn|bun)(?: (?:-s|--silent|run|run-script)){0,3} (\w[\w:.-]{0,79})(?: (?:-s|--silent))?$"
)
_CALLS = re.compile(
    r"^(?:npm-run-all|run-s)((?: (?:-[scln]|--(?:silent|sequential|serial|print-label|print-name)))*(?: [\w:][\w:.-]{0,79})+)$"
)
"""Several of them, one after the other."""
_LOOKS = re.compile(
    r"^(?:(?:npx|yarn|pnpm)(?: (?:run|exec))? )?(?:eslint|tslint|standard|semistandard|ts-standard|xo|prettier\S{0,20}|prettierx|tsd|dtslint|publint|"
    r"markdownlint\S{0,10}|remark|commitlint|biome|oxlint|jshint|jscs|ls-lint|cspell|size-limit|attw|knip|eclint|evalmd|es-check|@pkgjs/support)(?:\s|$)"
)
"""What looks at sources and leaves nothing that a test could need."""
_SET = r"\w+=[\w.,:/@+-]* "
_PLAIN_SETS = re.compile(rf"(?:{_SET})+")
_SETS = re.compile(rf"(?:cross-env )?(?:{_SET})+")
_MEASURES = re.compile(r"(?:nyc|c8) (?:-\S+ )*")
"""What may stand before the call of a script; values that a shell reads in its own way are left to it."""
_OF_TAPE = frozenset({"tape", "blue-tape", "tape-catch", "tape-promise"})
"""The package, and those that bring it with them."""
_PROGRAM = re.compile(
    r"^(?:[^\s=]+=\S* )*(?:(?:nyc|c8|cross-env)(?: \S+){0,20}? )?node(?: \S+){0,20}? (?:\S*[/.])?(?:tests?|specs?)(?:[/._-]\S*)?$"
)
"""Node with a file or folder of tests."""


def of_script(
    script: str, scripts: Mapping[str, str], packages: Collection[str] = (), starter: str = ""
) -> Recipe:
    """What the script `test` says.

    Args:
        scripts: the others of the manifest, by name, for `npm run NAME` within it.
        packages: those that the manifest names; they say what a plain program runs.
        starter: what a runner needs before it to find its packages, with a space behind; empty: nothing.
    """
    source = "package.json, scripts.test"
    steps = _steps(script, scripts, 0)
    is_tape = not _OF_TAPE.isdisjoint(packages)
    running = {
        place: step_recipe
        for place, step in enumerate(steps)
        if (step_recipe := _runner(step.command) or (_program(step.command) if is_tape else None)) is not None
    }
    # A suite of tape may run twice; with other runners it would be unknown whose a report is.
    if not running or (len(running) > 1 and any(each.runner != "tape" for each in running.values())):
        return Recipe(runner="script", test=script, source=source)
    recipe = running[max(running)]
    kept = {
        place: step.running(running[place].test, starter) if place in running else step.plain
        for place, step in enumerate(steps[: max(running) + 1])
        if place in running or not _LOOKS.match(step.command)
    }
    left_out = [step.plain for place, step in enumerate(steps) if place not in kept]
    listed = ", ".join(f"`{each}`" for each in left_out)
    note = f"of the script `test` these do not run with the tests: {listed}"
    notes = (note, *recipe.notes) if left_out else recipe.notes
    return recipe._replace(test=" && ".join(kept.values()), source=source, notes=notes)


def of_packages(packages: Mapping[str, str], starter: str = "") -> Recipe:
    """What the packages say of a manifest without the script."""
    for name, make in _RUNNERS.items():
        if name in packages:
            recipe = make(name)
            return recipe._replace(test=f"{starter}{recipe.test}", source="package.json, devDependencies")
    note = "package.json names neither a script `test` nor a runner of tests that is known"
    return Recipe(notes=(note,), source="package.json")


class _Step(NamedTuple):
    """One command of a script, and what stands before it."""

    variables: str
    """As `sh` sets them, with a space behind each; empty: none."""
    measures: str
    """The program that measures coverage meanwhile, with its options and a space; empty: none."""
    command: str

    @property
    def plain(self) -> str:
        """Without what measures it."""
        return f"{self.variables}{self.command}"

    def running(self, command: str, starter: str) -> str:
        """Another command in its place: tests may need what measures them, which loads modules in its own way."""
        own = f"{self.measures}{command}"
        return f"{self.variables}{own if own.startswith('yarn ') else f'{starter}{own}'}"

    def around(self, inner: "_Step") -> "_Step":
        """One of the commands that this one calls, with what stands before both."""
        return _Step(f"{self.variables}{inner.variables}", f"{self.measures}{inner.measures}", inner.command)


def _steps(script: str, scripts: Mapping[str, str], level: int) -> list[_Step]:
    """The commands of a script one after the other, those of other scripts in the place of their names."""
    steps: list[_Step] = []
    for step in filter(None, (part.strip() for part in _JOINT.split(script))):
        calling = _parted(step)
        called = _called(calling.command)
        if called and level < _MOST_LEVELS and all(name in scripts for name in called):
            names = [each for name in called for each in (f"pre{name}", name, f"post{name}")]
            inner = (each for name in names for each in _steps(scripts.get(name, ""), scripts, level + 1))
            steps += [calling.around(each) for each in inner]
        else:
            variables = _leading(_PLAIN_SETS, step)
            steps.append(_Step(variables, "", step.removeprefix(variables)))
    return steps


def _parted(step: str) -> _Step:
    """A command that may call scripts."""
    sets = _leading(_SETS, step)
    measures = _leading(_MEASURES, step.removeprefix(sets))
    more = _leading(_SETS, step.removeprefix(sets).removeprefix(measures))
    variables = "".join(each.removeprefix("cross-env ") for each in (sets, more))
    return _Step(variables, measures, step[len(f"{sets}{measures}{more}") :])


def _leading(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.match(text)
    return match[0] if match else ""


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
    for name, make in _RUNNERS.items():
        if re.search(rf"(?:^|[\s/]){name}(?:\s|$)", line):
            recipe = make(line)
            # What stands behind a pipe makes TAP prettier, and distinguishes no tests.
            return recipe if not rest or recipe.report == "tap" else None
    if re.search(r"\s--test(?:\s|=|$)", step):
        return Recipe(runner="node:test", test=step, report="node-test")
    return None


def _program(step: str) -> Recipe | None:
    """A program that loads tests of tape by itself."""
    line = step.partition(" | ")[0].strip()
    if not _PROGRAM.match(line):
        return None
    note = (
        f"the suite is what `{line}` loads, so that a new file of tests belongs to it only once it is loaded there; "
        "a pattern in place of that, e.g. `command = \"tape 'test/**/*.js'\"` under `[tests]` in `.cogworks/config.toml`, runs every file"
    )
    return Recipe(runner="tape", test=line, report="tap", notes=(note,))


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
    def make(line: str) -> Recipe:
        return Recipe(runner=name, test=" ".join(filter(None, [line, option])), report="tap")

    return make


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
