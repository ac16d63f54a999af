"""What stands in failing tests and in whatever they are given: fixtures, set-ups, tables of cases, helpers of the tests."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from cogworks.codebase.changes import matching
from cogworks.domain_services.exploring import Lines, merged
from cogworks.repair.localise.slices import Slice
from cogworks.repair.localise.sources import lines_of
from cogworks.repair.violations import TestRules
from cogworks.sight.cards import Outlined
from cogworks.sight.index import Index
from cogworks.sight.kinds import Kind
from cogworks.sight.stretches import tokens_of

TESTS_ROOM_TOKENS = 3_000
_MAX_TESTS = 6
_HOPS = 3
"""A fixture is given another one, which names a table."""
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_FIXTURES = "conftest.py"
_SET_UPS = frozenset(
    (
        "setUp",
        "setUpClass",
        "asyncSetUp",
        "setup_method",
        "setup_class",
        "setup_function",
        "setup_module",
        "setUpModule",
    )
)
"""What runs before a test without being named by it."""
_AUTOMATIC = "autouse"
_CALL = re.compile(r"(?<![\w$])(?P<name>[A-Za-z_$][\w$]{2,80})\(")
_MOST_FILES_OF_A_NAME = 3
"""What more files define is a common word, as `test` and `push` are."""
_TITLES = " > "
"""Between the titles of groups and of a test."""


def are_titled(tests: Sequence[str]) -> bool:
    """Whether their ids are made of titles, so that no definition of the code is the test itself."""
    return bool(tests) and all(
        not _is_of_python(test) and (_TITLES in test or not _IDENTIFIER.fullmatch(_names_in(test)[-1]))
        for test in tests
    )


def called_by(tests: Sequence[str], index: Index, *, rules: TestRules) -> tuple[tuple[str, int], ...]:
    """File and line of what tests call by a name that few files define, in the order of the calls; what lies among tests is left out."""
    looking = _Looking(index, rules)
    names = dict.fromkeys(
        match["name"]
        for place in list(dict.fromkeys(looking.themselves(tests)))[:_MAX_TESTS]
        for match in _CALL.finditer(looking.text(place))
    )
    return tuple(
        (path, each.line)
        for name in names
        if 0 < len(paths := _code_defining(name, index, rules)) <= _MOST_FILES_OF_A_NAME
        for path in paths
        for each in index.cards([path])[path].definitions
        if each.name == name
    )


def _code_defining(name: str, index: Index, rules: TestRules) -> list[str]:
    return [
        path
        for path in index.paths_defining(name)
        if index.kind(path) is Kind.SOURCE and matching(path, rules.files) is None
    ]


class _Place(NamedTuple):
    """A definition in a file of tests."""

    path: str
    number: int
    """Among the definitions of its file."""


def sources_of(
    tests: Sequence[str],
    index: Index,
    *,
    rules: TestRules | None = None,
    room_tokens: int = TESTS_ROOM_TOKENS,
) -> tuple[Slice, ...]:
    """What stands in the failing tests, and in what they are given; tests that cannot be found are left out.

    Args:
        tests: their ids, the file before the first `::`.
        rules: which files are tests; code that they test is shown elsewhere.
    """
    stretches_by_path: dict[str, list[Lines]] = {}
    room = room_tokens
    for path, stretch in _Looking(index, rules or TestRules()).places(tests):
        cost = tokens_of(_text(index, path, stretch))
        if cost > room or stretch in stretches_by_path.get(path, ()):
            continue
        room -= cost
        stretches_by_path.setdefault(path, []).append(stretch)
    return tuple(
        Slice(artifact=path, lines=stretch, text=_text(index, path, stretch))
        for path, stretches in stretches_by_path.items()
        for stretch in merged(stretches)
    )


def declared_at(tests: Sequence[str], index: Index) -> tuple[tuple[str, int], ...]:
    """File and line of the declarations of tests; those that cannot be found are left out."""
    places = _Looking(index, TestRules()).declarations(tests)
    return tuple(dict.fromkeys((path, definition.line) for path, definition in places))


def _names_in(test: str) -> list[str]:
    """The groups of a test and its name by its id: `TestCart::test_add[1 > 2]` in Python, `cart > adds [1, 2]` in other languages."""
    inside = test.partition("::")[2]
    if _TITLES in inside and not _is_of_python(test):
        return inside.split(_TITLES)
    return inside.partition("[")[0].split("::")


def _is_of_python(test: str) -> bool:
    return test.partition("::")[0].endswith(".py")


class _Looking:
    """Follows names from failing tests on."""

    def __init__(self, index: Index, rules: TestRules) -> None:
        self._index = index
        self._rules = rules

    def places(self, tests: Sequence[str]) -> Iterator[tuple[str, Lines]]:
        """File and lines, the tests first, then what they name, then what that names."""
        latest = list(dict.fromkeys(self._tests(tests)))[:_MAX_TESTS]
        seen = set(latest)
        for hop in range(_HOPS + 1):
            for place in latest:
                yield place.path, self._lines(place)
            if hop == _HOPS:
                return
            latest = [each for place in latest for each in self._given(place) if each not in seen]
            latest = list(dict.fromkeys(latest))
            seen.update(latest)

    def themselves(self, tests: Sequence[str]) -> Iterator[_Place]:
        """The tests themselves."""
        yield from self._tests(tests)

    def text(self, place: _Place) -> str:
        """What stands in a definition."""
        return _text(self._index, place.path, self._lines(place))

    def declarations(self, tests: Sequence[str]) -> Iterator[tuple[str, Outlined]]:
        """The tests themselves, the first of them."""
        for place in list(dict.fromkeys(self._tests(tests)))[:_MAX_TESTS]:
            yield place.path, self._definitions(place.path)[place.number]

    def _tests(self, tests: Sequence[str]) -> Iterator[_Place]:
        for test in tests:
            path = test.partition("::")[0]
            *groups, name = _names_in(test)
            named = [
                _Place(path, number)
                for number, each in enumerate(self._definitions(path))
                if each.name == name
            ]
            # Groups of other languages have tests of the same title; a class of pytest may come from another file.
            held = [place for place in named if groups and groups[-1] == self._holder(place)]
            yield from held or named

    def _holder(self, place: _Place) -> str:
        """The name of the class or group around a definition; empty: there is none."""
        definitions = self._definitions(place.path)
        parent = definitions[place.number].parent
        return definitions[parent].name if parent >= 0 else ""

    def _given(self, place: _Place) -> Iterator[_Place]:
        """What runs before a definition, and what it names."""
        yield from self._set_ups(place)
        names = set(_IDENTIFIER.findall(_text(self._index, place.path, self._lines(place))))
        for path in self._near(place.path):
            for number, each in enumerate(self._definitions(path)):
                # A name inside of another definition means something else out here.
                is_automatic = path.endswith(_FIXTURES) and self._is_automatic(path, each)
                if each.parent < 0 and each.kind != "class" and (each.name in names or is_automatic):
                    names.discard(each.name)
                    yield _Place(path, number)
        own = self._definitions(place.path)
        parent = own[place.number].parent
        for number, each in enumerate(own):
            if (
                parent >= 0
                and each.parent == parent
                and each.name in names
                and not each.name.startswith("test")
            ):
                yield _Place(place.path, number)

    def _set_ups(self, place: _Place) -> Iterator[_Place]:
        definitions = self._definitions(place.path)
        classes = [definitions[place.number].parent]
        yield from self._named(place.path, -1)
        if classes[0] < 0:
            return
        yield from self._named(place.path, classes[0])
        bases = set(_IDENTIFIER.findall(definitions[classes[0]].signature))
        for path in self._near(place.path):
            for number, each in enumerate(self._definitions(path)):
                if each.kind == "class" and each.name in bases and (path, number) != (place.path, classes[0]):
                    yield from self._named(path, number)

    def _named(self, path: str, parent: int) -> Iterator[_Place]:
        """The set-ups of a class; of the file itself: parent -1."""
        for number, each in enumerate(self._definitions(path)):
            automatic = parent >= 0 and self._is_automatic(path, each)
            if each.parent == parent and (each.name in _SET_UPS or automatic):
                yield _Place(path, number)

    def _near(self, path: str) -> list[str]:
        """The file, the fixtures of its folder and of those around it, and what it takes from other files of tests."""
        fixtures = [
            place
            for folder in PurePosixPath(path).parents
            if self._index.kind(place := (folder / _FIXTURES).as_posix()) is not None
        ]
        imported = [
            each
            for each in sorted(self._index.imports([path]).get(path, ()))
            if matching(each, self._rules.files) is not None
        ]
        return list(dict.fromkeys((path, *fixtures, *imported)))

    def _definitions(self, path: str) -> Sequence[Outlined]:
        card = self._index.cards([path]).get(path)
        return card.definitions if card else ()

    def _is_automatic(self, path: str, definition: Outlined) -> bool:
        above = (definition.first, definition.line)
        return definition.first < definition.line and _AUTOMATIC in _text(self._index, path, above)

    def _lines(self, place: _Place) -> Lines:
        definition = self._definitions(place.path)[place.number]
        return definition.first, definition.last


def _text(index: Index, path: str, lines: Lines) -> str:
    return "".join(lines_of(index.text(path))[lines[0] - 1 : lines[1]])
