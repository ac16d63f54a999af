"""Finds the bugs between two consecutive releases by the rule of `selection`, and lists what does not count."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from cogworks.domain_services.exploring import Signatures
from cogworks.vocabulary import Value
from scripts.benchmarks.realbugs.hunks import Hunk, applied
from scripts.benchmarks.realbugs.narrowing import Hunks, joined, smallest_sets
from scripts.benchmarks.realbugs.plainruns import Outcomes, PlainSuite
from scripts.benchmarks.realbugs.selection import (
    MAX_BUGS_PER_PAIR,
    MAX_HUNKS,
    MAX_PIECES,
    Bug,
    Exclusion,
    Piece,
    api_refusal,
    has_effect,
    kind_refusal,
    size_refusal,
)
from scripts.benchmarks.realbugs.sources import Opened

SignaturesOf = Callable[[Mapping[str, str], Iterable[str]], Signatures]
"""What callers may rely on in some files of these sources."""


class Harvest(Value):
    """What one pair of releases gives."""

    pair: str
    bugs: tuple[Bug, ...] = ()
    excluded: tuple[Exclusion, ...] = ()
    tests: int = 0
    """Of the newer release, on its own sources."""
    failing: int = 0
    """Those of them that fail on the older sources."""
    runs: int = 0
    """How often tests were run for it."""


def harvested(
    name: str, pair: Opened, suite: PlainSuite, signatures: SignaturesOf, say: Callable[[str], None]
) -> Harvest:
    """The bugs of one pair.

    Args:
        suite: the newer release's tests.
    """
    if (reason := _unusable(pair)) is not None:
        return Harvest(pair=name, excluded=(Exclusion(what="the pair", reason=reason),))
    newer, older = suite.outcomes(pair.sides.newer), suite.outcomes(pair.sides.older)
    failing = sorted(newer.passing & older.failing)
    say(
        f"{name}: {len(newer.passing)} tests, {len(failing)} fail on the older sources, {len(pair.hunks)} hunks"
    )
    found = Harvest(pair=name, tests=len(newer.passing), failing=len(failing))
    excluded = [
        Exclusion(what=file, reason="cannot be loaded with the older sources") for file in older.unloaded
    ]
    if not failing:
        reason = "no test of the newer release fails on the older sources"
        if not newer.passing:
            reason = "no test of the newer release passes here"
        excluded.append(Exclusion(what="the pair", reason=reason))
        return found.model_copy(update={"excluded": tuple(excluded)})
    every = frozenset(range(len(pair.hunks)))
    relevant = frozenset(number for number in every if _matters(pair, every, number))
    sets = smallest_sets(relevant, failing, lambda hunks, tests: suite.passing(pair.sources(hunks), tests))
    bugs: list[Bug] = []
    united = joined(sets, lambda hunks: size_refusal([pair.hunks[number] for number in hunks]) is None)
    for pieces in (*united.bugs, *((each,) for each in united.left_out)):
        bug = _bug(f"{name}-{len(bugs) + 1}", _harmless(pieces, pair, suite))
        refused = f"the pair has {MAX_BUGS_PER_PAIR} bugs already" if len(bugs) == MAX_BUGS_PER_PAIR else None
        if any(bug.hunks & other.hunks for other in bugs):
            refused = "shares lines with another bug, and both together are too large"
        refused = refused or _refusal(bug, pair, suite, signatures)
        if refused is None:
            bugs.append(bug)
        else:
            excluded.append(Exclusion(what=_named(bug), reason=refused))
    say(f"{name}: {len(bugs)} bugs, {suite.runs} runs")
    return found.model_copy(update={"bugs": tuple(bugs), "excluded": tuple(excluded), "runs": suite.runs})


def _harmless(
    pieces: Sequence[tuple[Hunks, Sequence[str]]], pair: Opened, suite: PlainSuite
) -> Sequence[tuple[Hunks, Sequence[str]]]:
    """The pieces, those that break a test joined with what comes after them: each could be committed by itself."""
    newer, before = suite.outcomes(pair.sides.newer), suite.outcomes(pair.sides.older)
    stable = before.passing & newer.by_test.keys()
    done: list[tuple[Hunks, Sequence[str]]] = []
    waiting: tuple[Hunks, Sequence[str]] = (frozenset(), ())
    for number, (hunks, tests) in enumerate(pieces, 1):
        waiting = (waiting[0] | hunks, (*waiting[1], *tests))
        applied_now = waiting[0].union(*(each for each, _ in done))
        if number == len(pieces) or stable <= suite.outcomes(pair.sources(applied_now)).passing:
            done.append(waiting)
            waiting = (frozenset(), ())
    return done


def _bug(name: str, pieces: Sequence[tuple[Hunks, Sequence[str]]]) -> Bug:
    """A bug in as many pieces as a plan may have: what is too many goes into the last one."""
    first, rest = pieces[: MAX_PIECES - 1], pieces[MAX_PIECES - 1 :]
    if rest:
        hunks = frozenset[int]().union(*(each for each, _ in rest))
        first = (*first, (hunks, tuple(test for _, tests in rest for test in tests)))
    return Bug(
        id=name,
        pieces=tuple(Piece(hunks=tuple(sorted(hunks)), tests=tuple(sorted(tests))) for hunks, tests in first),
    )


def _unusable(pair: Opened) -> str | None:
    if pair.lonely:
        return f"sources are new or gone: {', '.join(pair.lonely[:3])}"
    if len(pair.hunks) > MAX_HUNKS:
        return f"{len(pair.hunks)} hunks, more than {MAX_HUNKS}"
    return None


def _matters(pair: Opened, every: Hunks, number: int) -> bool:
    """Whether a hunk is more than a comment, documentation or layout; one that cannot be told apart from others is."""
    path = pair.hunks[number].path
    without = pair.sources(every - {number})[path]
    try:
        return has_effect(pair.sides.newer[path], without)
    except SyntaxError:
        return True


def _refusal(bug: Bug, pair: Opened, suite: PlainSuite, signatures: SignaturesOf) -> str | None:
    hunks = [pair.hunks[number] for number in sorted(bug.hunks)]
    reason = size_refusal(hunks) or kind_refusal(hunks)
    if reason is not None:
        return reason
    fixed, paths = pair.sources(bug.hunks), {hunk.path for hunk in hunks}
    reason = api_refusal(signatures(pair.sides.older, paths), signatures(fixed, paths))
    newer, older = suite.outcomes(pair.sides.newer), suite.outcomes(pair.sides.older)
    return reason or _harm(bug, suite.outcomes(fixed), older.passing & newer.by_test.keys())


def _harm(bug: Bug, fixed: Outcomes, before: Collection[str]) -> str | None:
    """Why the fix alone is none, None when it is: its tests pass in the whole suite, and no other is broken by it.

    Args:
        before: tests of stable names that pass on the older sources.
    """
    if missed := [test for test in bug.tests if test not in fixed.passing]:
        return f"does not pass in the whole suite: {missed[0]}"
    if broken := sorted({*before} - fixed.passing):
        return f"needs more of the release, alone it breaks {broken[0]}"
    return None


def _named(bug: Bug) -> str:
    more = f" and {len(bug.tests) - 1} more" if len(bug.tests) > 1 else ""
    return f"{bug.tests[0]}{more}"


def steps(bug: Bug, pair: Opened) -> Iterator[tuple[Piece, dict[str, str], dict[str, str]]]:
    """Each piece of a fix with the sources before and after it."""
    done: list[Hunk] = []
    for piece in bug.pieces:
        before = applied(pair.sides.older, done)
        done += [pair.hunks[number] for number in piece.hunks]
        yield piece, before, applied(pair.sides.older, done)
