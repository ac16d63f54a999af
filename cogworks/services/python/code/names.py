"""Which definitions an expression may mean, followed through imports, aliases, classes and simple assignments."""

import builtins
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from cogworks.services.python.code.declarations import CALLED, ITEM, parts_of
from cogworks.services.python.code.facts import (
    LITERAL,
    MODULE,
    OWN_CLASS,
    OWN_INSTANCE,
    UNKNOWN,
    Binding,
    Definition,
    FileFacts,
    Imported,
)
from cogworks.services.python.code.repository import Code

_BUILTINS = frozenset(dir(builtins))
_PROPERTIES = frozenset({"property", "cached_property", "functools.cached_property", "abc.abstractproperty"})
_SUPER = "super"
_MAX_STEPS = 80


class Module(NamedTuple):
    """A module or package of the repository."""

    stem: str


class Defined(NamedTuple):
    """A definition."""

    path: str
    place: int


class Instance(NamedTuple):
    """An object of a class of the repository."""

    path: str
    place: int
    is_super: bool = False
    """Seen as `super()` sees it: without what the class itself defines."""


class Foreign(NamedTuple):
    """Something from outside the repository, or built into the language."""


Meaning = Module | Defined | Instance | Foreign
Meanings = tuple[Meaning, ...]
"""What an expression may mean, in order and each once; none: unknown."""
_Entry = int | Imported | Binding
"""A definition's place, an import or an assignment."""


class Names:
    """Looks names up in the code of one repository; remembers their meanings."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._tables = lru_cache(None)(lambda path: _Table(code.files[path]))
        self._underway: set[tuple[object, ...]] = set()
        self._cache: dict[tuple[object, ...], Meanings] = {}

    def meanings(self, path: str, scope: int, chain: str) -> Meanings:
        """What a chain means where it stands."""
        return self._once(("chain", path, scope, chain), lambda: self._followed(path, scope, chain))

    def attribute(self, meaning: Meaning, name: str) -> Meanings:
        """What `.name` of something means."""
        key = ("attribute", meaning, name)
        return self._once(key, lambda: self._attribute(meaning, name))

    def imported(self, path: str, imported: Imported) -> Meanings:
        """What one name of an import statement means."""
        return self._once(("import", path, imported), lambda: self._imported(path, imported))

    def definition(self, meaning: Defined | Instance) -> Definition:
        """What stands there."""
        return self._code.files[meaning.path].definitions[meaning.place]

    def _once(self, key: tuple[object, ...], find: Callable[[], Iterable[Meaning]]) -> Meanings:
        cached = self._cache.get(key)
        if cached is not None:
            return cached
        # Names that are defined by each other mean nothing, and nobody follows one through so many others.
        if key in self._underway or len(self._underway) > _MAX_STEPS:
            return ()
        self._underway.add(key)
        try:
            meanings = tuple(dict.fromkeys(find()))
        finally:
            self._underway.discard(key)
        self._cache[key] = meanings
        return meanings

    def _followed(self, path: str, scope: int, chain: str) -> Iterable[Meaning]:
        if chain in (UNKNOWN, LITERAL):
            return () if chain == UNKNOWN else (Foreign(),)
        if chain in (OWN_INSTANCE, OWN_CLASS):
            return self._own(path, scope, chain)
        first, *rest = parts_of(chain)
        if first == _SUPER and rest[:1] == [CALLED]:
            meanings: Iterable[Meaning] = self._super(path, scope)
            rest = rest[1:]
        else:
            meanings = self._named(path, scope, first)
        for part in rest:
            meanings = [each for meaning in meanings for each in self._step(meaning, part)]
        return meanings

    def _step(self, meaning: Meaning, part: str) -> Iterable[Meaning]:
        if part == CALLED:
            return self._result_of(meaning)
        return () if part == ITEM else self.attribute(meaning, part)

    def _own(self, path: str, scope: int, chain: str) -> Iterator[Meaning]:
        """The class around a method, or an object of it."""
        if scope == MODULE:
            return
        parent = self._code.files[path].definitions[scope].parent
        if parent != MODULE and self._code.files[path].definitions[parent].kind == "class":
            yield Instance(path, parent) if chain == OWN_INSTANCE else Defined(path, parent)

    def _super(self, path: str, scope: int) -> Iterator[Meaning]:
        definitions = self._code.files[path].definitions
        while scope != MODULE:
            if definitions[scope].kind == "class":
                yield Instance(path, scope, is_super=True)
                return
            scope = definitions[scope].parent

    def _named(self, path: str, scope: int, name: str) -> Iterable[Meaning]:
        """A plain name, looked for from the inside out as the language does."""
        table = self._tables(path)
        place = scope
        while place != MODULE:
            definition = self._code.files[path].definitions[place]
            # From a function inside, the names of a class's body are not seen.
            if (place == scope or definition.kind != "class") and (entries := table.entries(place, name)):
                return self._of_entries(path, entries)
            place = definition.parent
        if entries := table.entries(MODULE, name):
            return self._of_entries(path, entries)
        starred = self._starred(path, name)
        return starred or ((Foreign(),) if name in _BUILTINS else ())

    def _of_entries(self, path: str, entries: Iterable[_Entry]) -> Iterator[Meaning]:
        for entry in entries:
            if isinstance(entry, int):
                yield Defined(path, entry)
            elif isinstance(entry, Imported):
                yield from self.imported(path, entry)
            else:
                yield from self.meanings(path, entry.scope, entry.value)

    def _imported(self, path: str, imported: Imported) -> Iterable[Meaning]:
        if imported.name is None:
            # `import a.b` binds `a`, `import a.b as c` binds what `a.b` is.
            name = imported.module if imported.alias else imported.module.split(".", 1)[0]
            stem = self._code.modules.find(name, asking=path)
            return (Foreign(),) if stem is None else (Module(stem),)
        stem = self._code.modules.origin(imported, asking=path)
        return (Foreign(),) if stem is None else self.attribute(Module(stem), imported.name)

    def _starred(self, path: str, name: str) -> Meanings:
        meanings: list[Meaning] = []
        for each in self._tables(path).stars:
            stem = self._code.modules.origin(each, asking=path)
            file = None if stem is None else self._code.modules.file(stem)
            if stem is not None and file in self._code.files and _gives_away(self._code.files[file], name):
                meanings += self.attribute(Module(stem), name)
        return tuple(meanings)

    def _attribute(self, meaning: Meaning, name: str) -> Iterable[Meaning]:
        match meaning:
            case Module(stem):
                return self._member(stem, name)
            case Defined() if self.definition(meaning).kind == "class":
                return self._inherited(meaning, name)
            case Instance():
                return self._of_instance(meaning, name)
            case Foreign():
                return (meaning,)
            case _:
                return ()

    def _member(self, stem: str, name: str) -> Iterable[Meaning]:
        file = self._code.modules.file(stem)
        if file in self._code.files:
            if entries := self._tables(file).entries(MODULE, name):
                return self._of_entries(file, entries)
            if starred := self._starred(file, name):
                return starred
        below = self._code.modules.inside(stem, name)
        return () if below is None else (Module(below),)

    def _of_instance(self, instance: Instance, name: str) -> Iterable[Meaning]:
        owner = Defined(instance.path, instance.place)
        meanings = self._above(owner, name) if instance.is_super else self._inherited(owner, name)
        for each in meanings:
            if isinstance(each, Defined) and self._is_property(each):
                yield from self._result_of(each)
            else:
                yield each
        if not meanings:
            yield from self._set_on_self(owner, name)

    def _inherited(self, owner: Defined, name: str) -> Meanings:
        """What a class has under a name, its own first, then that of its bases in their order."""
        key = ("class", owner, name)
        return self._once(key, lambda: self._own_member(owner, name) or self._above(owner, name))

    def _own_member(self, owner: Defined, name: str) -> Meanings:
        entries = self._tables(owner.path).entries(owner.place, name)
        return tuple(self._of_entries(owner.path, entries))

    def _above(self, owner: Defined, name: str) -> Meanings:
        for base in self.bases(owner):
            if isinstance(base, Defined) and (meanings := self._inherited(base, name)):
                return meanings
        return ()

    def bases(self, owner: Defined) -> Meanings:
        """What the bases of a class mean."""
        definition = self.definition(owner)
        return tuple(
            meaning
            for chain in definition.base_chains
            # `Generic[T]` and `Base[int]` are what stands before the bracket.
            for meaning in self.meanings(owner.path, definition.parent, chain.removesuffix(ITEM))
        )

    def _set_on_self(self, owner: Defined, name: str) -> Iterator[Meaning]:
        """What methods of a class and of its bases assign to an attribute of their object."""
        waiting, seen = [owner], {owner}
        for each in waiting:
            for entry in self._tables(each.path).attributes(each.place, name):
                yield from self.meanings(each.path, entry.scope, entry.value)
            above = [base for base in self.bases(each) if isinstance(base, Defined) and base not in seen]
            seen.update(above)
            waiting += above

    def _result_of(self, meaning: Meaning) -> Iterable[Meaning]:
        """What a call returns."""
        if isinstance(meaning, Foreign):
            return (meaning,)
        if not isinstance(meaning, Defined):
            return ()
        definition = self.definition(meaning)
        if definition.kind == "class":
            return (Instance(meaning.path, meaning.place),)
        scope = meaning.place if definition.returned == OWN_INSTANCE else definition.parent
        return self.meanings(meaning.path, scope, definition.returned)

    def _is_property(self, meaning: Defined) -> bool:
        return not _PROPERTIES.isdisjoint(self.definition(meaning).decorators)


class _Table:
    """The names of one file by scope."""

    def __init__(self, facts: FileFacts) -> None:
        self.stars = tuple(each for each in facts.imports if each.name == "*")
        self._entries: dict[tuple[int, str], list[_Entry]] = {}
        self._attributes: dict[tuple[int, str], list[Binding]] = {}
        for place, definition in enumerate(facts.definitions):
            if definition.kind != "variable":
                self._entries.setdefault((definition.parent, definition.name), []).append(place)
        for each in facts.imports:
            name = each.alias or (each.module.split(".", 1)[0] if each.name is None else each.name)
            self._entries.setdefault((each.scope, name), []).append(each)
        for binding in facts.bindings:
            owner, _, attribute = binding.target.partition(".")
            if not attribute:
                self._entries.setdefault((binding.scope, owner), []).append(binding)
            elif (around := _class_around(facts, binding.scope, owner)) is not None:
                self._attributes.setdefault((around, attribute), []).append(binding)

    def entries(self, scope: int, name: str) -> list[_Entry]:
        return self._entries.get((scope, name), [])

    def attributes(self, owner: int, name: str) -> list[Binding]:
        """What methods of a class assign to `self.<name>`."""
        return self._attributes.get((owner, name), [])


def _class_around(facts: FileFacts, scope: int, name: str) -> int | None:
    """The class whose object (or itself) a method calls by this name."""
    if scope == MODULE or facts.definitions[scope].kind != "method":
        return None
    parameters = facts.definitions[scope].parameters
    first = next(iter((*parameters.positional_only, *parameters.positional)), None)
    return facts.definitions[scope].parent if first == name else None


def _gives_away(facts: FileFacts, name: str) -> bool:
    """Whether `import *` takes this name."""
    if facts.exported is not None and facts.is_exported_whole:
        return name in facts.exported
    return not name.startswith("_")
