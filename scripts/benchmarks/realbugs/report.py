"""The results of the benchmark as Markdown: each bug, the totals, what is excluded, and what each signal is worth."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from scripts.benchmarks.realbugs.harvesting import Harvest
from scripts.benchmarks.realbugs.offers import KINDS
from scripts.benchmarks.realbugs.playing import Played
from scripts.benchmarks.realbugs.ranks import ALL, ablation, shown


def is_met(bugs: Sequence[Played]) -> bool:
    """Whether every true fix ended committed and nothing bad was kept."""
    return bool(bugs) and all(each.is_true and not each.lost and not wrongly_kept(each) for each in bugs)


def wrongly_kept(bug: Played) -> tuple[str, ...]:
    """Kinds of the diffs that were kept and are no part of the fix."""
    return tuple(kind for kind in bug.kept if kind != "fix")


def report(harvests: Sequence[Harvest], bugs: Sequence[Played]) -> str:
    """All tables, one after the other."""
    return "\n\n".join(
        (
            table(bugs),
            totals(bugs),
            times(bugs),
            offered(bugs),
            excluded(harvests),
            ablation(each.ranks for each in bugs),
        )
    )


def table(bugs: Sequence[Played]) -> str:
    """One row for each bug."""
    head = (
        "| bug | lines | files | pieces | tests repaired | kept | lost | tried | refused | survivors | rank | place |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    rows = [
        f"| {each.bug} | {each.lines} | {each.files} | {each.pieces} | {each.targets} | "
        f"{', '.join(each.kept) or each.error[:80] or 'nothing'} | {len(each.lost)} | {sum(each.tried.values())} | "
        f"{sum(each.offered.values()) - sum(each.tried.values())} | {each.survivors} | {_rank(each)} | "
        f"{'found' if each.is_located else 'given'} |"
        for each in bugs
    ]
    return "\n".join((head, *rows))


def totals(bugs: Sequence[Played]) -> str:
    """The promises of the benchmark, counted."""
    count = len(bugs)
    rows = {
        "true fixes that ended committed": f"{sum(each.is_true for each in bugs)} of {count}",
        "of these by the whole loop": sum(each.is_true and each.is_located for each in bugs),
        "of these where localisation had not shown the place, by rules and transactions alone": sum(
            each.is_true and not each.is_located for each in bugs
        ),
        "tests that pass with the true fix and fail at the end": sum(len(each.lost) for each in bugs),
        "diffs kept that are no part of a fix": sum(len(wrongly_kept(each)) for each in bugs),
        "mutants that no test of either release tells from the fix": sum(each.survivors for each in bugs),
    }
    return "\n".join(
        ("| what | count |", "|---|---|", *(f"| {what} | {number} |" for what, number in rows.items()))
    )


def times(bugs: Sequence[Played]) -> str:
    """What the whole loop took, beside the plain loop over the same offers; where it was not given the place alone."""
    found = [each for each in bugs if each.is_located and each.by_hand_processor_s]
    if not found:
        return "No time was measured."
    rows = [
        f"| {each.bug} | {each.by_hand_runs} | {each.by_hand_processor_s:.1f} | {each.repair_processor_s:.1f} | "
        f"{each.repair_processor_s / each.by_hand_processor_s:.1f} | {each.repair_s / each.by_hand_s:.1f} |"
        for each in found
    ]
    processor = [each.repair_processor_s / each.by_hand_processor_s for each in found]
    clock = [each.repair_s / each.by_hand_s for each in found]
    together = sum(each.repair_processor_s for each in found) / sum(
        each.by_hand_processor_s for each in found
    )
    return "\n".join(
        (
            "| time of the whole loop, as a multiple of the plain loop | |",
            "|---|---|",
            f"| processor, all together | {together:.1f} |",
            f"| processor, median | {median(processor):.1f} |",
            f"| clock, median | {median(clock):.1f} |",
            "",
            "| bug | runs by hand | processor by hand (s) | processor of the loop (s) | multiple | of the clock |",
            "|---|---|---|---|---|---|",
            *rows,
        )
    )


def offered(bugs: Iterable[Played]) -> str:
    """How many diffs of each kind were shown to the loop, and how many of them it kept."""
    shown, kept = Counter[str](), Counter[str]()
    codes = Counter[str]()
    for each in bugs:
        shown.update(each.offered)
        kept.update(each.kept)
        codes.update(each.tried)
        codes.update({f"rule {code}": number for code, number in each.refused.items()})
    rows = [f"| {kind} | {shown[kind]} | {kept[kind]} |" for kind in KINDS]
    return "\n".join(
        ("| kind | offered | kept |", "|---|---|---|", *rows, "", f"What ended them: {_listed(codes)}.")
    )


def excluded(harvests: Iterable[Harvest]) -> str:
    """Every pair of releases with what it gave, and what of it does not count."""
    rows = [
        f"| {each.pair} | {each.tests} | {each.failing} | {len(each.bugs)} | "
        f"{'; '.join(f'{_short(no.what)}: {_short(no.reason)}' for no in each.excluded) or '–'} |"
        for each in harvests
    ]
    head = ("| pair | tests | fail on the older sources | bugs | excluded |", "|---|---|---|---|---|")
    return "\n".join((*head, *rows))


def _rank(bug: Played) -> str:
    return shown(bug.ranks.get(ALL))


def _listed(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{name} {number}" for name, number in ordered)


def _short(text: str, most: int = 90) -> str:
    """The text in one cell of a table."""
    plain = " ".join(text.split()).replace("|", "/")
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
