"""One bug of the benchmark, played: `cogworks fix` on the older sources, with an adversarial source for a model."""

import re
import subprocess
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cogworks.codebase.diffparsing import parse_diff
from cogworks.coding.repair_job import Notes
from cogworks.repair.diffrules import fingerprint
from cogworks.repair.instance import Instance
from cogworks.repair.options import ModelChoice, Options, Search, Sizes, Transactions
from cogworks.settings import Environment
from cogworks.vocabulary import Value
from cogworks.wiring_fix import Order, open_repair
from scripts.benchmarks.realbugs.adversary import Adversary
from scripts.benchmarks.realbugs.harvesting import steps
from scripts.benchmarks.realbugs.hunks import applied
from scripts.benchmarks.realbugs.offers import Offer, Step, offers
from scripts.benchmarks.realbugs.plainruns import PlainSuite
from scripts.benchmarks.realbugs.ranks import ranks
from scripts.benchmarks.realbugs.selection import MAX_CHANGED_LINES, MAX_FILES, Bug
from scripts.benchmarks.realbugs.sources import Opened

MOST_MUTANTS = 5
"""Of one bug; with the true pieces they are no more than the transactions that one repair may start."""
AT_ONCE = 10
_CODE = re.compile(r"diff \d+: (\w+):")
_GIT = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com")
OPTIONS = Options(
    search=Search(diffs_per_step=AT_ONCE, finalists=AT_ONCE, retries_per_step=5),
    limits=Sizes(max_loc_changes=MAX_CHANGED_LINES, max_files_per_diff=MAX_FILES),
    tnr=Transactions(actions_per_txn=10),
    model=ModelChoice(name="claude-sonnet-5-5"),
)


class Judges(NamedTuple):
    """The tests of both releases, on trees of their own."""

    newer: PlainSuite
    older: PlainSuite

    def lost(self, fixed: Mapping[str, str], final: Mapping[str, str]) -> tuple[str, ...]:
        """The tests of either release that pass with the true fix and not with the final sources."""
        if fixed == final:
            return ()
        return tuple(
            sorted(
                test
                for suite in self
                for test in suite.outcomes(fixed).passing - suite.outcomes(final).passing
            )
        )


class Played(Value):
    """What became of one bug."""

    bug: str
    lines: int
    files: int
    pieces: int
    targets: int
    success: bool
    """Whether the repair ended with a proof."""
    error: str = ""
    is_true: bool = False
    """Whether the final sources are those of the true fix."""
    lost: tuple[str, ...] = ()
    """Tests of either release that pass with the true fix and fail at the end."""
    kept: tuple[str, ...] = ()
    """Kinds of the diffs that were committed."""
    offered: dict[str, int] = {}
    """By kind: diffs that were shown to the loop."""
    refused: dict[str, int] = {}
    """By rule: diffs that reached no file."""
    tried: dict[str, int] = {}
    """By result: diffs that reached the tree."""
    survivors: int = 0
    """Mutants that no test of either release tells from the fix; they are not offered."""
    is_planned: bool = True
    """Whether localisation had shown the true places, so that the plan could name them."""
    ranks: dict[str, float | None] = {}
    seconds: float = 0.0


def played(bug: Bug, pair: Opened, judges: Judges, environment: Environment) -> Played:
    """Repair one bug and judge what is left."""
    hunks = [pair.hunks[number] for number in sorted(bug.hunks)]
    fixed = applied(pair.sides.older, hunks)
    stock, survivors = _stock(bug, pair, judges, fixed)
    adversary = Adversary(
        [[pair.hunks[number] for number in piece.hunks] for piece in bug.pieces],
        [piece.tests[0] for piece in bug.pieces],
        stock,
        most=AT_ONCE,
    )
    started_s = time.monotonic()
    with TemporaryDirectory(prefix="cogworks-bench-") as name:
        base = pair.lay_out(pair.sides.older, Path(name, "base"))
        _committed(base)
        instance = Instance(instance_id=bug.id, failing_tests=bug.tests)
        order = Order(base, instance, OPTIONS, command="python -m pytest -q")
        with open_repair(order, environment, say=lambda _: None, provider=adversary) as repair:
            result, patch, notes = repair.run(), repair.patch, repair.notes
        final = _patched(base, patch, pair.sides.older)
    shown = [offer for each in stock for offer in each]
    return Played(
        bug=bug.id,
        lines=sum(hunk.changed_lines for hunk in hunks),
        files=len({hunk.path for hunk in hunks}),
        pieces=len(bug.pieces),
        targets=len(bug.tests),
        success=result.success,
        error=result.error or "",
        is_true=final == fixed,
        lost=judges.lost(fixed, final),
        kept=_kept(notes, shown),
        offered=dict(Counter(offer.kind for offer in adversary.offered)),
        refused=dict(Counter(code for text in notes.refused for code in _CODE.findall(text)[:1])),
        tried=dict(Counter(each.result.code for each in notes.tried)),
        survivors=survivors,
        is_planned=adversary.asked_elsewhere == 0,
        ranks=ranks(notes.localised.ranking, hunks) if notes.localised else {},
        seconds=round(time.monotonic() - started_s, 1),
    )


def _stock(
    bug: Bug, pair: Opened, judges: Judges, fixed: Mapping[str, str]
) -> tuple[list[tuple[Offer, ...]], int]:
    """What is offered at each step, and how many mutants no test tells from the fix."""
    stock, survivors = [], 0
    for piece, before, after in steps(bug, pair):
        files = dict.fromkeys(test.split("::")[0] for test in piece.tests)
        step = Step(
            before=before,
            after=after,
            tests={path: (pair.newer / path).read_text(encoding="utf-8") for path in files},
            names=piece.tests,
        )
        every = offers(step, seed=bug.id, most_mutants=MOST_MUTANTS // len(bug.pieces))
        kept = [each for each in every if each.kind != "mutant" or judges.lost(after, step.with_diff(each))]
        survivors += len(every) - len(kept)
        stock.append(tuple(kept))
    return stock, survivors


def _kept(notes: Notes, shown: Sequence[Offer]) -> tuple[str, ...]:
    kinds = {fingerprint(parse_diff(offer.diff).diff): offer.kind for offer in shown}
    return tuple(kinds.get(each.candidate, "unknown") for each in notes.tried if each.result.is_kept)


def _committed(folder: Path) -> None:
    for arguments in (
        ("init", "--quiet"),
        ("add", "--all", "--force"),
        ("commit", "--quiet", "--message", "the older release"),
    ):
        subprocess.run([*_GIT, *arguments], cwd=folder, check=True, capture_output=True)


def _patched(folder: Path, patch: str, sources: Mapping[str, str]) -> dict[str, str]:
    """The sources after the final patch; a file that is gone is empty, and one that came is not looked at."""
    if patch:
        subprocess.run(["git", "apply", "-"], cwd=folder, check=True, input=patch.encode(), capture_output=True)
    return {
        path: (folder / path).read_bytes().decode() if (folder / path).is_file() else "" for path in sources
    }
