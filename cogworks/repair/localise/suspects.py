"""Which functions most likely hold the fault: four signals, one of them which tests execute which lines, weighed and ranked."""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal

from cogworks.domain_services.exploring import CallNode, CallSite, Lines, Symbol, TestCoverage
from cogworks.repair.localise.sources import lines_of
from cogworks.vocabulary import Value

Spectrum = Mapping[str, Mapping[int, float]]
"""Artifact -> line -> Ochiai's coefficient, 0 to 1; lines that no failing test executes are left out."""


def ochiai(*, failing_on: int, failing_off: int, passing_on: int) -> float:
    """Ochiai's coefficient of an element, 0 to 1; 0 where it says nothing.

    Source: Abreu et al., "An Evaluation of Similarity Coefficients for Software Fault Localization", PRDC 2006.

    Args:
        failing_on: failing tests that execute the element.
        failing_off: failing tests that do not.
        passing_on: passing tests that execute it.
    """
    root = math.sqrt((failing_on + failing_off) * (failing_on + passing_on))
    return failing_on / root if root else 0.0


def spectrum_of(
    tests: Sequence[TestCoverage],
    failing: Collection[str],
    *,
    is_suspect: Callable[[str], bool] = lambda _: True,
) -> Spectrum:
    """The coefficient of every line that a failing test executes.

    Args:
        failing: ids of the tests that fail; every other test of `tests` counts as passing.
        is_suspect: whether a fault may be in this artifact; tests, fixtures and vendored files are not.
    """
    bad = _hits(tests, is_suspect, lambda test: test in failing)
    good = _hits(tests, is_suspect, lambda test: test not in failing)
    all_failing = sum(1 for each in tests if each.test in failing)
    scores: dict[str, dict[int, float]] = {}
    for (artifact, line), hits in sorted(bad.items()):
        score = ochiai(failing_on=hits, failing_off=all_failing - hits, passing_on=good[artifact, line])
        scores.setdefault(artifact, {})[line] = score
    return scores


def _hits(
    tests: Sequence[TestCoverage], is_suspect: Callable[[str], bool], counts: Callable[[str], bool]
) -> Counter[tuple[str, int]]:
    hits: Counter[tuple[str, int]] = Counter()
    for each in tests:
        if counts(each.test):
            hits.update(
                {
                    (artifact, line)
                    for artifact, stretches in each.lines.items()
                    if is_suspect(artifact)
                    for first, last in stretches
                    for line in range(first, last + 1)
                }
            )
    return hits


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
"""`total_weight`, `TotalWeight` and "total weight" are the same two words."""
_SHORTEST = 3


def likenesses(text: str, documents: Mapping[str, str]) -> dict[str, float]:
    """Cosine between a text and each document, 0 to 1, of their words by frequency and rarity.

    A word that stands in every document tells none of them from the others and counts nothing. Source: Zhou et al.,
    "Where Should the Bugs Be Fixed?", ICSE 2012.

    Args:
        documents: by id.
    """
    counted = {name: _words(document) for name, document in documents.items()}
    spread = Counter(word for words in counted.values() for word in words)
    rarity = {word: math.log((len(documents) + 1) / (count + 1)) for word, count in spread.items()}
    wanted = _weighed({word: count for word, count in _words(text).items() if word in rarity}, rarity)
    return {name: _cosine(wanted, _weighed(words, rarity)) for name, words in counted.items()}


def _words(text: str) -> Counter[str]:
    return Counter(word.lower() for word in _WORD.findall(text) if len(word) >= _SHORTEST)


def _weighed(words: Mapping[str, int], rarity: Mapping[str, float]) -> dict[str, float]:
    return {word: (1 + math.log(count)) * rarity[word] for word, count in words.items()}


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    size = math.hypot(*one.values()) * math.hypot(*other.values())
    shared = sum(weight * other[word] for word, weight in one.items() if word in other)
    return min(1.0, shared / size) if size else 0.0


Signal = Literal["coverage", "stack", "token", "hop"]
WEIGHTS: Mapping[Signal, float] = {"coverage": 0.45, "stack": 0.25, "token": 0.15, "hop": 0.15}
FEWEST = 5
MOST = 7
_GAP = 0.5
_OF_CALLED = 0.5
"""How much of the coverage of what it calls a definition is given: it decided about the call, and is not what ran."""


class Frame(Value):
    """A place in a stack trace."""

    artifact: str
    line: int


class Suspect(Value):
    """A definition, and what speaks for the fault being in it."""

    symbol: Symbol
    own: tuple[Lines, ...]
    """Its lines without those of definitions inside it."""
    signals: dict[Signal, float]
    """Each from 0 to 1; a signal that is missing for the whole ranking is not in it."""
    suspicion: float
    """The weighted sum, 0 to 1."""
    belief: float | None = None
    """How probable it is after probes that the fault is in it; None: nobody investigated."""

    @property
    def likelihood(self) -> float:
        """How likely the fault is in it, as far as it is known: suspects are in the order of this."""
        return self.suspicion if self.belief is None else self.belief


class Evidence(Value):
    """What is known of the failures."""

    spectrum: dict[str, dict[int, float]] | None = None
    """None: no coverage could be had."""
    traces: tuple[tuple[Frame, ...], ...] | None = None
    """One for each failure, where it was raised first; None: no stack could be read."""
    text: str = ""
    """What the failing tests printed."""
    calls: tuple[CallSite, ...] = ()
    """Who calls what, by name, as far as it is known."""
    knows_hops: bool = True
    """False: nobody could tell how far a definition is from the failure; the `hop` of the nodes means nothing."""


class Ranking(Value):
    """Suspects, best first, and how far they can be trusted."""

    suspects: tuple[Suspect, ...]
    weights: dict[Signal, float]
    """Those used; they sum to 1."""
    missing: tuple[Signal, ...]
    """Signals that could not be had."""


def rank(nodes: Sequence[CallNode], evidence: Evidence, *, texts: Mapping[str, str]) -> Ranking:
    """Every definition near the failing tests, most suspicious first; equal ones by distance and id.

    Tests are no suspects. A signal that could not be had is left out and the weights of the others are
    raised in proportion, so that suspicion stays between 0 and 1.

    Args:
        texts: artifact -> source, for the definitions' words.
    """
    missing = tuple(signal for signal in WEIGHTS if not _is_there(signal, evidence))
    kept = {signal: weight for signal, weight in WEIGHTS.items() if signal not in missing}
    weights = {signal: weight / sum(kept.values()) for signal, weight in kept.items()}
    owned = {
        node.symbol.id: own_lines(node.symbol, (other.symbol for other in nodes))
        for node in nodes
        if not node.symbol.is_test and node.symbol.kind != "variable"
    }
    suspected = [node for node in nodes if node.symbol.id in owned]
    values = _values(suspected, owned, evidence, texts)
    suspects = [
        Suspect(
            symbol=node.symbol,
            own=owned[node.symbol.id],
            signals=(signals := {signal: values[signal][node.symbol.id] for signal in weights}),
            suspicion=sum(weights[signal] * value for signal, value in signals.items()),
        )
        for node in suspected
    ]
    hops = {node.symbol.id: node.hop for node in nodes}
    suspects.sort(key=lambda each: (-each.suspicion, hops[each.symbol.id], each.symbol.id))
    return Ranking(suspects=tuple(suspects), weights=weights, missing=missing)


def select(ranking: Ranking) -> tuple[Suspect, ...]:
    """The first seven suspects; five when the sixth is less than half as suspicious as the fifth."""
    best = ranking.suspects[:MOST]
    if len(best) > FEWEST and best[FEWEST].suspicion < best[FEWEST - 1].suspicion * _GAP:
        return best[:FEWEST]
    return best


def own_lines(symbol: Symbol, others: Iterable[Symbol]) -> tuple[Lines, ...]:
    """A definition's lines without those of the definitions inside it, as stretches in ascending order."""
    first, last = symbol.lines
    inner = sorted(
        other.lines
        for other in others
        if other.artifact == symbol.artifact and other.id != symbol.id and _is_inside(other, symbol)
    )
    stretches: list[Lines] = []
    for begins, ends in inner:
        if first < begins:
            stretches.append((first, begins - 1))
        first = max(first, ends + 1)
    return (*stretches, (first, last)) if first <= last else tuple(stretches)


def _is_inside(other: Symbol, symbol: Symbol) -> bool:
    if other.kind == "variable":
        return False
    within = symbol.lines[0] <= other.lines[0] and other.lines[1] <= symbol.lines[1]
    return within and (other.lines != symbol.lines or other.parent == symbol.id)


def _is_there(signal: Signal, evidence: Evidence) -> bool:
    match signal:
        case "coverage":
            return evidence.spectrum is not None
        case "stack":
            return evidence.traces is not None
        case "token":
            return bool(evidence.text)
        case "hop":
            return evidence.knows_hops


def _values(
    nodes: Sequence[CallNode],
    owned: Mapping[str, Sequence[Lines]],
    evidence: Evidence,
    texts: Mapping[str, str],
) -> Mapping[Signal, Mapping[str, float]]:
    """What each signal says of each of these definitions, by id."""
    places = {node.symbol.id: (node.symbol.artifact, owned[node.symbol.id]) for node in nodes}
    spectrum = evidence.spectrum or {}
    executed = {name: covered(*place, spectrum) for name, place in places.items()}
    documents = {name: _excerpt(texts.get(path, ""), own) for name, (path, own) in places.items()}
    return {
        "coverage": _with_callers(executed, evidence.calls, spectrum),
        "stack": {name: _stack(*place, evidence.traces or ()) for name, place in places.items()},
        "token": likenesses(evidence.text, documents),
        "hop": {node.symbol.id: 1 / (1 + node.hop) for node in nodes},
    }


def _with_callers(
    executed: Mapping[str, float], calls: Sequence[CallSite], spectrum: Spectrum
) -> dict[str, float]:
    """Coverage, where what only failing tests execute speaks against those as well who decided to call it."""
    named: dict[str, list[str]] = {}
    for name in executed:
        named.setdefault(name.rpartition(".")[2], []).append(name)
    scores = dict(executed)
    for call in calls:
        if call.caller in scores and spectrum.get(call.artifact, {}).get(call.line):
            meant = [name for name in named.get(call.name, ()) if name != call.caller]
            # A call by a name that several have may mean any of them.
            shares = [_OF_CALLED * executed[name] / len(meant) for name in meant]
            scores[call.caller] = max(scores[call.caller], *shares, 0.0)
    return scores


def covered(artifact: str, own: Sequence[Lines], spectrum: Spectrum) -> float:
    """The most suspicious of these lines, 0 to 1; 0 where no failing test executes any."""
    scores = spectrum.get(artifact, {})
    return max((score for line, score in scores.items() if _holds(own, line)), default=0.0)


def _stack(artifact: str, own: Sequence[Lines], traces: Sequence[Sequence[Frame]]) -> float:
    """1 where a failure was raised, less the further up the stack."""
    depths = [
        depth
        for trace in traces
        for depth, frame in enumerate(trace)
        if frame.artifact == artifact and _holds(own, frame.line)
    ]
    return 1 / (1 + min(depths)) if depths else 0.0


def _holds(stretches: Sequence[Lines], line: int) -> bool:
    return any(first <= line <= last for first, last in stretches)


def _excerpt(text: str, stretches: Sequence[Lines]) -> str:
    lines = lines_of(text)
    return "".join(line for first, last in stretches for line in lines[first - 1 : last])
