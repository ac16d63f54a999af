"""The offers for a bug tried at its true place: rules, gates and transactions of a repair without its localisation."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.git import Git
from cogworks.codebase.patchtree import PatchTree
from cogworks.domain_services.messages import Caller
from cogworks.repair.consulting import Consulted
from cogworks.repair.transact.gates import Selection
from cogworks.repair.transact.outcomes import Result, Terms
from cogworks.repair.transact.transaction import TransactionPorts, transact
from cogworks.repair.violations import Span, Step
from cogworks.settings.config import Environment, child_environment
from cogworks.vocabulary import CommitOid, RunId
from cogworks.wiring.committer import COMMITTER
from cogworks.wiring.services import open_panel
from scripts.benchmarks.realbugs.hunks import Hunk
from scripts.benchmarks.realbugs.offers import Offer
from scripts.benchmarks.realbugs.selection import MAX_CHANGED_LINES, MAX_FILES, Bug


class Tree(NamedTuple):
    """A folder, as far as a service needs one."""

    path: Path


class Tried(NamedTuple):
    """One offer and what became of it."""

    offer: Offer
    result: Result


def tried_in_place(
    bug: Bug, hunks: Sequence[Hunk], stock: Sequence[Sequence[Offer]], tree: Path, environment: Environment
) -> tuple[Tried, ...]:
    """Each step's offers in their order until one is kept; the kept ones are commits of the repository in `tree`.

    Args:
        hunks: of the whole release, by number.
    """
    git = Git(environment=child_environment(), home=tree.parent)
    done: list[Tried] = []
    with open_panel({}, environment, caller=Caller(node="fix"), warn=lambda _: None) as panel:
        ports = TransactionPorts(
            tree=PatchTree(tree, git, identity=COMMITTER), checks=Consulted(Tree(tree), panel)
        )
        base = CommitOid(git.run("rev-parse", "HEAD", cwd=tree).strip())
        for number, (piece, offers) in enumerate(zip(bug.pieces, stock, strict=True), 1):
            own = [hunks[each] for each in piece.hunks]
            terms = Terms(
                run=RunId("ports"),
                sub_item=bug.id,
                step=Step(
                    id=f"piece-{number}",
                    files=tuple(dict.fromkeys(hunk.path for hunk in own)),
                    spans=tuple(Span(hunk.path, *hunk.lines) for hunk in own),
                    max_changed_lines=MAX_CHANGED_LINES,
                    max_files=MAX_FILES,
                ),
                selection=Selection(
                    landmark=piece.tests[:1],
                    targeted=bug.tests,
                    full=True,
                    is_last=number == len(bug.pieces),
                ),
                base=base,
            )
            for offer in offers:
                done.append(Tried(offer, transact(offer.diff, terms, ports)))
                if done[-1].result.is_kept:
                    break
    return tuple(done)
