"""Which commands run some tests, and what has to be run besides because the runner cannot select."""

import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from cogworks.grammars.languages.registry import language_of
from cogworks.grammars.testing import is_test_file
from cogworks.services.command.placing import ava_tests, is_file, node_line, places_of, program_line, runnable
from cogworks.services.command.recipe import Recipe
from cogworks.services.command.scripts import without_places

MOST_ONE_BY_ONE = 20
"""More tests than these are not run by `test_one`, one process for each."""
_UNKNOWN = "."


class Selected(NamedTuple):
    """The lines that run at least the tests that were asked for."""

    lines: tuple[str, ...]
    note: str = ""
    """What else runs, in words; empty: nothing to speak of."""
    alone: tuple[str, ...] = ()
    """The one file that each line runs; none: it is not known, or a line runs several."""


class Asked(NamedTuple):
    """An id in its parts, relative to the root of the service."""

    file: str
    name: str = ""
    """Empty: all tests of the file, or of the folder."""


def parts_of(test: str) -> Asked:
    """An id, or the path of a file or folder, in its parts."""
    file, _, name = test.partition("::")
    return Asked(file, name)


def select(recipe: Recipe, tests: Sequence[Asked]) -> Selected:
    """The commands for these tests; none at all, or the id of the whole command among them: the whole suite."""
    if not tests or Asked(_UNKNOWN, recipe.test) in tests:
        return Selected((recipe.test,))
    if recipe.test_one:
        return _by_template(recipe, tests)
    rule = _RULES.get(recipe.runner)
    lines = rule(recipe, tests) if rule and not any(test.file == _UNKNOWN for test in tests) else None
    if lines is None:
        return Selected(
            (recipe.test,),
            f"{recipe.runner or 'the test command'} cannot select tests here: the whole suite ran",
        )
    files = {test.file for test in tests}
    return Selected(tuple(lines), alone=(*files,) * len(lines) if len(files) == 1 else ())


def _by_template(recipe: Recipe, tests: Sequence[Asked]) -> Selected:
    template = recipe.test_one
    files = {_filled(template, test): test.file for test in tests}
    lines = tuple(files)
    needs_name = "{name}" in template or "{test}" in template
    if len(lines) > MOST_ONE_BY_ONE:
        return Selected(
            (recipe.test,), f"{len(lines)} runs by `test_one` would be needed: the whole suite ran"
        )
    if needs_name and any(not test.name for test in tests):
        return Selected(
            (recipe.test,),
            "`test_one` names single tests and a whole file was asked for: the whole suite ran",
        )
    note = (
        ""
        if needs_name or not any(test.name for test in tests)
        else "`test_one` names no test: whole files ran"
    )
    is_of_file = "{file}" in template or "{test}" in template
    return Selected(lines, note, tuple(files.values()) if is_of_file else ())


def _filled(template: str, test: Asked) -> str:
    folder = test.file.rpartition("/")[0]
    values = {
        "test": f"{test.file}::{test.name}",
        "file": test.file,
        "folder": f"./{folder}" if folder else ".",
        "name": test.name,
    }
    # In one pass: what a name holds is no place of its own.
    return re.sub(r"\{(test|file|folder|name)\}", lambda match: shlex.quote(values[match[1]]), template)


def _go(recipe: Recipe, tests: Sequence[Asked]) -> list[str] | None:
    folders: dict[str, set[str]] = {}
    for test in tests:
        if not test.file.endswith(".go"):
            return None
        folder = test.file.rpartition("/")[0]
        folders.setdefault(f"./{folder}" if folder else ".", set()).add(test.name.split("/")[0])
    return [_go_line(recipe, folder, names) for folder, names in folders.items()]


def _go_line(recipe: Recipe, folder: str, names: set[str]) -> str:
    chosen = (
        "" if "" in names else f"-run {shlex.quote('^(' + '|'.join(sorted(map(re.escape, names))) + ')$')} "
    )
    return recipe.test.replace("./...", f"{chosen}{shlex.quote(folder)}")


def _of_files(
    option: Callable[[Sequence[str]], str], before: str = ""
) -> Callable[[Recipe, Sequence[Asked]], list[str] | None]:
    """Runners that take files as their last words, and one pattern for names."""

    def lines(recipe: Recipe, tests: Sequence[Asked]) -> list[str]:
        files = sorted({test.file for test in tests})
        names = sorted({test.name for test in tests})
        chosen = [] if "" in names else [option([name.split(" > ")[-1] for name in names])]
        return [" ".join([recipe.test, *chosen, *filter(None, [before]), *map(shlex.quote, files)])]

    return lines


def _named(option: str) -> Callable[[Sequence[str]], str]:
    def chosen(names: Sequence[str]) -> str:
        return f"{option} {_pattern(names)}"

    return chosen


def _pattern(names: Sequence[str]) -> str:
    return shlex.quote("|".join("\\ ".join(map(_word, name.split(" "))) for name in names))


def _word(word: str) -> str:
    """A pattern for a word of a name: of a path only its end is sure, for an id leaves out where the copy lies."""
    before, slash, after = word.partition("/")
    return rf"\S*/{re.escape(after)}" if slash else re.escape(before)


def _script(recipe: Recipe, tests: Sequence[Asked]) -> list[str] | None:
    """Without the script's own files: they would run as well."""
    words = recipe.test.rsplit("&&", 1)
    files = sorted({test.file for test in tests})
    if any(file.rpartition(".")[2] not in _JS for file in files):
        return None
    if recipe.runner != "node:test":
        kept, named = without_places(words[-1]), [shlex.quote(file) for file in files]
    elif line := node_line(before := "&&".join(words[:-1]), words[-1]) or program_line(before, words[-1]):
        kept, named = line.words, [runnable(line, file) for file in files]
    else:
        return None
    return ["&& ".join([*words[:-1], " ".join([*kept, *named])]).strip()]


def _tape(recipe: Recipe, tests: Sequence[Asked]) -> list[str] | None:
    """Like `_script`; of several steps that start tape the last one, for the others run their own files."""
    words = recipe.test.split("&&")
    files = sorted({test.file for test in tests})
    before = [step for step in words[:-1] if "tape" not in re.split(r"[\s/]", step)]
    line = program_line("&&".join(before), words[-1])
    if line is None or any(file.rpartition(".")[2] not in _JS for file in files):
        return None
    named = [runnable(line, file) for file in files]
    return ["&& ".join([*before, " ".join([*line.words, *named])]).strip()]


def _jasmine(recipe: Recipe, tests: Sequence[Asked]) -> list[str]:
    """Without the script's own files, like `_script`; what stands before the runner starts it and is kept."""
    before, runner, after = re.split(r"(\bjasmine(?=\s))", recipe.test, maxsplit=1)
    names = sorted({test.name for test in tests})
    chosen = [] if "" in names else [f"--filter={_pattern([name.split(' > ')[-1] for name in names])}"]
    files = map(shlex.quote, sorted({test.file for test in tests}))
    return [" ".join([f"{before}{runner}", *without_places(after), *chosen, *files])]


_WORD = re.compile(r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'])+")
"""A word as `sh` reads it, with its quotes."""
_UVU_VALUES = frozenset({"-r", "--require", "-i", "--ignore"})


def _uvu(recipe: Recipe, tests: Sequence[Asked]) -> list[str] | None:
    """With a pattern for these files in the place of the script's own."""
    steps = recipe.test.rsplit("&&", 1)
    words = _WORD.findall(steps[-1])
    start = next((place for place, word in enumerate(words) if word.rpartition("/")[2] == "uvu"), None)
    files = sorted({test.file for test in tests})
    is_elsewhere = any(re.match(r"-C|--cwd", word) for word in words)
    if start is None or is_elsewhere or any(file.rpartition(".")[2] not in _JS for file in files):
        return None
    named = [
        place
        for place, word in enumerate(words)
        if place > start and not word.startswith("-") and words[place - 1] not in _UVU_VALUES
    ]
    kept = [word for place, word in enumerate(words) if place not in named]
    own = words[named[0]].strip("\"'").removeprefix("./").rstrip("/") if named else ""
    # What it looks for is told relative to the folder, and so is what it passes over.
    folder = own if own and all(file.startswith(f"{own}/") for file in files) else "."
    inside = [file if folder == "." else file.removeprefix(f"{folder}/") for file in files]
    pattern = f"^(?:{'|'.join(map(re.escape, inside))})$"
    return ["&& ".join([*steps[:-1], " ".join([*kept, shlex.quote(folder), shlex.quote(pattern)])]).strip()]


_MOCHAS = ("mocha", "_mocha")
_MOCHA_VALUE = re.compile(
    r"-[rtsgfRuOjn]|--(?:require|import|loader|timeout|slow|f?grep|reporter(?:-options?)?|file|extension|config|package|ignore|exclude|ui|jobs|"
    r"retries|opts|node-option|conditions)"
)
"""An option of mocha, or of the Node.js around it, whose value is the next word."""


def _mocha(recipe: Recipe, tests: Sequence[Asked]) -> list[str]:
    """Without the patterns and folders of the script, for everything in them would run as well; files that it names may prepare the tests."""
    *before, line = recipe.test.rsplit("&&", 1)
    words = _WORD.findall(line)
    start = next((place for place, word in enumerate(words) if word.rpartition("/")[2] in _MOCHAS), None)
    files, names = sorted({test.file for test in tests}), sorted({test.name for test in tests})
    chosen = [] if "" in names else [f"--grep {_pattern([name.split(' > ')[-1] for name in names])}"]
    if start is None:
        return [" ".join([recipe.test, *chosen, *map(shlex.quote, files)])]
    named = [
        place
        for place, word in enumerate(words)
        if place > start and not word.startswith("-") and not _MOCHA_VALUE.fullmatch(words[place - 1])
    ]
    asked = places_of([words[place] for place in named], before="&&".join(before), line=line)
    kept = [word for place, word in enumerate(words) if place not in named or is_file(word)]
    return ["&& ".join([*before, " ".join([*kept, *chosen, *(runnable(asked, file) for file in files)])])]


_JS = ("js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "cts")


def _cargo(recipe: Recipe, tests: Sequence[Asked]) -> list[str] | None:
    names = sorted({test.name for test in tests})
    documented = sorted({name.split(" ")[1] for name in names if name.startswith("doc ")})
    own = [name for name in names if name != "doc" and not name.startswith("doc ")]
    if "" in names or "doc" in names:
        return None
    lines = [f"{recipe.test} -- --exact {shlex.join(own)}"] if own else []
    return lines + ([f"{recipe.test} --doc -- {shlex.join(documented)}"] if documented else [])


def _maven(recipe: Recipe, tests: Sequence[Asked]) -> list[str] | None:
    classes: dict[str, set[str]] = {}
    for test in tests:
        if "." not in test.file:
            return None
        method = re.split(r"[\[({ ]", test.name.split(" > ")[-1])[0]
        classes.setdefault(test.file.rpartition("/")[2].rpartition(".")[0], set()).add(
            "" if " > " in test.name else method
        )
    chosen = ",".join(
        # Without the second pattern classes within classes would be left out.
        f"{name},{name}$*" if "" in methods else f"{name}#{'+'.join(sorted(methods))}"
        for name, methods in classes.items()
    )
    inside = {test.file: _module_of(recipe, test.file) for test in tests}
    # What these modules are made of is built besides, and nothing else.
    kept = f"-pl {shlex.quote(','.join(sorted(set(inside.values()))))} -am " if all(inside.values()) else ""
    quiet = "-DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false"
    return [f"{recipe.test} {kept}{quiet} {shlex.quote(f'-Dtest={chosen}')}"]


def _module_of(recipe: Recipe, file: str) -> str:
    """The module that a file lies in; empty where the build names none, for one may hold further ones."""
    return next((name for name in recipe.modules if file.startswith(f"{name}/src/")), "")


def _gradle(recipe: Recipe, tests: Sequence[Asked]) -> list[str] | None:
    names = sorted({test.file.rpartition("/")[2].rpartition(".")[0] for test in tests})
    if "" in names:
        return None
    patterns = [pattern for name in names for pattern in (f"*{name}", f"*{name}$*")]
    return [" ".join([recipe.test, *(f"--tests {shlex.quote(pattern)}" for pattern in patterns)])]


def _files_only(recipe: Recipe, tests: Sequence[Asked]) -> list[str]:
    return [" ".join([recipe.test, *(shlex.quote(file) for file in sorted({test.file for test in tests}))])]


def _minitest(recipe: Recipe, tests: Sequence[Asked]) -> list[str] | None:
    files = sorted({test.file for test in tests})
    if any(not file.endswith(".rb") or re.search(r"[*?{}\[\],\\]", file) for file in files):
        # Rake reads patterns.
        return None
    pattern = files[0] if len(files) == 1 else f"{{{','.join(files)}}}"
    return [f"{recipe.test} TEST={shlex.quote(pattern)}"]


def _phpunit(recipe: Recipe, tests: Sequence[Asked]) -> list[str] | None:
    """A line for each file, for PHPUnit takes one."""
    if any(not test.file.endswith(".php") for test in tests):
        return None
    lines = []
    for file in sorted({test.file for test in tests}):
        names = {
            test.name.split(" > ")[-1].split(" with data set ")[0] for test in tests if test.file == file
        }
        pattern = "|".join(map(re.escape, sorted(names)))
        chosen = "" if "" in names else f"--filter {shlex.quote(f'/::({pattern})( with .*)?$/')} "
        lines.append(f"{recipe.test} {chosen}{shlex.quote(file)}")
    return lines


_RULES: Mapping[str, Callable[[Recipe, Sequence[Asked]], list[str] | None]] = {
    "go test": _go,
    # Without it the path of a file is a pattern: `src/[id]/page.test.js` would be another file's.
    "jest": _of_files(_named("-t"), "--runTestsByPath"),
    "vitest": _of_files(_named("-t")),
    "mocha": _mocha,
    "jasmine": _jasmine,
    "uvu": _uvu,
    "node:test": _script,
    "tape": _tape,
    "tap": _script,
    "ava": _script,
    "cargo test": _cargo,
    "maven": _maven,
    "gradle": _gradle,
    "rspec": _files_only,
    "minitest": _minitest,
    "phpunit": _phpunit,
}


_WHOLE = "cannot be told which files to test, so that it is not run in parts"
_REMEDY = "raise `timeout_s` under `[tests]` in `.cogworks/config.toml`"


def files_of_tests(files: Sequence[str]) -> tuple[str, ...]:
    """Those that hold nothing but tests, by the conventions of their languages."""
    return tuple(file for file in files if (spec := language_of(file)) and is_test_file(spec, file))


def files_of_suite(recipe: Recipe, files: Sequence[str]) -> tuple[str, ...]:
    """Those that a runner can be asked for one by one: AVA refuses what it takes for a helper."""
    return files_of_tests(ava_tests(files) if recipe.runner == "ava" else files)


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
    """What to do about a suite that did not finish.

    Args:
        slow: the files that alone took too long; none: the runner cannot be told which to run.
    """
    if not slow:
        return f"`{recipe.test}` {_WHOLE}: {_REMEDY}, or name a command for one file as `test_one` in `.cogworks/services.toml`."
    named = ", ".join(f"`{file}`" for file in slow)
    return f"{named} did not come to its end within {round(limit_s, 1):g} s, although it was the first to run: {_REMEDY}, or divide it."
