"""Which definition calls, imports, inherits or tests which, over a whole repository."""

from collections.abc import Iterable, Iterator, Mapping

from cogworks.services.call_graph import Kind, Relation
from cogworks.services.python.code.facts import Call, Imported
from cogworks.services.python.code.names import Defined, Foreign, Instance, Meaning, Module, Names
from cogworks.services.python.code.repository import Code, is_test_file

MAX_NAMESAKES = 50
"""A call that may mean more methods than this tells nothing."""


def relations_of(code: Code) -> Mapping[Relation, float]:
    """Every relation with its weight: 1, or 1/n where a call may mean n things. Sorted."""
    weights: dict[Relation, float] = {}
    for relation, weight in _Reader(code).relations():
        weights[relation] = max(weight, weights.get(relation, 0.0))
    return {relation: weights[relation] for relation in sorted(weights)}


class _Reader:
    def __init__(self, code: Code) -> None:
        self._code = code
        self._names = Names(code)
        self._methods = _methods_by_name(code)

    def relations(self) -> Iterator[tuple[Relation, float]]:
        for path, facts in self._code.files.items():
            for call in facts.calls:
                source = self._code.id_of(path, call.scope)
                yield from self._calls(source, path, self._called(path, call))
            yield from self._declared(path)
            for imported in facts.imports:
                yield from self._imports(path, imported)

    def _calls(self, source: str, path: str, targets: Iterable[Defined]) -> Iterator[tuple[Relation, float]]:
        unique = list(dict.fromkeys(targets))
        is_test = is_test_file(path)
        for target in unique:
            kind: Kind = "tests" if is_test and not is_test_file(target.path) else "calls"
            weight = 1 / len(unique)
            yield Relation(source, self._code.id_of(*target), kind), weight
            for constructor in self._constructors(target):
                yield Relation(source, self._code.id_of(*constructor), kind), weight

    def _called(self, path: str, call: Call) -> list[Defined]:
        """What a call may mean: what its name is known to stand for, else every method of that name."""
        if call.receiver is None:
            return self._callable(self._names.meanings(path, call.scope, call.name))
        receivers = self._names.meanings(path, call.scope, call.receiver)
        named = [meaning for each in receivers for meaning in self._names.attribute(each, call.name)]
        candidates = self._callable(named)
        if candidates or any(isinstance(meaning, Foreign) for meaning in (*receivers, *named)):
            return candidates
        if receivers and all(isinstance(each, Module) for each in receivers):
            return []
        namesakes = self._methods.get(call.name, [])
        return namesakes if len(namesakes) <= MAX_NAMESAKES else []

    def _callable(self, meanings: Iterable[Meaning]) -> list[Defined]:
        callables: list[Defined] = []
        for meaning in meanings:
            if isinstance(meaning, Defined):
                callables.append(meaning)
            elif isinstance(meaning, Instance):
                callables += [
                    each for each in self._names.attribute(meaning, "__call__") if isinstance(each, Defined)
                ]
        return callables

    def _constructors(self, target: Defined) -> list[Defined]:
        if self._names.definition(target).kind != "class":
            return []
        constructors = self._names.attribute(target, "__init__")
        return [each for each in constructors if isinstance(each, Defined)]

    def _declared(self, path: str) -> Iterator[tuple[Relation, float]]:
        for place, definition in enumerate(self._code.files[path].definitions):
            source = self._code.id_of(path, place)
            for chain in definition.decorator_chains:
                # What decorates a function stands between it and every caller.
                plain = chain.removesuffix("()")
                decorators = self._callable(self._names.meanings(path, definition.parent, plain))
                yield from self._calls(source, path, (each for each in decorators if each != (path, place)))
            for base in self._names.bases(Defined(path, place)):
                if isinstance(base, Defined):
                    yield Relation(source, self._code.id_of(*base), "inherits"), 1.0

    def _imports(self, path: str, imported: Imported) -> Iterator[tuple[Relation, float]]:
        source = self._code.id_of(path, imported.scope)
        for target in self._import_targets(path, imported):
            if target != source:
                yield Relation(source, target, "imports"), 1.0

    def _import_targets(self, path: str, imported: Imported) -> list[str]:
        """What an import names: definitions where it names some, else the module it takes them from."""
        modules = self._code.modules
        meanings = () if imported.name is None else self._names.imported(path, imported)
        ids = [self._code.id_of(*each) for each in meanings if isinstance(each, Defined)]
        stems = [each.stem for each in meanings if isinstance(each, Module)]
        if not ids and not stems and (origin := modules.origin(imported, asking=path)) is not None:
            stems = [origin]
        files = [modules.file(stem) for stem in stems]
        return [*ids, *(modules.names[file] for file in files if file in self._code.files)]


def _methods_by_name(code: Code) -> Mapping[str, list[Defined]]:
    by_name: dict[str, list[Defined]] = {}
    for path, facts in code.files.items():
        for place, definition in enumerate(facts.definitions):
            if definition.kind == "method":
                by_name.setdefault(definition.name, []).append(Defined(path, place))
    return by_name
