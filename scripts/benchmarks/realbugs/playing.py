"""One bug of the benchmark, played: `cogworks fix` on the older sources, with an adversarial source for a model."""

import json
import re
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from cogworks.codegen.repair_job import Notes
from cogworks.repair.instance import Instance
from cogworks.repair.localise.suspects import Ranking
from cogworks.repair.options import ModelChoice, Options, Search, Sizes, Transactions
from cogworks.repair.transact.measure import RERUNS
from cogworks.settings.config import Environment
from cogworks.vocabulary import Value
from cogworks.wiring.fix import open_repair
from cogworks.wiring.fix_order import Order
from scripts.benchmarks.realbugs.adversary import Adversary
from scripts.benchmarks.realbugs.byhand import ByHand, Spent, by_hand, now, since
from scripts.benchmarks.realbugs.harvesting import steps
from scripts.benchmarks.realbugs.hunks import applied
from scripts.benchmarks.realbugs.offers import Offer, Step, offers
from scripts.benchmarks.realbugs.placing import tried_in_place
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
    # Probes add to what a model is told; this one is told nothing.
    search=Search(
        diffs_per_step=AT_ONCE, finalists=AT_ONCE, retries_per_step=5, investigations_enabled=False
    ),
    limits=Sizes(max_loc_changes=MAX_CHANGED_LINES, max_files_per_diff=MAX_FILES),
    tnr=Transactions(actions_per_txn=10),
    model=ModelChoice(name="claude-sonnet-5-5"),
)


class Judges(NamedTuple):
    """The tests of both releases, on trees of their own."""

    newer: PlainSuite
    older: PlainSuite

    def lost(self, fixed: Mapping[str, str], final: Mapping[str, str]) -> tuple[str, ...]:
        """Tests that pass with the true fix and not with the final sources, in none of three runs.

        Of the newer release; where that has none, of the older.
        """
        if fixed == final:
            return ()
        for suite in self:
            found = suite.outcomes(fixed).passing - suite.outcomes(final).passing
            for _ in range(RERUNS):
                found = found and found - suite.again(final, found).passing
            if found:
                return tuple(sorted(found))
        return ()

    def is_told(self, bug: Bug, fixed: Mapping[str, str], mutant: Mapping[str, str]) -> bool:
        """Whether a test of either release tells a mutant from the fix; those that the fix turns green are asked first."""
        repaired = self.newer.passing(fixed, bug.tests)
        return self.newer.passing(mutant, bug.tests) < repaired or bool(self.lost(fixed, mutant))


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
    offered: dict[str, int]
    """By kind: diffs that were shown to the loop."""
    refused: dict[str, int]
    """By rule: diffs that reached no file."""
    tried: dict[str, int]
    """By result: diffs that reached the tree."""
    survivors: int = 0
    """Mutants that no test of either release tells from the fix; they are not offered."""
    is_located: bool = True
    """Whether localisation had shown the true places; if not, the offers were tried there by transactions alone."""
    ranks: dict[str, float | None]
    seconds: float = 0.0
    repair_s: float = 0.0
    """Of the whole of `cogworks fix`, the last time it was played."""
    repair_processor_s: float = 0.0
    by_hand_s: float = 0.0
    """Of the plain loop over the same offers: apply, run all tests, until each fix is there."""
    by_hand_processor_s: float = 0.0
    by_hand_runs: int = 0


def played(bug: Bug, pair: Opened, judges: Judges, environment: Environment) -> Played:
    """Repair one bug and judge what is left; where that is a survivor, again without it."""
    hunks = [pair.hunks[number] for number in sorted(bug.hunks)]
    fixed = applied(pair.sides.older, hunks)
    stock, survivors = _stock(bug, pair, judges)
    started_s = time.monotonic()
    while True:
        found, final = _once(bug, pair, stock, environment)
        lost = judges.lost(fixed, final)
        wrong = [offer for offer in found.kept if offer is not None and offer.kind == "mutant"]
        if final == fixed or lost or not wrong:
            break
        # No test tells this end from the true one, so it is no mistake of the loop; and it is no true fix either.
        survivors += len(wrong)
        stock = [tuple(offer for offer in each if offer not in wrong) for each in stock]
    hand = _by_hand(pair, stock, judges)
    return Played(
        bug=bug.id,
        lines=sum(hunk.changed_lines for hunk in hunks),
        files=len({hunk.path for hunk in hunks}),
        pieces=len(bug.pieces),
        targets=len(bug.tests),
        success=found.success,
        error=found.error,
        is_true=final == fixed,
        lost=lost,
        kept=tuple("unknown" if offer is None else offer.kind for offer in found.kept),
        offered=dict(Counter(offer.kind for offer in found.offered)),
        refused=dict(Counter(found.refused)),
        tried=dict(Counter(found.tried)),
        survivors=survivors,
        is_located=found.is_located,
        ranks=ranks(found.ranking, hunks) if found.ranking else {},
        seconds=round(time.monotonic() - started_s, 1),
        repair_s=round(found.spent.wall_s, 2),
        repair_processor_s=round(found.spent.processor_s, 2),
        by_hand_s=round(hand.spent.wall_s, 2),
        by_hand_processor_s=round(hand.spent.processor_s, 2),
        by_hand_runs=hand.runs,
    )


def _by_hand(pair: Opened, stock: Sequence[Sequence[Offer]], judges: Judges) -> ByHand:
    with TemporaryDirectory(prefix="cogworks-bench-") as name:
        base = pair.lay_out(pair.sides.older, Path(name, "base"))
        _committed(base)
        return by_hand(base, stock, judges.newer.python, judges.newer.environment)


def _once(
    bug: Bug, pair: Opened, stock: Sequence[Sequence[Offer]], environment: Environment
) -> tuple["_Found", Mapping[str, str]]:
    """One repair, and the sources it ends with."""
    with TemporaryDirectory(prefix="cogworks-bench-") as name:
        base = pair.lay_out(pair.sides.older, Path(name, "base"))
        _committed(base)
        found = _repaired(bug, pair, stock, base, environment)
        if not found.is_located:
            placed = _repaired_in_place(bug, pair, stock, base, environment)
            found = placed._replace(ranking=found.ranking, spent=found.spent)
        return found, _patched(base, found.patch, pair.sides.older)


class _Found(NamedTuple):
    """What a repair came to."""

    success: bool
    error: str
    patch: str
    kept: tuple[Offer | None, ...]
    """What was committed; None: a diff that nobody offered."""
    offered: Sequence[Offer]
    refused: Sequence[str]
    tried: Sequence[str]
    is_located: bool
    ranking: Ranking | None
    spent: Spent = Spent(0, 0)
    """By the whole of `cogworks fix`."""


def _repaired(
    bug: Bug, pair: Opened, stock: Sequence[Sequence[Offer]], base: Path, environment: Environment
) -> _Found:
    """By the whole of `cogworks fix`."""
    adversary = Adversary(
        [[pair.hunks[number] for number in piece.hunks] for piece in bug.pieces],
        [piece.tests[0] for piece in bug.pieces],
        stock,
        most=AT_ONCE,
    )
    instance = Instance(instance_id=bug.id, failing_tests=bug.tests)
    order = Order(base, instance, OPTIONS, command="python -m pytest -q")
    began = now()
    with open_repair(order, environment, say=lambda _: None, provider=adversary) as repair:
        result, patch, notes = repair.run(), repair.patch, repair.notes
        log = [json.loads(line) for line in repair.artifacts()["events.ndjson"].splitlines()]
    spent = since(began)
    return _Found(
        success=result.success,
        error=result.error or "",
        patch=patch,
        kept=_kept(notes, [offer for each in stock for offer in each], standing_of(log)),
        offered=adversary.offered,
        refused=[code for text in notes.refused for code in _CODE.findall(text)[:1]],
        tried=[each.result.code for each in notes.tried],
        is_located=adversary.offered != [] and adversary.asked_elsewhere == 0,
        ranking=notes.localised.ranking if notes.localised else None,
        spent=spent,
    )


def _repaired_in_place(
    bug: Bug,
    pair: Opened,
    stock: Sequence[Sequence[Offer]],
    base: Path,
    environment: Environment,
) -> _Found:
    """By rules and transactions alone, where localisation had not shown the place to the plan."""
    tree = base.with_name("place")
    shutil.copytree(base, tree, symlinks=True)
    tried = tried_in_place(bug, pair.hunks, stock, tree, environment)
    kept = tuple(each.offer for each in tried if each.result.is_kept)
    found = [each.result for each in tried]
    return _Found(
        success=len(kept) == len(bug.pieces),
        error="" if len(kept) == len(bug.pieces) else "; ".join(found[-1].reasons),
        patch=_difference(tree, base),
        kept=kept,
        offered=[each.offer for each in tried],
        refused=[code for result in found for code in {each.code for each in result.violations}],
        tried=[result.code for result in found if result.was_applied or result.code == "apply_failed"],
        is_located=False,
        ranking=None,
    )


def _difference(tree: Path, base: Path) -> str:
    first = _output(base, "rev-parse", "HEAD").strip()
    return _output(tree, "diff", "--binary", first, "HEAD")


def _output(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode()


def _stock(bug: Bug, pair: Opened, judges: Judges) -> tuple[list[tuple[Offer, ...]], int]:
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
        kept = [
            each
            for each in every
            if each.kind != "mutant" or judges.is_told(bug, after, step.with_diff(each))
        ]
        survivors += len(every) - len(kept)
        stock.append(tuple(kept))
    return stock, survivors


def standing_of(log: Iterable[Mapping[str, Any]]) -> frozenset[int]:
    """Which of the kept changes still stand at the end, by number; the whole suite may have taken some back.

    Args:
        log: what happened, as `events.ndjson` tells it.
    """
    heads: list[str] = []
    standing: list[int] = []
    count = 0
    for record in log:
        if record["kind"] == "vcs.checkpoint":
            why, head = record["data"]["why"], record["data"]["head"]
            if why == "kept":
                heads.append(head)
                standing.append(count)
                count += 1
            elif why in ("taken_back", "undone"):
                while heads and heads[-1] != head:
                    heads.pop()
                    standing.pop()
    return frozenset(standing)


def _kept(notes: Notes, shown: Sequence[Offer], standing: Collection[int]) -> tuple[Offer | None, ...]:
    """The offers behind the commits that stand; a diff whose place has moved is still the same offer."""
    # What is offered for lines that are not there may have the edits of the fix; it cannot have been applied.
    offered = {_edits(offer.diff): offer for offer in shown if offer.kind != "non-applying"}
    proposed = {each.id: each.diff for each in notes.proposals}
    kept = [each for each in notes.tried if each.result.is_kept]
    return tuple(
        offered.get(_edits(proposed[each.candidate]))
        for number, each in enumerate(kept)
        if number in standing
    )


def _edits(diff: str) -> tuple[str, ...]:
    return tuple(line for line in diff.splitlines() if line.startswith(("+", "-")))


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
        subprocess.run(
            ["git", "apply", "-"], cwd=folder, check=True, input=patch.encode(), capture_output=True
        )
    return {
        path: (folder / path).read_bytes().decode() if (folder / path).is_file() else "" for path in sources
    }
