"""From a failing report to the places where the fault may be: signals, ranking, suspects, windows.

The stack frames in what a failing test printed.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from pydantic import Field

from cogworks.codebase.changes import matching
from cogworks.domain_services.exploring import CallGraph, CallNode, Coverage, Steps, Symbol, SymbolIndex
from cogworks.domain_services.messages import TestReport
from cogworks.repair.localise.slices import PADDING_LINES, Slice, slices_of
from cogworks.repair.localise.surroundings import beyond, viewed
from cogworks.repair.localise.suspects import (
    Evidence,
    Frame,
    Ranking,
    Spectrum,
    Suspect,
    covered,
    own_lines,
    rank,
    select,
    spectrum_of,
)
from cogworks.repair.localise.symbols import SUFFIXES, symbols_of
from cogworks.repair.localise.testsources import are_titled, called_by, declared_at, sources_of
from cogworks.repair.violations import TestRules
from cogworks.sight.index import Index
from cogworks.sight.kinds import Kind
from cogworks.vocabulary import Value

_FRAME = re.compile(r"^(?P<artifact>[^\s<>:][^<>:\n]*):(?P<line>[1-9]\d{0,8}): in \S", re.MULTILINE)


def frames_of(message: str) -> tuple[Frame, ...]:
    """The frames a failure's text names as `path:line: in name`, where it was raised first.

    Frames of the interpreter and of libraries (`<python>/…`) are left out; a text without frames has none.
    """
    frames = [Frame(artifact=each["artifact"], line=int(each["line"])) for each in _FRAME.finditer(message)]
    return tuple(reversed(frames))


HOPS = 2
WIDER_HOPS = 3
MOST_NODES = 40
_MOST_FILES = 5
"""Whose definitions are ranked where nothing leads to one."""
_BAD = ("failed", "error")


class Explorer(Protocol):
    """What is known of the worktree; None: nobody offers it."""

    def text(self, path: str) -> str | None: ...
    def coverage(self, *, timeout_s: float, steps_of: str = "") -> Coverage | None: ...
    def call_graph(self, seeds: Sequence[str], *, hops: int, most: int) -> CallGraph | None: ...
    def index(self, artifacts: Sequence[str]) -> SymbolIndex | None: ...
    def words(self) -> Index | None:
        """What all files of the worktree say, whether or not a service knows them."""


class Reach(Value):
    """How far is looked."""

    hops: int = HOPS
    most_nodes: int = MOST_NODES
    padding_lines: int = PADDING_LINES
    timeout_s: float = 600.0
    """Of the run that measures coverage."""
    steps_of: str = ""
    """The failing test whose steps are wanted later; empty: none are."""


class Localised(Value):
    """Where the fault may be, and how far that can be trusted."""

    ranking: Ranking
    suspects: tuple[Suspect, ...]
    slices: tuple[Slice, ...]
    """What is shown of the code: windows around the suspects, the tables they name, and what the words of the failure find."""
    tests: tuple[Slice, ...] = ()
    """What stands in the failing tests and in their fixtures, as far as it is found."""
    nodes: int
    """Definitions that were ranked, tests included."""
    truncated: bool = False
    """Whether there were more of them than were looked at."""
    covering: dict[str, tuple[str, ...]] | None = None
    """Artifact -> tests that execute it; None: no coverage could be had."""
    steps: Steps | None = Field(default=None, exclude=True, repr=False)
    """Of the test whose steps were wanted, where they came with the coverage."""


def localise(
    failing: TestReport, explorer: Explorer, *, reach: Reach | None = None, rules: TestRules | None = None
) -> Localised:
    """The suspects behind the failures of a report; no suspect when they point at no definition.

    Args:
        failing: of the tests to repair; those of its cases that pass are passed over.
    """
    reach, rules = reach or Reach(), rules or TestRules()
    messages = [case.message for case in failing.cases if case.outcome in _BAD]
    messages += failing.collection_errors
    traces = tuple(frames for message in messages if (frames := frames_of(message)))
    ids = {case.id for case in failing.cases if case.outcome in _BAD}
    coverage = explorer.coverage(timeout_s=reach.timeout_s, steps_of=reach.steps_of)
    spectrum = None if coverage is None else _spectrum(coverage, ids, rules)
    nodes, knows_hops, truncated = _neighbourhood(traces, spectrum or {}, explorer, reach)
    if spectrum is None and not _has_suspects(nodes, rules):
        nodes, knows_hops, truncated = _neighbourhood_of_tests(sorted(ids), messages, explorer, reach, rules)
    index = explorer.index(sorted(spectrum)) if spectrum else None
    if knows_hops and spectrum:
        nodes = (
            *nodes,
            *_executed_beyond(nodes, spectrum, _definitions(sorted(spectrum), explorer, index), reach),
        )
    texts = _texts({node.symbol.artifact for node in nodes}, explorer)
    evidence = Evidence(
        spectrum=spectrum,
        traces=traces or None,
        text="\n".join(
            messages if spectrum or traces else [*messages, *_said_by(sorted(ids), explorer, rules)]
        ),
        calls=index.calls if index else (),
        knows_hops=knows_hops,
    )
    ranking = rank(_without_tests(nodes, rules), evidence, texts=texts)
    suspects = select(ranking)
    slices = slices_of(suspects, texts, padding=reach.padding_lines)
    tests: tuple[Slice, ...] = ()
    if suspects and (words := explorer.words()) is not None:
        tests = sources_of(sorted(ids), words, rules=rules)
        words_of_failure = "\n".join([*messages, *(each.text for each in tests)])
        slices = beyond(words, words_of_failure, slices, rules=rules, executed=_most_suspicious(spectrum))
    return Localised(
        ranking=ranking,
        suspects=suspects,
        slices=slices,
        tests=tests,
        nodes=len(nodes),
        truncated=truncated,
        covering=None if coverage is None else _covering(coverage),
        steps=None if coverage is None else coverage.steps,
    )


def _spectrum(
    coverage: Coverage, failing: Collection[str], rules: TestRules
) -> dict[str, dict[int, float]] | None:
    """None where no failing test left a trace: it failed before it ran."""
    if not any(each.test in failing for each in coverage.tests):
        return None
    spectrum = spectrum_of(
        coverage.tests, failing, is_suspect=lambda path: matching(path, rules.files) is None
    )
    return {artifact: dict(lines) for artifact, lines in spectrum.items()}


def _most_suspicious(spectrum: Mapping[str, Mapping[int, float]] | None) -> list[str]:
    """The files that failing tests execute, the most suspicious first."""
    executed = {path: max(lines.values(), default=0.0) for path, lines in (spectrum or {}).items()}
    return sorted((path for path in executed if executed[path] > 0), key=lambda path: (-executed[path], path))


def _covering(coverage: Coverage) -> dict[str, tuple[str, ...]]:
    tests_by_artifact: dict[str, set[str]] = {}
    for each in coverage.tests:
        for artifact in each.lines:
            tests_by_artifact.setdefault(artifact, set()).add(each.test)
    return {artifact: tuple(sorted(tests)) for artifact, tests in sorted(tests_by_artifact.items())}


def _neighbourhood(
    traces: Sequence[Sequence[Frame]], spectrum: Mapping[str, object], explorer: Explorer, reach: Reach
) -> tuple[Sequence[CallNode], bool, bool]:
    """The definitions near the failures, whether their distance is known, whether some were left out."""
    places = dict.fromkeys(f"{frame.artifact}:{frame.line}" for trace in traces for frame in trace)
    if places:
        graph = explorer.call_graph(tuple(places), hops=reach.hops, most=reach.most_nodes)
        if graph is not None and graph.nodes:
            return graph.nodes, True, graph.truncated
    artifacts = sorted({*spectrum, *(frame.artifact for trace in traces for frame in trace)})
    symbols = _definitions(artifacts, explorer, explorer.index(artifacts)) if artifacts else ()
    return [CallNode(symbol=symbol, hop=0) for symbol in symbols], False, False


def _neighbourhood_of_tests(
    tests: Sequence[str], messages: Sequence[str], explorer: Explorer, reach: Reach, rules: TestRules
) -> tuple[Sequence[CallNode], bool, bool]:
    """The same where no stack and no coverage leads into the code, as in most languages when an assertion of a test fails.

    What the tests call; where that leads nowhere, the definitions in the files that say most of what the tests and their failures say.
    Tests with titles are no definitions of the code, so what they call is compared by name, and both are looked at.
    """
    words = explorer.words()
    if words is None:
        return (), False, False
    is_by_name = are_titled(tests)
    begins = called_by(tests, words, rules=rules) if is_by_name else declared_at(tests, words)
    near: Sequence[CallNode] = ()
    if places := [f"{path}:{line}" for path, line in begins]:
        graph = explorer.call_graph(places, hops=reach.hops, most=reach.most_nodes)
        if graph is not None and _has_suspects(graph.nodes, rules):
            if not is_by_name:
                return graph.nodes, True, graph.truncated
            near = graph.nodes
    text = "\n".join([*messages, *tests, *(each.text for each in sources_of(tests, words, rules=rules))])
    own = dict.fromkeys(test.partition("::")[0] for test in tests)
    likely = [*dict.fromkeys(path for path, _ in viewed(words, text, [*own], rules))]
    files = ([path for path in likely if words.kind(path) is Kind.SOURCE] or likely)[:_MOST_FILES]
    symbols = _definitions(files, explorer, explorer.index(files)) if files else ()
    known = {node.symbol.id for node in near}
    return [*near, *(CallNode(symbol=each, hop=0) for each in symbols if each.id not in known)], False, False


def _said_by(tests: Sequence[str], explorer: Explorer, rules: TestRules) -> list[str]:
    """The names of tests and what stands in them: where nothing else leads to the fault, what a failure says is too little."""
    words = explorer.words()
    return [*tests, *(each.text for each in (sources_of(tests, words, rules=rules) if words else ()))]


def _has_suspects(nodes: Sequence[CallNode], rules: TestRules) -> bool:
    return any(
        not node.symbol.is_test and node.symbol.kind != "variable" for node in _without_tests(nodes, rules)
    )


def _executed_beyond(
    nodes: Sequence[CallNode], spectrum: Spectrum, symbols: Sequence[Symbol], reach: Reach
) -> Sequence[CallNode]:
    """What failing tests execute and no call in the code leads to, as with tables of functions; most suspicious first."""
    known = {node.symbol.id for node in nodes}
    scores = {
        symbol: covered(symbol.artifact, own_lines(symbol, symbols), spectrum)
        for symbol in symbols
        if symbol.id not in known and not symbol.is_test and symbol.kind != "variable"
    }
    executed = sorted(
        (symbol for symbol in scores if scores[symbol]), key=lambda each: (-scores[each], each.id)
    )
    return [CallNode(symbol=symbol, hop=reach.hops + 1) for symbol in executed[: reach.most_nodes]]


def _definitions(artifacts: Sequence[str], explorer: Explorer, index: SymbolIndex | None) -> Sequence[Symbol]:
    """Those of the index; where it has none, what the grammars here read."""
    if index is not None and index.symbols:
        return index.symbols
    readable = [path for path in artifacts if path.endswith(SUFFIXES)]
    texts = _texts(readable, explorer)
    return [symbol for path in readable if path in texts for symbol in symbols_of(path, texts[path].encode())]


def _texts(paths: Collection[str], explorer: Explorer) -> dict[str, str]:
    return {path: text for path in sorted(paths) if (text := explorer.text(path)) is not None}


def _without_tests(nodes: Sequence[CallNode], rules: TestRules) -> list[CallNode]:
    """A helper in a test file is no test, and no suspect either: a repair may not touch it."""
    return [node for node in nodes if matching(node.symbol.artifact, rules.files) is None]
