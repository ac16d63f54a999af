"""Which command of a script in `package.json` runs its tests, and how that reports each; a pure rule from texts."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

from cogworks.services.command.calls import Step, steps_of
from cogworks.services.command.recipe import INSIDE, REPORT, Recipe

NODE_TEST = "node:test"
"""Node's own runner of tests, and the name by which tests import it."""
_LOOKS = re.compile(
    r"^(?:(?:npx|yarn|pnpm)(?: (?:run|exec))? |node \S{1,200}\.[cm]?js )?(?:eslint|tslint|standard|semistandard|ts-standard|xo|prettier\S{0,20}|prettierx|tsd|check-dts|dtslint|publint|"
    r"markdownlint\S{0,10}|remark|commitlint|biome|oxlint|jshint|jscs|ls-lint|cspell|size-limit|attw|knip|eclint|evalmd|es-check|@pkgjs/support|"
    r"bundlesize|bundlewatch|stylelint|secretlint|lockfile-lint|depcheck|madge|dpdm|type-coverage|svelte-check|actions-up|oxfmt|"
    r"(?:vue-)?tsc(?: \S+){0,10}? --noEmit|(?:nyc|c8) (?:report|check-coverage)|codecov|coveralls)(?:\s|$)"
)
"""What looks at sources and leaves nothing that a test could need, by itself or where a program of the project starts it."""
_NAMED = re.compile(
    r"(?:tests?[:_-])?(?:units?|specs?|mocha|jest|vitest|ava|tape|tap|uvu|jasmine|node)(?:[:_-](?:tests?|run|ci|once|only))?"
)
"""The names of scripts that run tests of single parts."""
_SEVERAL = (
    "the script `{}` starts several runners of tests ({}), so it counts as one test, by how it ends; to have each test "
    "reported, name one of them as `command` under `[tests]` in `.cogworks/config.toml`"
)
_WATCHES = re.compile(r"\s(?:--watch\w*|-w)(?:\s|=|$)")
_FIND_ALL = frozenset({"jest", "vitest", "ava", "tap", NODE_TEST})
"""What looks for tests in all folders where it is given no place."""
_HEARD = frozenset({"tape", "uvu", NODE_TEST})
"""What reports through a module of ours that `NODE_OPTIONS` names."""
_WITH_REPORTER = re.compile(
    r"\s--test-reporter(?:-destination)?(?:=|\s)(?:\"[^\"]{0,300}\"|'[^']{0,300}'|[^\s\"']{1,300})"
)
"""Node counts the reporters and where each writes, and refuses a command that has too few of either."""
_OPTIONS = re.compile(
    r"\bNODE_OPTIONS=(?P<quote>[\"']?)(?!\$NODE_OPTIONS)(?P<value>(?<=[\"'])[^\"'$`\\]{0,400}|[^\s\"'$`\\;&|]{0,400})(?P=quote)(?=\s)"
)
_OF_TAPE = frozenset({"tape", "blue-tape", "tape-catch", "tape-promise"})
"""The package, and those that bring it with them."""
_PROGRAMS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "tape": ("tape 'test/**/*.js'", "tap"),
        "uvu": ("uvu test", "node-test"),
        NODE_TEST: ("node --test", "node-test"),
    }
)
"""Runners whose tests a program may load -> a command that runs all files instead, and the report."""
_PROGRAM = re.compile(
    r"^(?:[^\s=]+=\S* )*(?:(?:nyc|c8|cross-env)(?: \S+){0,20}? )?node(?: \S+){0,20}? (?:\S*[/.])?(?:tests?|specs?)(?:[/._-]\S*)?$"
)
"""Node with a file or folder of tests."""


def of_script(
    script: str,
    scripts: Mapping[str, str],
    packages: Collection[str] = (),
    starter: str = "",
    *,
    name: str = "test",
) -> Recipe:
    """What the script `test` says, or the one of that name; with notes and the runner `script` if it starts several runners.

    Args:
        scripts: the others of the manifest, by name, for `npm run NAME` within it.
        packages: those that the manifest names; they say what a plain program runs, and `node:test` where tests import it.
        starter: what a runner needs before it to find its packages, with a space behind; empty: nothing.
    """
    source = f"package.json, scripts.{name}"
    steps = steps_of(script, scripts, name)
    running = _running(steps, _loaded_by(packages))
    # A suite of tape may run twice; with other runners it would be unknown whose a report is.
    again = _again(running, steps)
    apart = {place: recipe for place, recipe in running.items() if place not in again}
    running = _as_one(apart, steps)
    joined = apart.keys() - running.keys()
    if len(running) > 1 and any(each.runner != "tape" for each in running.values()):
        named = [place for place in running if _NAMED.fullmatch(steps[place].script)]
        if len(named) != 1:
            starting = ", ".join(f"`{steps[place].plain}`" for place in running)
            note = _SEVERAL.format(name, starting)
            return Recipe(runner="script", test=script, source=source, notes=(note,))
        running = {named[0]: running[named[0]]}
    if not running:
        return Recipe(runner="script", test=script, source=source)
    last = max(running)
    kept = {
        place: step.running(running[place].test, starter) if place in running else step.plain
        for place, step in enumerate(steps[: last + 1])
        if place in running
        or not (place in again or _LOOKS.match(step.command) or _is_idle(step, steps, running))
    }
    left_out = [step.plain for place, step in enumerate(steps) if place not in kept and place not in joined]
    recipe = running[last]
    listed = ", ".join(f"`{each}`" for each in left_out)
    note = f"of the script `{name}` these do not run with the tests: {listed}"
    notes = (note, *recipe.notes) if left_out else recipe.notes
    return recipe._replace(test=_heard(" && ".join(kept.values()), recipe), source=source, notes=notes)


def _running(steps: Sequence[Step], loads: str | None) -> dict[int, Recipe]:
    """The steps that run tests, by their places.

    Args:
        loads: the runner whose tests a plain program may load; None: there is none.
    """
    recipes = (_runner(each.command) or (_program(each.command, loads) if loads else None) for each in steps)
    return {place: recipe for place, recipe in enumerate(recipes) if recipe is not None}


def _loaded_by(packages: Collection[str]) -> str | None:
    """The runner whose tests a plain program may load; None: there is none."""
    if not _OF_TAPE.isdisjoint(packages):
        return "tape"
    return next((name for name in ("uvu", NODE_TEST) if name in packages), None)


def _again(running: Mapping[int, Recipe], steps: Sequence[Step]) -> frozenset[int]:
    """The steps that run once more what another one runs, with other variables or options: the same program, or some of all files."""
    runners = {recipe.runner for recipe in running.values()}
    if len(running) < 2 or len(runners) > 1 or not runners <= _FIND_ALL:
        return frozenset()
    words = {place: steps[place].command.split() for place in running}
    if len({each[-1] for each in words.values()}) == 1 and all(each.notes for each in running.values()):
        # Each is a program, whose tests are what it loads.
        return frozenset(running) - {min(running)}
    whole = [place for place, each in words.items() if len(without_places(" ".join(each))) == len(each)]
    return frozenset(running) - {*whole} if len(whole) == 1 else frozenset()


def _as_one(running: Mapping[int, Recipe], steps: Sequence[Step]) -> dict[int, Recipe]:
    """The same, with one run of all files in the place of the last where they differ in the files alone that they name."""
    runners = {recipe.runner for recipe in running.values()}
    if len(running) < 2 or len(runners) > 1 or not runners <= _FIND_ALL:
        return {**running}
    own = [steps[place] for place in running]
    lines = [_WITH_REPORTER.sub("", each.command) for each in own]
    words = [each.split() for each in lines]
    bare = [tuple(without_places(each)) for each in lines]
    is_alike = len({(each.variables, each.measures, kept) for each, kept in zip(own, bare, strict=True)}) == 1
    if not is_alike or any(len(each) == len(bare[0]) for each in words):
        return {**running}
    further = [word for each in words[1:] for word in each if word not in words[0]]
    whole = _runner(" ".join([*words[0], *dict.fromkeys(further)]))
    return {max(running): whole} if whole else {**running}


def _heard(line: str, recipe: Recipe) -> str:
    """A command whose Node.js hears of our reporter or listener, which is in `NODE_OPTIONS`, and has no other of its runner's."""
    if recipe.runner not in _HEARD:
        return line
    if recipe.runner == NODE_TEST:
        line = _WITH_REPORTER.sub("", line)
    return _OPTIONS.sub(r'NODE_OPTIONS="$NODE_OPTIONS \g<value>"', line)


def _is_idle(step: Step, steps: Sequence[Step], running: Mapping[int, Recipe]) -> bool:
    """Whether no tests can need what a step leaves: it runs beside all of them, or runs other tests."""
    return all(step.is_beside(steps[place]) for place in running) or _runner(step.command) is not None


def of_named(scripts: Mapping[str, str], packages: Collection[str] = (), starter: str = "") -> Recipe | None:
    """What another script says whose name says that it runs tests; None where none does with a runner that is known."""
    for name in filter(_NAMED.fullmatch, scripts):
        script = " && ".join(scripts[each] for each in (f"pre{name}", name) if each in scripts)
        recipe = of_script(script, scripts, packages, starter, name=name)
        if recipe.runner != "script" and not _WATCHES.search(recipe.test):
            note = f"no script `test` starts a known runner of tests, so the tests are those of the script `{name}`"
            return recipe._replace(notes=(note, *recipe.notes))
    return None


def of_packages(packages: Mapping[str, str], starter: str = "") -> Recipe:
    """What the packages say of a manifest without the script."""
    for name, make in _RUNNERS.items():
        if name in packages:
            recipe = make(name)
            return recipe._replace(test=f"{starter}{recipe.test}", source="package.json, devDependencies")
    note = "package.json names neither a script `test` nor a runner of tests that is known"
    return Recipe(notes=(note,), source="package.json")


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
        return Recipe(runner=NODE_TEST, test=step, report="node-test")
    return None


def _program(step: str, runner: str) -> Recipe | None:
    """A program that loads tests of a runner by itself, which are listened to."""
    line = step.partition(" | ")[0].strip()
    if not _PROGRAM.match(line):
        return None
    pattern, report = _PROGRAMS[runner]
    note = (
        f"the suite is what `{line}` loads, so that a new file of tests belongs to it only once it is loaded there; "
        f'a pattern in place of that, e.g. `command = "{pattern}"` under `[tests]` in `.cogworks/config.toml`, runs every file'
    )
    return Recipe(runner=runner, test=line, report=report, notes=(note,))


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


def _uvu(line: str) -> Recipe:
    # It has no report for machines; a listener of ours hears each test. Ended at the first failure it would leave out tests.
    test = re.sub(r" (?:-b|--bail)(?=\s|$)", "", line)
    return Recipe(runner="uvu", test=test, report="node-test")


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
        "uvu": _uvu,
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
