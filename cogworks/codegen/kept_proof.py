"""The proof of a change that was kept: what it is compared with, and how often its tests run for it."""

from collections.abc import Collection
from dataclasses import dataclass

from cogworks.codegen.inline import inline_lines, with_untried, without_code
from cogworks.codegen.proving import Side, base_of, proof_of, side, stored_proof, with_openings
from cogworks.codegen.suite import run_suite
from cogworks.codegen.transaction import Kept
from cogworks.nodes.contract import NodePorts
from cogworks.nodes.replies import PlannedItem
from cogworks.nodes.task import NodeTask
from cogworks.repair.proof import Proof
from cogworks.repair.transact.measure import RERUNS, file_of


@dataclass(frozen=True)
class Proven:
    """What a proof is about."""

    item: PlannedItem
    baseline: Side
    """The tree that the visit began on, with the tests that were handed over."""
    own: Collection[str]
    """Files that only this sub-work-item brought in, on an earlier visit."""
    in_code: Collection[str]
    """Files of code in which tests stand that came with the change."""
    restated: frozenset[str]
    """Cases of tests from before that this visit states in another way, by their old ids."""


def proof_of_kept(task: NodeTask, ports: NodePorts, kept: Kept, about: Proven) -> Proof:
    """Every test without and with the change; those that prove it run three times, for a test may pass by chance."""
    workspace, who, tests = ports.workspace(), about.item.key, kept.reply.tests
    ran = [run for run in kept.reruns if any(file_of(case.id) in tests for case in run.cases)]
    missing = max(0, RERUNS - len(ran))
    if missing:
        ports.say(f"{who}: running the tests of the change once more")
    again = [run_suite(ports, workspace, tests, who=who) for _ in range(missing)]
    baseline, stored = about.baseline, stored_proof(task)
    if about.in_code and stored is None:
        baseline = without_code(ports, workspace, baseline, after=kept.after, tests=tests, who=who)
    base = base_of(baseline, stored, about.own)
    proof = proof_of(
        base,
        side(workspace, kept.after),
        [*kept.reruns, *again],
        diff=workspace.diff(task.base_branch),
        restated=about.restated | frozenset(stored.restated if stored else ()),
        inline=inline_lines(workspace, task.base_branch, base.report),
    )
    return with_openings(with_untried(proof, tests), task, workspace, about.item)
