"""From what a report calls a test to an id that begins with its file."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from cogworks.services.command.reports.cases import Case

UNKNOWN = "."
"""The place of a test whose file nobody knows: the root."""
_CLASS = re.compile(r"^[A-Za-z_$][\w$]*(?:[.\\][A-Za-z_$][\w$]*)*$")
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


class Placer:
    """Places the cases of one run; keeps what it looked up."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._known = frozenset(sources.files)
        self._by_end: dict[str, list[str]] = {}
        for file in sources.files:
            self._by_end.setdefault(file.rpartition("/")[2], []).append(file)
        self._tests_of: dict[str, Mapping[str, str]] = {}
        self._class_files: dict[str, str] = {}

    def ids(self, cases: Iterable[Case]) -> list[tuple[str, Case]]:
        """Each case with an id that no other has, in order."""
        times: Counter[str] = Counter()
        found = []
        for case in cases:
            test = f"{self.file_of(case) or UNKNOWN}::{self._name_of(case)}"
            times[test] += 1
            found.append((test if times[test] == 1 else f"{test} #{times[test]}", case))
        return found

    def file_of(self, case: Case) -> str:
        """The file of a test, empty where it cannot be found."""
        return (
            self.path(case.file)
            or self.path(case.group)
            or self._of_go(case)
            or self._of_rust(case)
            or self._of_class(case.group)
        )

    def path(self, text: str) -> str:
        """A file of the root, from what a report writes; empty where there is none."""
        name = text.removeprefix("file://").replace("\\", "/")
        for folder in self._sources.folders:
            name = name.removeprefix(f"{folder}/")
        name = name.removeprefix("./")
        if name in self._known:
            return name
        likely = [each for each in self._by_end.get(name.rpartition("/")[2], ()) if each.endswith(f"/{name}")]
        return likely[0] if len(likely) == 1 else ""

    def _name_of(self, case: Case) -> str:
        name = " ".join(case.name.removesuffix("()").split()) or "?"
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

    def _of_go(self, case: Case) -> str:
        module = self._sources.module
        if not module or not (case.group == module or case.group.startswith(f"{module}/")):
            return ""
        folder = case.group[len(module) :].strip("/")
        if folder not in self._tests_of:
            self._tests_of[folder] = self._go_tests(folder)
        return self._tests_of[folder].get(case.name.split("/")[0], "")

    def _go_tests(self, folder: str) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for file in self._sources.files:
            if file.rpartition("/")[0] == folder and file.endswith("_test.go"):
                names = re.findall(
                    r"(?m)^func ((?:Test|Example|Fuzz|Benchmark)\w*)\(", self._sources.read(file)
                )
                found |= dict.fromkeys(names, file)
        return found

    def _of_rust(self, case: Case) -> str:
        """By the tree of modules below the file that a program is made of."""
        crate, _, program = case.group.rpartition(":")
        if not program.endswith(".rs"):
            return ""
        ends = [each for each in self._sources.files if each == program or each.endswith(f"/{program}")]
        own = [
            each
            for each in ends
            if each.split("/")[0:-2] and each.split("/")[-3].replace("-", "_") == crate.replace("-", "_")
        ]
        start = (own or [each for each in ends if each == program] or ends or [""])[0]
        folder = start.rpartition("/")[0]
        modules = case.name.split("::")[:-1]
        for depth in range(len(modules), 0, -1):
            stem = "/".join([*filter(None, [folder]), *modules[:depth]])
            for name in (f"{stem}.rs", f"{stem}/mod.rs"):
                if name in self._known:
                    return name
        return start

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
        pattern = re.compile(rf"\bclass {re.escape(simple)}\b")
        for file in self._sources.files:
            if file.endswith((".cs", ".kt")) and pattern.search(self._sources.read(file)):
                return file
        return ""
