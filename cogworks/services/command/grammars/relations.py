"""Which definition calls, imports, inherits or tests which, by names: likelihoods, not proofs."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from cogworks.grammars.facts import FILE, Call, Definition
from cogworks.grammars.testing import is_test_file
from cogworks.services.call_graph import Kind, Relation
from cogworks.services.command.grammars.code import Code
from cogworks.services.command.grammars.indexing import kind_of

MAX_NAMESAKES = 50
"""A call that may mean more definitions than this says nothing."""
_MAX_USED = 500
_CONSTRUCTORS = frozenset({"constructor", "initialize", "__construct", "new"})
Place = tuple[str, int]


def relations_of(code: Code) -> Mapping[Relation, float]:
    """Every relation with its weight: 1, or 1/n where a call may mean n things. Sorted."""
    weights: dict[Relation, float] = {}
    for relation, weight in _Relating(code).relations():
        weights[relation] = max(weight, weights.get(relation, 0.0))
    return {relation: weights[relation] for relation in sorted(weights)}


class _Relating:
    def __init__(self, code: Code) -> None:
        self._code = code
        self._named: dict[str, list[Place]] = {}
        for path, facts in code.files.items():
            for place, each in enumerate(facts.definitions):
                if kind_of(code, path, place) != "variable" and each.kind != "test":
                    self._named.setdefault(each.name, []).append((path, place))

    @cached_property
    def _tests(self) -> frozenset[str]:
        return frozenset(path for path in self._code.files if is_test_file(self._code.spec(path), path))

    def relations(self) -> Iterator[tuple[Relation, float]]:
        for path in self._code.files:
            used = self._used(path)
            yield from self._imports(path, used)
            yield from self._calls(path, used)
            yield from self._inherits(path, used)

    def _used(self, path: str) -> Mapping[str, tuple[str, ...]]:
        """Name in the file -> the files it may come from; the empty name: all that are imported as a whole."""
        by_name: dict[str, tuple[str, ...]] = {}
        for each in self._code.files[path].imports:
            files = self._code.resolved(path, each)
            own_files = tuple(file for file in files if file in self._code.files)
            last = each.module.replace("\\", "/").replace("::", "/").rpartition("/")[2]
            for name in {each.alias or each.name or last, last, ""}:
                by_name[name] = tuple(dict.fromkeys((*by_name.get(name, ()), *own_files)))[:_MAX_USED]
        return by_name

    def _imports(self, path: str, used: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[Relation, float]]:
        source = self._code.modules[path]
        for target in used.get("", ()):
            if target != path:
                yield Relation(source, self._code.modules[target], "imports"), 1.0

    def _calls(self, path: str, used: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[Relation, float]]:
        for call in self._code.files[path].calls:
            source = self._code.id_of(path, self._doing(path, call.scope))
            targets = self._targets(path, call, used)
            for target in targets if len(targets) <= MAX_NAMESAKES else ():
                is_test = self._is_test(path, call.scope) and not self._is_test(*target)
                kind: Kind = "tests" if is_test else "calls"
                yield Relation(source, self._code.id_of(*target), kind), 1 / len(targets)

    def _doing(self, path: str, place: int) -> int:
        """What runs the code of a definition: of a variable what is around it, for a graph has no variables."""
        while place != FILE and kind_of(self._code, path, place) == "variable":
            place = self._code.files[path].definitions[place].parent
        return place

    def _is_test(self, path: str, place: int) -> bool:
        definitions = self._code.files[path].definitions
        while place != FILE:
            if definitions[place].is_test:
                return True
            place = definitions[place].parent
        return path in self._tests

    def _inherits(self, path: str, used: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[Relation, float]]:
        for place, each in enumerate(self._code.files[path].definitions):
            for base in each.bases:
                name = (
                    base.partition("<")[0]
                    .partition("(")[0]
                    .replace("\\", ".")
                    .replace("::", ".")
                    .rpartition(".")[2]
                )
                targets = self._nearest(
                    path, [at for at in self._named.get(name, ()) if at != (path, place)], used
                )
                for target in targets[:MAX_NAMESAKES]:
                    yield Relation(self._code.id_of(path, place), self._code.id_of(*target), "inherits"), 1.0

    def _targets(self, path: str, call: Call, used: Mapping[str, tuple[str, ...]]) -> list[Place]:
        """What a call may mean: what is named so in the type or file that the receiver means, else the nearest of that name."""
        named = self._named.get(call.name, [])
        if not named:
            return []
        if call.receiver in self._code.spec(path).self_words:
            own = self._own_type(path, call.scope)
            return [each for each in named if own is not None and self._owner(each) == own] or self._methods(
                path, named, used
            )
        if call.receiver is None:
            plain = [
                each
                for each in named
                if not self._owner(each) or self._owner(each) == self._own_type(path, call.scope)
            ]
            nearest = self._nearest(path, plain, used)
            return [*nearest, *(constructor for each in nearest for constructor in self._constructors(each))]
        of_type = [each for each in named if self._owner(each) == call.receiver]
        if of_type:
            return self._nearest(path, of_type, used)
        if call.receiver in used:
            return [each for each in named if each[0] in used[call.receiver]]
        return self._methods(path, named, used)

    def _methods(self, path: str, named: Sequence[Place], used: Mapping[str, tuple[str, ...]]) -> list[Place]:
        return self._nearest(path, [each for each in named if self._owner(each)], used)

    def _nearest(self, path: str, named: Sequence[Place], used: Mapping[str, tuple[str, ...]]) -> list[Place]:
        """Those in the file itself, else in what it imports, else in its folder, else anywhere in its language."""
        imported = frozenset(used.get("", ()))
        folder, language = posixpath.dirname(path), self._code.files[path].language
        alike = [each for each in named if each[0] == path]
        alike = alike or [each for each in named if each[0] in imported]
        alike = alike or [each for each in named if posixpath.dirname(each[0]) == folder]
        return alike or [each for each in named if self._code.files[each[0]].language == language]

    def _owner(self, at: Place) -> str:
        """The name of the type a definition belongs to; empty: none."""
        own = self._definition(at)
        if own.owner:
            return own.owner[-1]
        if own.parent == FILE or kind_of(self._code, at[0], own.parent) != "class":
            return ""
        return self._definition((at[0], own.parent)).name

    def _own_type(self, path: str, place: int) -> str | None:
        while place != FILE:
            if kind_of(self._code, path, place) == "class":
                return self._definition((path, place)).name
            if owner := self._owner((path, place)):
                return owner
            place = self._definition((path, place)).parent
        return None

    def _constructors(self, at: Place) -> Iterator[Place]:
        if kind_of(self._code, *at) != "class":
            return
        name = self._definition(at).name
        for place, each in enumerate(self._code.files[at[0]].definitions):
            if each.parent == at[1] and (each.name in _CONSTRUCTORS or each.name == name):
                yield at[0], place

    def _definition(self, at: Place) -> Definition:
        return self._code.files[at[0]].definitions[at[1]]
