"""At which rank the place of a true fix stands: by each signal alone, without each, and by all together."""

from collections.abc import Iterable, Mapping, Sequence

from cogworks.repair.localise.slices import Slice
from cogworks.repair.localise.suspects import WEIGHTS, Ranking, Signal, Suspect
from cogworks.vocabulary import Value
from scripts.benchmarks.places import Places
from scripts.benchmarks.realbugs.hunks import Hunk

Ranks = Mapping[str, float | None]
"""Way of ranking -> rank of the first suspect that a true fix changes, from 1; None: no suspect is changed."""
TOPS = (1, 3, 5, 7)
ALL = "all signals"


def ranks(ranking: Ranking, hunks: Sequence[Hunk]) -> dict[str, float | None]:
    """Every way of ranking that the signals of a ranking allow; equal ones share the middle of their ranks."""
    there = [signal for signal in WEIGHTS if signal not in ranking.missing]
    found = {ALL: _rank(ranking.suspects, there, hunks)}
    found |= {f"{signal} alone": _rank(ranking.suspects, [signal], hunks) for signal in there}
    if len(there) > 1:
        found |= {
            f"without {signal}": _rank(ranking.suspects, [each for each in there if each != signal], hunks)
            for signal in there
        }
    return found


class Located(Value):
    """At which rank a bug stands, with coverage and where it cannot be had."""

    bug: str
    measured: dict[str, float | None]
    unmeasured: dict[str, float | None]
    is_shown: bool
    """Whether every place of the fix is among what is shown, with coverage."""


def located(bug: str, found: Places, hunks: Sequence[Hunk]) -> Located:
    """The ranks of a bug."""
    return Located(
        bug=bug,
        measured=ranks(found.measured.ranking, hunks),
        unmeasured=ranks(found.unmeasured.ranking, hunks),
        is_shown=all(_is_shown(each, found.measured.slices) for each in hunks),
    )


def _is_shown(hunk: Hunk, slices: Sequence[Slice]) -> bool:
    first, last = hunk.lines
    return any(
        each.artifact == hunk.path and each.lines[0] <= first <= last <= each.lines[1] for each in slices
    )


def ablations(found: Sequence[Located]) -> str:
    """What each signal is worth, with coverage and without."""
    with_it, without = ablation(each.measured for each in found), ablation(each.unmeasured for each in found)
    count = sum(each.is_shown for each in found)
    missing = ", ".join(each.bug for each in found if not each.is_shown) or "none"
    seen = f"All places of the fix are shown: {count} of {len(found)} bugs; not of: {missing}."
    return f"With coverage:\n\n{with_it}\n\nWhere coverage cannot be had:\n\n{without}\n\n{seen}"


def shown(rank: float | None) -> str:
    """A rank in a table."""
    return "–" if rank is None else f"{rank:g}"


def _rank(suspects: Sequence[Suspect], signals: Sequence[Signal], hunks: Sequence[Hunk]) -> float | None:
    scores = [sum(WEIGHTS[signal] * each.signals[signal] for signal in signals) for each in suspects]
    true = [score for score, each in zip(scores, suspects, strict=True) if is_changed(each, hunks)]
    if not true:
        return None
    best = round(max(true), 9)
    better = sum(round(score, 9) > best for score in scores)
    equal = sum(round(score, 9) == best for score in scores)
    return better + (equal + 1) / 2


def is_changed(suspect: Suspect, hunks: Sequence[Hunk]) -> bool:
    """Whether a fix changes lines of this definition that are no other's, or adds some among them."""
    return any(
        hunk.path == suspect.symbol.artifact and first <= last and begins <= last and first <= ends
        for hunk in hunks
        for begins, ends in (hunk.lines,)
        for first, last in suspect.own
    )


def ablation(found: Iterable[Ranks]) -> str:
    """How often the true place is among the first 1, 5 and 7, as a Markdown table."""
    each_bug = list(found)
    ways = dict.fromkeys(way for ranks_of_one in each_bug for way in ranks_of_one)
    rows = [
        f"| ranked by | bugs | {' | '.join(f'top {top}' for top in TOPS)} | mean reciprocal rank |",
        f"|---|---|{'---|' * len(TOPS)}---|",
    ]
    for way in ways:
        of_way = [ranks_of_one[way] for ranks_of_one in each_bug if way in ranks_of_one]
        tops = [sum(rank is not None and rank <= top for rank in of_way) for top in TOPS]
        mean = sum(1 / rank for rank in of_way if rank is not None) / len(of_way)
        rows.append(f"| {way} | {len(of_way)} | {' | '.join(map(str, tops))} | {mean:.2f} |")
    return "\n".join(rows)
