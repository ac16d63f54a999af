"""Which findings the repository itself does not want to hear of: its settings of ruff, or of flake8 where it has none."""

import configparser
import posixpath
import re
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.services.python.settings_files import PYPROJECT, Settings, read_toml, tool_table
from cogworks.vocabulary import Value

FLAKE8_FILES = ("setup.cfg", "tox.ini", ".flake8")
"""In this order; the first with a section counts."""
_PART = re.compile(r"[^\s,:]+|:")
_CODE = re.compile(r"[A-Z]{1,3}[0-9]{0,4}")


class Flake8(Value):
    """What a section `[flake8]` leaves out."""

    path: str
    codes: tuple[str, ...] = ()
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Pattern of paths -> codes."""
    excluded: tuple[str, ...] = ()
    """Patterns of paths."""

    def leaves_out(self, path: str, code: str) -> bool:
        """Whether a finding of this rule in this file is one that nobody wants."""
        codes = [
            *self.codes,
            *(each for pattern, some in self.per_file if _fits(path, pattern) for each in some),
        ]
        return any(code.startswith(each) for each in codes) or any(
            _fits(path, each) for each in self.excluded
        )


def ignored_by(root: Path, settings: Settings) -> tuple[str, ...]:
    """The rules that these settings of ruff ignore everywhere.

    Ruff forgets them as soon as it is told on its command line what to select; what it ignores by file it does not forget.
    """
    found: list[str] = []
    for place in settings.chain:
        tables = read_toml(root, place)
        own = {} if isinstance(tables, str) else tables
        if posixpath.basename(place) == PYPROJECT:
            own = tool_table(own, "ruff") or {}
        lint = own.get("lint")
        for table in (own, lint if isinstance(lint, dict) else {}):
            for key in ("ignore", "extend-ignore"):
                given = table.get(key)
                found += [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
    return tuple(dict.fromkeys(each for each in found if _CODE.fullmatch(each) or each == "ALL"))


def flake8_settings(root: Path, *, besides: Collection[str] = ()) -> Flake8 | None:
    """The settings of flake8 at the top of the repository; None when it has none, or they are in one of `besides`."""
    for path in FLAKE8_FILES:
        file = read_file(root, path)
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read_string(file.data.decode() if file else "")
        except (configparser.Error, UnicodeDecodeError):
            continue
        if not parser.has_section("flake8"):
            continue
        if path in besides:
            return None
        section = parser["flake8"]
        return Flake8(
            path=path,
            codes=tuple(_codes(f"{section.get('ignore', '')} {section.get('extend-ignore', '')}")),
            per_file=tuple(_by_file(section.get("per-file-ignores", ""))),
            excluded=tuple(
                each
                for key in ("exclude", "extend-exclude")
                for each in re.split(r"[\s,]+", section.get(key, ""))
                if each
            ),
        )
    return None


def _codes(text: str) -> Iterable[str]:
    return (each for each in re.split(r"[\s,]+", text) if _CODE.fullmatch(each))


def _by_file(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    """`a.py,b.py: E1,E2` and further such entries, parted by blanks, commas or lines."""
    names: list[str] = []
    codes: list[str] = []
    is_after_colon = False
    for part in _PART.findall(text):
        if part == ":":
            is_after_colon = True
        elif is_after_colon and _CODE.fullmatch(part):
            codes.append(part)
        elif is_after_colon:
            yield from _each(names, codes)
            names, codes, is_after_colon = [part], [], False
        else:
            names.append(part)
    yield from _each(names, codes)


def _each(names: Sequence[str], codes: Sequence[str]) -> Iterable[tuple[str, tuple[str, ...]]]:
    return ((name, tuple(codes)) for name in names if codes)


def _fits(path: str, pattern: str) -> bool:
    plain = pattern.removeprefix("./").rstrip("/")
    parents = [path]
    while parents[-1]:
        parents.append(posixpath.dirname(parents[-1]))
    return any(
        fnmatchcase(each, plain) or fnmatchcase(posixpath.basename(each), plain) for each in parents[:-1]
    )
