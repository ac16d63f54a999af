"""The ground a request stands on: its root, its files, and the recipe that configuration and manifests make."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from cogworks.codebase.changes import path_problem
from cogworks.codebase.confined import read_file
from cogworks.domain_services.languages import patterns_of
from cogworks.domain_services.messages import ErrorCode, Request
from cogworks.domain_services.testwords import with_tests
from cogworks.folders import walk
from cogworks.grammars.gathering import gather
from cogworks.grammars.languages.registry import language_of
from cogworks.grammars.testing import is_test_file
from cogworks.services.command.fetching import FOLDER, is_workflow
from cogworks.services.command.grammars.code import Reading
from cogworks.services.command.recipe import Recipe
from cogworks.services.command.recipes import imports_node_test, recipe_of, reporting, wanted_texts, with_line
from cogworks.services.command.scripts import of_script
from cogworks.services.command.toolchains import Toolchain, how_to_get, toolchain_of
from cogworks.services.python.cloning import Clones
from cogworks.services.sandbox.isolation import Isolation


class Commands(NamedTuple):
    """What `.cogworks/services.toml` says of the service; what is empty is found from the manifests."""

    language: str = ""
    setup: tuple[str, ...] = ()
    test: str = ""
    test_one: str = ""
    lint: str = ""
    format: str = ""
    report: str = ""
    report_file: str = ""
    root_language: str = ""
    """The language that the names at the root show, where the one who started the service has seen them; decides what is announced."""


class Machine(NamedTuple):
    """Handed to every operation; the same for the whole life of the process."""

    search_path: str
    """PATH of whatever is run."""
    isolation: Isolation
    commands: Commands = Commands()  # frozen
    kept: Path | None = None
    """Where what compilers keep for a work item outlives a run; None: nothing does."""
    clones: Clones | None = None
    """Where repositories of other machines come from; None: there are none."""
    settings: Mapping[str, str] = MappingProxyType({})
    """Environment of this process, as far as it says where packages come from."""
    source_facts: Reading = gather
    """What a file says; the running service keeps it in memory."""
    home: Path | None = None
    """Whose packages are used; None: those of the user this process runs as."""
    passing: Path | None = None
    """A folder that ends with this process, for what compilers keep for callers without a work item; None: there is none."""

    @property
    def patterns(self) -> tuple[str, ...]:
        """Of the names of the files that are answered for; none: those of every language."""
        return patterns_of(self.commands.language) if self.commands.language else ()


MAX_FILES = 200_000
CONFIGURED = ".cogworks/services.toml"
"""Where commands are configured."""
_ONE_TEST = (
    "`{}` counts as one test, by how it ends, for nobody here knows what it reports: name that as `report` in "
    f"`{CONFIGURED}`, where it tells one test from another"
)
_STARTS_TESTS = re.compile(r"\bnode(?: [^\s\"]{1,200}){0,20}? [^\s\"]{0,200}?\b(?:tests?|specs?)\b")
_TEST_PROGRAM = re.compile(r"(?:test|spec)s?\.[cm]?[jt]s")
"""At the root, as small packages have one."""
_MAX_TEXT_BYTES = 4 * 1024**2
_LEFT_OUT = frozenset({".git", "node_modules", "target", "vendor", ".cogworks-build"})


class NotReady(Exception):
    """What the request wants cannot be run; the text says why and what to do."""

    def __init__(self, message: str, code: ErrorCode = ErrorCode.TOOL_FAILED) -> None:
        super().__init__(message)
        self.code = code


class Ground(NamedTuple):
    """One root of a repository, as a request means it."""

    folder: Path
    """The repository."""
    root: str
    """The folder of the service, relative to the repository; empty: the whole."""
    recipe: Recipe
    toolchain: Toolchain

    @property
    def place(self) -> Path:
        """The root itself."""
        return self.folder / self.root

    @property
    def source(self) -> str:
        """Of the recipe, as a path of the repository."""
        source = self.recipe.source
        return source if not source or source.startswith(".cogworks/") else self.outward(source)

    def missing(self, brought: str) -> tuple[str, ...]:
        """The programs of the recipe that are neither on this machine nor brought by a setup."""
        return tuple(each for each in self.toolchain.missing if each != brought)

    def outward(self, path: str) -> str:
        """A path of the root as one of the repository."""
        if not self.root:
            return path
        return self.root if path == "." else f"{self.root}/{path}"

    def inward(self, path: str) -> str | None:
        """A path of the repository as one of the root; None: it lies elsewhere."""
        if not self.root or path == self.root:
            return path if not self.root else "."
        return path.removeprefix(f"{self.root}/") if path.startswith(f"{self.root}/") else None


def ground_of(request: Request, folder: Path, machine: Machine) -> Ground:
    """The ground of a request.

    Raises:
        NotReady: its root is no folder of the repository.
    """
    root = request.repository.root.strip("/") if request.repository else ""
    place = folder.resolve() / root
    if root and (path_problem(root) or place.resolve() != place or not place.is_dir()):
        raise NotReady(
            f"`root` is {root!r}, which is no folder of the repository; correct it in `.cogworks/services.toml`",
            ErrorCode.INVALID_REQUEST,
        )
    recipe = with_commands(recipe_at(place, machine.commands.language), machine.commands)
    return Ground(
        folder.resolve(), root, recipe, toolchain_of(recipe.programs, machine.search_path, home=machine.home)
    )


def recipe_at(place: Path, language: str = "") -> Recipe:
    """The recipe that the files of a root make; empty `language`: that of its manifests."""
    workflows = (each.relative_to(place).as_posix() for each in place.glob(f"{FOLDER}*.y*ml"))
    names = sorted([*(each.name for each in place.iterdir()), *filter(is_workflow, workflows)])
    texts = dict.fromkeys(names, "") | {name: text_at(place, name) for name in wanted_texts(names)}
    if _STARTS_TESTS.search(texts.get("package.json", "")):
        texts |= _importing_node_test(place)
    return recipe_of(texts, language)


def _importing_node_test(place: Path) -> dict[str, str]:
    """One test that imports Node's own runner, if there is any: no manifest says so."""
    paths = (
        path
        for path in files_below(place)
        if _TEST_PROGRAM.fullmatch(path) or ((spec := language_of(path)) and is_test_file(spec, path))
    )
    texts = ((path, text_at(place, path)) for path in paths)
    return dict(islice((each for each in texts if imports_node_test(*each)), 1))


def with_commands(recipe: Recipe, commands: Commands) -> Recipe:
    """The recipe of the manifests, with what is configured in its place."""
    own: dict[str, Any] = {
        name: value
        for name in ("setup", "test", "test_one", "lint", "format", "report", "report_file")
        if (value := getattr(commands, name))
    }
    if commands.test and commands.test == recipe.test:
        # It is that of the manifests: all that is known of its runner still holds.
        own["source"] = CONFIGURED
    elif commands.test:
        # Another command may write another report, and is started by other programs.
        reported = _reported(recipe, commands)
        own = {**reported, **own, "source": CONFIGURED}
        # A configuration that names the report says how it is written.
        own["test"] = commands.test if commands.report else reported["test"]
        own["programs"] = _programs(recipe, commands)
    return recipe._replace(**own)


def _reported(recipe: Recipe, commands: Commands) -> dict[str, Any]:
    """What another command than that of the manifests changes: by its runner where that is known, else all of it is one test."""
    reported = reporting(recipe, commands.test)
    if reported is None or commands.report not in ("", reported.report):
        notes = () if commands.report else (_ONE_TEST.format(commands.test),)
        reported = Recipe(runner="command", test=commands.test, notes=notes)
    changed = ("test", "report", "report_file", "test_one", "runner", "notes")
    return {name: getattr(reported, name) for name in changed}


def with_words(ground: Ground, words: Sequence[str]) -> Ground:
    """The ground with the words of a test command of the user's; none: as it is."""
    if not words:
        return ground
    return ground._replace(recipe=with_line(ground.recipe, shlex.join(with_tests(words, ()))))


def _programs(recipe: Recipe, commands: Commands) -> tuple[str, ...]:
    try:
        words = shlex.split(commands.test)
    except ValueError:
        return recipe.programs
    if recipe.language == "typescript" and of_script(commands.test, {}).runner != "script":
        # It comes with the packages of the repository.
        return recipe.programs
    first = words[0] if words else ""
    is_plain = first.replace("-", "").replace("_", "").isalnum() and first not in (
        "sh",
        "cd",
        "set",
        "export",
    )
    return tuple(dict.fromkeys([*recipe.programs, *([first] if is_plain else [])]))


def refuse_missing(ground: Ground, *, brought: str) -> None:
    """Nothing, unless a program of the recipe is not on this machine.

    Args:
        brought: the one that a setup brings; empty: none.

    Raises:
        NotReady: it names the programs and how to get them.
    """
    missing = ground.missing(brought)
    if missing:
        remedies = "; ".join(dict.fromkeys(how_to_get(each) for each in missing))
        names = ", ".join(f"`{each}`" for each in missing)
        raise NotReady(
            f"{ground.source or 'the test command'} asks for {names}, not on this machine's PATH: {remedies}.",
            ErrorCode.TOOL_NOT_FOUND,
        )


def files_below(place: Path) -> Iterator[str]:
    """The files of a root, relative to it, without packages and what builds leave."""
    count = 0
    for folder, names, files in walk(place):
        names[:] = sorted(name for name in names if name not in _LEFT_OUT)
        for name in sorted(files):
            count += 1
            if count > MAX_FILES:
                return
            yield (Path(folder) / name).relative_to(place).as_posix()


def text_at(place: Path, path: str) -> str:
    """The text of a file of a root; empty where there is none, or too much of it."""
    try:
        file = read_file(place, path)
    except OSError:
        return ""
    return (
        ""
        if file is None or len(file.data) > _MAX_TEXT_BYTES
        else file.data.decode("utf-8", errors="replace")
    )


def module_of(place: Path) -> str:
    """The path of the Go module at a root; empty where there is none."""
    lines = text_at(place, "go.mod").splitlines()
    return next(
        (
            line.split()[1].strip('"')
            for line in lines
            if line.startswith("module ") and len(line.split()) > 1
        ),
        "",
    )
