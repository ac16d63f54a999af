"""Collects what one choice after another comes to: requirements, constraints, and what was left out."""

import posixpath
import re
from collections.abc import Mapping

from packaging.requirements import InvalidRequirement, Requirement

from cogworks.services.python.recipe.declared import Declared, Option
from cogworks.services.python.recipe.texts import canonical, logical_lines

_HASH = re.compile(r"(?<!\s)\s+--hash[ =](\S+)")
_FILE_OPTION = re.compile(r"(?:(?P<included>-r|--requirement)|-c|--constraint)[ =]?\s*(?P<path>\S+)")
_OWN_PROJECT = re.compile(
    r"(?:(?:-e|--editable)[ =]?\s*)?(?:file:)?(?P<path>\.{1,2}(?:/\.\.)*/?)(?:\[(?P<extras>[^\]]*)\])?"
)
_INDEX = ("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--trusted-host", "--no-index")
_MOST_LINES = 20_000
_DEEPEST = 60


class Basket:
    """What is taken is taken once."""

    def __init__(self, files: Mapping[str, str], declared: Declared) -> None:
        self._files = files
        self._declared = declared
        self._seen: set[tuple[str, bool]] = set()
        self._lines = 0
        self.requirements: set[str] = set()
        self.constraints: set[str] = set()
        self.hashed: set[str] = set()
        self.left_out: list[str] = list(declared.left_out)
        self.extras: list[str] = []
        self.groups: list[str] = []
        self.reached: set[str] = set()
        """Names of the distributions that something asks for."""

    def take_extra(self, name: str, place: str = "") -> None:
        """Take an extra of the project with those it includes."""
        name = canonical(name)
        option = self._declared.extras.get(name)
        if option is None:
            if not self._declared.dynamic:
                self.left_out.append(f"{place or 'the configuration'}: the project has no extra {name!r}")
        elif name not in self.extras:
            self.extras.append(name)
            self._option(option)
        if option is None and self._declared.dynamic and name not in self.extras:
            # Which extras there are only a build tells.
            self.extras.append(name)

    def take_group(self, name: str, place: str = "") -> None:
        """Take a dependency group with those it includes."""
        name = canonical(name)
        option = self._declared.groups.get(name)
        if option is None:
            self.left_out.append(f"{place or 'the configuration'}: there is no dependency group {name!r}")
        elif name not in self.groups:
            self.groups.append(name)
            for each in option.includes:
                if each in self._declared.groups:
                    self.take_group(each, option.place)
            self._option(option)

    def _option(self, option: Option) -> None:
        for path in option.files:
            self.refer(option.place, path)
        for line in option.lines:
            self.take_line(option.place, line)

    def refer(self, place: str, path: str, *, is_constraint: bool = False) -> None:
        """Take the file that is referred to, or say that it is not there."""
        if path in self._files:
            self.take_file(path, is_constraint=is_constraint)
        else:
            self.left_out.append(f"{place}: {path!r} is not among the requirements files that were read")

    def take_file(self, path: str, *, is_constraint: bool = False) -> None:
        """Take the lines of a requirements file and of those it refers to, each once."""
        if (path, is_constraint) in self._seen or len(self._seen) > _DEEPEST:
            return
        self._seen.add((path, is_constraint))
        for number, line in logical_lines(self._files[path]):
            self._lines += 1
            if self._lines > _MOST_LINES:
                self.left_out.append(
                    f"{path}: only the first {_MOST_LINES} lines of requirements files are read"
                )
                return
            self.take_line(f"{path}, line {number}", line, path=path, is_constraint=is_constraint)

    def take_line(self, place: str, line: str, *, path: str = "", is_constraint: bool = False) -> None:
        """Take a line of a requirements file or list, or say why not."""
        if (option := _FILE_OPTION.fullmatch(line)) is not None:
            other = posixpath.normpath(posixpath.join(posixpath.dirname(path), option["path"]))
            self.refer(place, other, is_constraint=is_constraint or not option["included"])
        elif (own := _OWN_PROJECT.fullmatch(line)) is not None and self._is_root(path, own["path"]):
            for extra in re.split(r"[\s,]+", own["extras"] or ""):
                if extra:
                    self.take_extra(extra, place)
        elif line.startswith(("-e", "--editable")):
            self.left_out.append(
                f"{place}: {line[:80]!r} is a project of its own or an address, and is not installed"
            )
        elif line.startswith("-"):
            name = line.split(maxsplit=1)[0].split("=", maxsplit=1)[0]
            why = "; indexes are configured for the machine" if name in _INDEX else ""
            self.left_out.append(f"{place}: the option {name!r} is not obeyed{why}")
        else:
            self._requirement(place, line, is_constraint=is_constraint)

    @staticmethod
    def _is_root(path: str, reference: str) -> bool:
        """pip takes a path from where it is started; some write it from where the file lies."""
        return (
            reference.rstrip("/") == "."
            or posixpath.normpath(posixpath.join(posixpath.dirname(path), reference)) == "."
        )

    def _requirement(self, place: str, line: str, *, is_constraint: bool) -> None:
        hashes = _HASH.findall(line)
        text = re.split(r"\s--", line, maxsplit=1)[0].strip() if " --" in line else line
        try:
            requirement = Requirement(text)
        except (InvalidRequirement, RecursionError) as error:
            self.left_out.append(
                f"{place}: {text[:120]!r} is no requirement: {(str(error).splitlines() or ['too deep'])[0][:200]}"
            )
            return
        if requirement.url:
            self.left_out.append(f"{place}: {text[:120]!r} names an address; only the package index is asked")
            return
        if canonical(requirement.name) == canonical(self._declared.name or "\0"):
            for extra in sorted(requirement.extras):
                self.take_extra(extra, place)
            return
        if is_constraint:
            requirement.extras = set()
            self.constraints.add(str(requirement))
            return
        self.requirements.add(str(requirement))
        self.reached.add(canonical(requirement.name))
        if hashes:
            self.hashed.add(" ".join([str(requirement), *(f"--hash={each}" for each in sorted(hashes))]))
