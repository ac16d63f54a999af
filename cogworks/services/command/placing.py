"""From what a report calls a test to an id that begins with its file, for sources and for what a build made of them."""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from cogworks.services.command.grammars.reported import ReportedTest, reported_tests
from cogworks.services.command.ground import Ground, Machine, files_below, module_of, text_at
from cogworks.services.command.recipe import INSIDE
from cogworks.services.command.reports.cases import Case
from cogworks.services.command.rooms import Room

_SOURCES = ("ts", "tsx", "mts", "cts", "jsx", "js", "mjs", "cjs")
_OUTPUT = re.compile(r"^(?P<stem>.+)\.[cm]?jsx?$")
_TYPED = re.compile(r"\.[cm]?tsx?\b")
_LOADS = re.compile(r"\b(?:tsx|jiti|swc|ts-node|strip-types|transform-types|babel/register|esbuild-\w+)\b")
"""What makes Node run sources that it does not know."""
_WITH_VALUE = re.compile(
    r"^(?:-r|-C|-e|--require|--import|--(?:experimental-)?loader|--conditions|--env-file|--input-type|--test-(?:reporter|reporter-destination|"
    r"name-pattern|skip-pattern|concurrency|timeout|shard|coverage-\w+))$"
)
_OF_TAPE = re.compile(rf"{_WITH_VALUE.pattern}|^(?:-i|--ignore(?:-pattern)?)$")
_PATTERN = re.compile(r"[*?{\[]")


def source_of(path: str, named: Callable[[str], Iterable[str]]) -> str:
    """The source that a file was built of, by its name and by the folders around it; empty where several come into question.

    Args:
        path: relative to the root.
        named: every file of the repository with a name, whichever folder it lies in.
    """
    folder, _, name = path.rpartition("/")
    output = _OUTPUT.match(name)
    if not output or not folder:
        return ""
    around = folder.split("/")
    likely = [each for ending in _SOURCES for each in named(f"{output['stem']}.{ending}")]
    common = {each: _common(around, each.split("/")[:-1]) for each in likely}
    best = [each for each in likely if common[each] == max(common.values())]
    return best[0] if len(best) == 1 else ""


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """How many folders two paths end with alike."""
    pairs = list(zip(reversed(first), reversed(second), strict=False))
    return next((count for count, (one, other) in enumerate(pairs) if one != other), len(pairs))


class NodeLine(NamedTuple):
    """A command of Node's own runner of tests, of tape, or of a program that loads tests, in its parts."""

    words: tuple[str, ...]
    """Without the places."""
    roots: tuple[str, ...]
    """The folders and files that it names; none: it looks everywhere."""
    is_built: bool
    """Whether what it runs may come of a build before it."""
    is_typed: bool
    """Whether it runs sources of TypeScript."""


def node_line(before: str, line: str) -> NodeLine | None:
    """The command after the steps `before`; None where it names no `--test`."""
    words = line.split()
    if "--test" not in words:
        return None
    return _parted(before, line, words.index("--test") + 1, _WITH_VALUE)


def program_line(before: str, line: str) -> NodeLine | None:
    """The same of a command that starts tape, or a program that loads tests; None where it starts neither."""
    names = [word.rpartition("/")[2] for word in line.split()]
    starts = [names.index(name) + 1 for name in ("tape", "node") if name in names]
    if not starts:
        return None
    parted = _parted(before, line, starts[0], _OF_TAPE)
    # A program loads what lies beside it.
    return (
        parted if "tape" in names else parted._replace(roots=tuple(filter(None, map(_beside, parted.roots))))
    )


def _beside(root: str) -> str:
    return root.rpartition("/")[0] if _SCRIPT.search(root) else root


def _parted(before: str, line: str, start: int, with_value: re.Pattern[str]) -> NodeLine:
    """What stands behind the word `start` and is neither an option nor the value of one is a place."""
    words = line.split()
    places = [
        word
        for previous, word in zip(words[start - 1 :], words[start:], strict=False)
        if not word.startswith("-") and not with_value.match(previous)
    ]
    kept = (*words[:start], *(word for word in words[start:] if word not in places))
    return places_of(places, before=before, line=line)._replace(words=kept)


def places_of(places: Sequence[str], *, before: str, line: str) -> NodeLine:
    """What the places of a command say of the files that it runs, without its words.

    Args:
        before: the steps before it.
    """
    roots = tuple(dict.fromkeys(filter(None, map(_root, places))))
    is_typed = bool(_LOADS.search(line) or _TYPED.search(" ".join(places)))
    return NodeLine((), roots, bool(before.strip()), is_typed)


def is_file(place: str) -> bool:
    """Whether a place is one file of a script, and neither a folder nor a pattern."""
    bare = place.strip("'\"")
    return bool(_SCRIPT.search(bare)) and not _PATTERN.search(bare)


def _root(place: str) -> str:
    """The folder that a pattern looks in, or the place itself."""
    bare = place.strip("'\"").removeprefix("./")
    pattern = _PATTERN.search(bare)
    return (bare[: pattern.start()].rpartition("/")[0] if pattern else bare).rstrip("/")


def runnable(line: NodeLine, file: str) -> str:
    """A word for `sh` that names what runs a test file: itself, or what the build before made of it."""
    is_inside = not line.roots or any(file == root or file.startswith(f"{root}/") for root in line.roots)
    is_foreign = _TYPED.search(file) is not None and not line.is_typed
    if not line.is_built or line.is_typed or (is_inside and not is_foreign):
        return shlex.quote(file)
    places = " ".join(map(shlex.quote, line.roots or (".",)))
    return f'"$(NODE_OPTIONS= node "{INSIDE}/built.mjs" {shlex.quote(file)} {places})"'


UNKNOWN = "."
"""The place of a test whose file is unknown: the root."""
_CLASS = re.compile(r"^[A-Za-z_$][\w$]*(?:[.\\][A-Za-z_$][\w$]*)*$")
_PACKAGE = re.compile(r"(?m)^name\s{0,8}=\s{0,8}['\"]([\w-]{1,200})['\"]")
_AVA = " › "
"""With which AVA parts what stands before a title."""
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_OF_TESTS = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?)/|(?:^|/)test[.-]|\.(?:test|spec)\.|(?:^|/)test\.[cm]?[jt]s$"
)
_NO_TEST_OF_AVA = re.compile(
    r"(?:^|/)_|(?:^|/)(?:tests?|__tests__)/(?:.*/)?(?:__)?(?:helper|fixture)s?(?:__)?/"
)
_SUFFIXES = (".java", ".kt", ".groovy", ".scala", ".rb", ".py", ".cs", ".php")


class Sources(NamedTuple):
    """What placing may look at."""

    files: Sequence[str]
    """Every file of the root, relative to it."""
    read: Callable[[str], str]
    """The text of one; empty where it cannot be read."""
    folders: tuple[str, ...] = ()
    """Absolute names of the root, as a report may write them."""
    module: str = ""
    """The path of a Go module."""
    tests: Callable[[Sequence[str]], Iterable[ReportedTest]] = lambda _: ()
    """The tests that some of the files hold, by the names that their runners report."""
    plain: Callable[[str], str] = str
    """A name without the folders that are others in the next run: tests may be named after the paths of files."""


class Placer:
    """Places the cases of one run; keeps what it looked up."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._files = frozenset(sources.files)
        self._by_end: dict[str, list[str]] = {}
        for file in sources.files:
            self._by_end.setdefault(file.rpartition("/")[2], []).append(file)
        self._go_tests_of: dict[str, Mapping[str, str]] = {}
        self._class_files: dict[str, str] = {}
        self._crates: dict[str, str] = {}

    def ids(self, cases: Iterable[Case]) -> list[tuple[str, Case]]:
        """Each case with an id that no other has, in order."""
        times: Counter[str] = Counter()
        numbered = []
        for case in cases:
            test = f"{self.file_of(case) or UNKNOWN}::{self._sources.plain(self._name_of(case))}"
            times[test] += 1
            numbered.append((test if times[test] == 1 else f"{test} #{times[test]}", case))
        return numbered

    def file_of(self, case: Case) -> str:
        """The file of a test, empty where it cannot be found."""
        return (
            self.path(case.file)
            or self.path(case.group)
            or self._in_name(case)
            or self._of_ava(case)[0]
            or self._of_go(case)
            or self._of_rust(case)
            or self._of_class(case.group)
            or self._of_c_sharp(case)
        )

    def path(self, text: str) -> str:
        """A file of the root, from what a report writes; empty where there is none."""
        name = text.removeprefix("file://").replace("\\", "/")
        for folder in self._sources.folders:
            name = name.removeprefix(f"{folder}/")
        name = name.removeprefix("./")
        if name in self._files:
            return name
        likely = [each for each in self._by_end.get(name.rpartition("/")[2], ()) if each.endswith(f"/{name}")]
        if len(likely) == 1:
            return likely[0]
        # What is not in the repository was made of something that is.
        return source_of(name, lambda each: self._by_end.get(each, ()))

    def _name_of(self, case: Case) -> str:
        inner = case.name.partition(" > ")[2] if self._in_name(case) else self._of_ava(case)[1]
        # A method as JUnit names it; in words the brackets may be all that two names differ in.
        plain = inner.removesuffix("()") if inner.removesuffix("()").isidentifier() else inner
        name = " ".join(plain.split()) or "?"
        if self._is_telling(case):
            return f"{case.group.split('$', 1)[1] if '$' in case.group else case.group} > {name}"
        return name

    def _is_telling(self, case: Case) -> bool:
        """Whether the group says more than the file: a nested class, or a suite in words."""
        if not case.group or case.group in ("test", case.name) or self.path(case.group):
            return False
        if self._sources.module or case.group.endswith(".rs"):
            return False
        return "$" in case.group or not (_CLASS.match(case.group) or "/" in case.group)

    def _in_name(self, case: Case) -> str:
        """The outermost name, where a runner makes a test of each file."""
        outer, _, rest = case.name.partition(" > ")
        return self.path(outer) if rest and "." in outer else ""

    def _of_ava(self, case: Case) -> tuple[str, str]:
        """The file that AVA puts before a title where it runs several, without ending and folders that all share, and the title."""
        parts = case.name.split(_AVA)
        for count in range(len(parts) - 1, 0, -1):
            likely = self._ava_files.get("/".join(parts[:count]), ())
            if len(likely) == 1:
                return likely[0], _AVA.join(parts[count:])
        return "", case.name

    @cached_property
    def _ava_files(self) -> Mapping[str, Sequence[str]]:
        """Every way in which AVA may name a test file -> the files."""
        by_name: dict[str, list[str]] = {}
        for file in self._sources.files:
            if _SCRIPT.search(file) and _OF_TESTS.search(file):
                *folders, name = file.split("/")
                stem = _SCRIPT.sub("", name).removeprefix("test-").removesuffix(".test").removesuffix(".spec")
                parts = [*(each for each in folders if each != "__tests__"), stem]
                for first in range(len(parts)):
                    by_name.setdefault("/".join(parts[first:]), []).append(file)
        return by_name

    def _of_go(self, case: Case) -> str:
        module = self._sources.module
        if not module or not (case.group == module or case.group.startswith(f"{module}/")):
            return ""
        folder = case.group[len(module) :].strip("/")
        if folder not in self._go_tests_of:
            self._go_tests_of[folder] = self._reported(_tests_of_package(self._sources.files, folder))
        return self._go_tests_of[folder].get(f"{case.group}.{case.name.split('/')[0]}", "")

    def _of_c_sharp(self, case: Case) -> str:
        """By its whole name: a file there may hold classes of any name."""
        name = re.split(r"[\[(]", case.name, maxsplit=1)[0].removeprefix(f"{case.group}.")
        return self._c_sharp_tests.get(f"{case.group.replace('+', '.')}.{name}", "") if case.group else ""

    @cached_property
    def _c_sharp_tests(self) -> Mapping[str, str]:
        return self._reported([file for file in self._sources.files if file.endswith(".cs")])

    def _reported(self, files: Sequence[str]) -> Mapping[str, str]:
        """Name -> file; of two files with the same the first."""
        file_by_name: dict[str, str] = {}
        for test in self._sources.tests(files) if files else ():
            file_by_name.setdefault(test.name, test.artifact)
        return file_by_name

    def _of_rust(self, case: Case) -> str:
        """By the tree of modules below the file that a program is made of."""
        crate, _, program = case.group.rpartition(":")
        program, _, times = program.partition("#")
        if not program.endswith(".rs"):
            return ""
        ends = [each for each in self._sources.files if each == program or each.endswith(f"/{program}")]
        own = [each for each in ends if self._crate_of(each, program) == crate.replace("-", "_")]
        # Of two packages with a file of that name cargo runs the one first whose name comes first.
        likely = own or sorted(ends, key=lambda each: self._crate_of(each, program))
        place = int(times or 1) - 1
        start = likely[place] if place < len(likely) else ([*likely, ""][0])
        folder = start.rpartition("/")[0]
        modules = case.name.split("::")[:-1]
        for depth in range(len(modules), 0, -1):
            stem = "/".join([*filter(None, [folder]), *modules[:depth]])
            for name in (f"{stem}.rs", f"{stem}/mod.rs"):
                if name in self._files:
                    return name
        return start

    def _crate_of(self, file: str, program: str) -> str:
        """The name of the package that a program lies in."""
        if file not in self._crates:
            folder = file.removesuffix(program)
            match = _PACKAGE.search(self._sources.read(f"{folder}Cargo.toml"))
            name = match[1] if match else folder.rstrip("/").rpartition("/")[2]
            self._crates[file] = name.replace("-", "_")
        return self._crates[file]

    def _of_class(self, group: str) -> str:
        """By the name of a class, as Java, Kotlin, C#, PHP and Ruby put one into a file of its name."""
        if not group or not _CLASS.match(group):
            return ""
        if group not in self._class_files:
            self._class_files[group] = self._class_file(group.split("$", maxsplit=1)[0].replace("\\", "."))
        return self._class_files[group]

    def _class_file(self, name: str) -> str:
        path = name.replace(".", "/")
        simple = path.rpartition("/")[2]
        near = [each for suffix in _SUFFIXES for each in self._by_end.get(simple + suffix, ())]
        whole = [each for each in near if each.rpartition(".")[0].endswith(path)]
        if whole or len(near) == 1:
            return (whole or near)[0]
        return self._declaring(simple)

    def _declaring(self, simple: str) -> str:
        """Of Kotlin, which no grammar here knows, the file that says so."""
        pattern = re.compile(rf"\bclass {re.escape(simple)}\b")
        for file in self._sources.files:
            if file.endswith(".kt") and pattern.search(self._sources.read(file)):
                return file
        return ""


def ava_tests(files: Sequence[str]) -> tuple[str, ...]:
    """The files that AVA may run, by the names that it looks for."""
    named = (file for file in files if _SCRIPT.search(file) and _OF_TESTS.search(file))
    return tuple(file for file in named if not _NO_TEST_OF_AVA.search(file))


def _tests_of_package(files: Sequence[str], folder: str) -> list[str]:
    return [file for file in files if file.rpartition("/")[0] == folder and file.endswith("_test.go")]


def placer_of(room: Room, machine: Machine) -> Placer:
    """For the reports of what ran in a room."""
    place = room.ground.place
    return Placer(
        Sources(
            files=list(files_below(place)),
            read=lambda path: text_at(place, path),
            folders=(str(room.place), str(room.copy)),
            module=module_of(place),
            tests=lambda files: _tests_in(room.ground, files, machine),
            plain=room.without_places,
        )
    )


def _tests_in(ground: Ground, files: Sequence[str], machine: Machine) -> Iterator[ReportedTest]:
    """What some files of the root hold, with paths of the root."""
    paths = [ground.outward(file) for file in files]
    for test in reported_tests(ground.folder, machine.source_facts, root=ground.root, only=paths):
        yield test._replace(artifact=ground.inward(test.artifact) or test.artifact)
