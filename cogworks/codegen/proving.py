"""The proof of a change: every test without it and with it, what a merge is measured by, and where the change comes from."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from cogworks import __version__
from cogworks.canonical import canonical
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codegen.openings import opening_warnings, openings_of
from cogworks.codegen.suite import WHOLE, Judged
from cogworks.domain_services.messages import TestCase, TestReport, commands_of, versions_of
from cogworks.nodes.contract import Workspace
from cogworks.nodes.replies import PlannedItem
from cogworks.nodes.task import NodeTask
from cogworks.repair.overfitting import steering
from cogworks.repair.proof import (
    Proof,
    ProvenTest,
    Runs,
    Summary,
    Tree,
    proven_tests,
    summarised,
)
from cogworks.repair.transact.measure import file_of, is_of, with_hidden_tests
from cogworks.repair.unloaded import unloaded_between, unloaded_of
from cogworks.repair.violations import TestRules
from cogworks.repair.weakening import weakened_lines

PROOF_FILE = "proof.json"
MAX_PROOF_CHARS = 400_000
"""GitHub's GraphQL cuts off files of more than half a million bytes; a larger proof is kept without what did not change."""


@dataclass(frozen=True)
class Side:
    """One tree and the run of the whole suite on it."""

    tree: Tree
    report: TestReport
    judged: Judged = WHOLE


def side(workspace: Workspace, report: TestReport, judged: Judged = WHOLE) -> Side:
    """The working copy as it is now."""
    return Side(Tree(commit=workspace.head, tree=workspace.tree_name()), report, judged)


def with_hidden(report: TestReport, earlier: TestReport) -> TestReport:
    """The report, and what ran before its test files were written and can not be loaded with them."""
    there = {case.id for case in report.cases}
    hidden = tuple(case for case in earlier.cases if case.id not in there)
    return report.model_copy(update={"cases": (*report.cases, *hidden)})


def base_of(side: Side, stored: Summary | None, own: Collection[str]) -> Side:
    """The tree that the whole pull request is compared with: on rework not the one that this visit began on, but that of the first.

    Args:
        stored: the proof of the visit before.
        own: files that only this sub-work-item brought in.
    """
    if stored is None:
        return side
    outcomes = {case.id: case.outcome for case in side.report.cases if file_of(case.id) not in own}
    known = {test.id: test.base for test in stored.tests}
    cases = [
        TestCase(id=test, outcome=outcome)
        for test, outcome in {**outcomes, **known}.items()
        if outcome != "absent"
    ]
    # The run of this visit has tests that the first one did not have; so it was run as both of them were.
    ran = (TestReport(cases=(), commands=stored.commands, versions=dict(stored.versions)), side.report)
    report = TestReport(cases=tuple(cases), commands=commands_of(ran), versions=versions_of(ran))
    unloaded = {each.place: each for each in (*side.judged.unloaded, *stored.unloaded) if each.before}
    guard = "off" if side.judged.guard == "off" else stored.guard
    return Side(stored.base, report, Judged(tuple(unloaded.values()), guard))


def stored_proof(task: NodeTask) -> Summary | None:
    """What the latest successful visit of this sub-work-item proved."""
    stored = (task.earlier.get("code") or {}).get("proof")
    return Summary.model_validate(stored) if stored else None


def proof_of(
    base: Side,
    head: Side,
    reruns: Sequence[TestReport],
    *,
    diff: str,
    restated: Collection[str] = (),
    inline: Mapping[str, Collection[int]] = MappingProxyType({}),
) -> Proof:
    """The proof of what lies between two trees.

    Args:
        diff: of git, from the first to the second.
        restated: cases of tests from before, by the ids that they had.
        inline: as of `weakened_lines`.
    """
    parsed = parse_diff(diff)
    known = with_hidden_tests(base.report, head.report).collection_errors
    ran = (base.report, head.report, *reruns)
    return Proof(
        base=base.tree,
        head=head.tree,
        commands=commands_of(ran),
        versions=versions_of(ran),
        tests=proven_tests(Runs(base.report, head.report, reruns, touched=parsed.diff.paths)),
        weakened=() if parsed.problems else weakened_lines(parsed.diff, TestRules(), inline),
        uncollected=tuple(error for error in head.report.collection_errors if error not in known),
        unloaded=unloaded_between(base.judged.unloaded, unloaded_of(head.report.collection_errors)),
        guard=base.judged.guard,
        restated=tuple(sorted(restated)),
        warnings=() if parsed.problems else steering(parsed.diff, TestRules()),
    )


def with_openings(proof: Proof, task: NodeTask, workspace: Workspace, item: PlannedItem) -> Proof:
    """The proof, with a warning of each thing that the change reaches and nobody spoke of."""
    parsed = parse_diff(workspace.diff(task.base_branch))
    if parsed.problems:
        return proof
    opened = openings_of(task, workspace, item, parsed.diff)
    return proof.model_copy(update={"warnings": (*proof.warnings, *opening_warnings(opened))})


def unsteady(proof: Proof, targets: Collection[str]) -> tuple[str, ...]:
    """Why the proof does not hold: tests it rests on that passed in one run and failed in another."""
    flaky = [test for test in proof.tests if test.verdict == "flaky" and _is_target(test, targets)]
    return tuple(
        f"{test.id} {', then '.join((test.head, *test.reruns))} on the same files; make it pass every time"
        for test in flaky
    )


def proof_text(proof: Proof) -> str:
    """The content of `proof.json`."""
    text = canonical(proof.model_dump(mode="json"))
    return f"{text if len(text) <= MAX_PROOF_CHARS else canonical(proof_output(proof))}\n"


def proof_output(proof: Proof) -> Mapping[str, Any]:
    """What of it is part of the node's output."""
    return summarised(proof).model_dump(mode="json")


def _is_target(test: ProvenTest, targets: Collection[str]) -> bool:
    return any(is_of(test.id, each) for each in targets)


def lost_by_merge(
    ours: TestReport, theirs: TestReport, merged: TestReport, *, fork: Callable[[], TestReport]
) -> tuple[str, ...]:
    """The tests that passed on one side and do not pass in the merge, sorted; none where the merge is no worse than both.

    A test that the other side has and that does not pass there brings its failure along: the merge did not break it. One that
    the other side removed may go.

    Args:
        fork: the run on the commit that both sides began with; asked only where a test is gone.
    """
    sides = (
        (_passing(ours), _known(theirs), _passing(theirs)),
        (_passing(theirs), _known(ours), _passing(ours)),
    )
    there, passing = _known(merged), _passing(merged)
    lost: set[str] = set()
    gone: set[str] = set()
    for passed, others, others_passing in sides:
        for test in passed - passing:
            if test in others and test not in others_passing:
                continue
            (gone if test not in there and test not in others else lost).add(test)
    if gone:
        # What both sides began with was removed by the one that has it no more; what is new on one side was lost.
        lost |= gone - _known(fork())
    return tuple(sorted(lost))


def _passing(report: TestReport) -> frozenset[str]:
    return frozenset(case.id for case in report.cases if case.outcome == "passed")


def _known(report: TestReport) -> frozenset[str]:
    return frozenset(case.id for case in report.cases)


PROVENANCE_FILE = "provenance.json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "https://github.com/cogworks-pipeline/cogworks/code_generation@v1"


def provenance(task: NodeTask, proof: Proof) -> str:
    """The content of `provenance.json`; no clock takes part, so that a visit that is repeated states the same."""
    return f"{canonical(_statement(task, proof))}\n"


def _statement(task: NodeTask, proof: Proof) -> dict[str, Any]:
    item, repository = task.item, f"git+{task.item.repository}"
    return {
        "_type": STATEMENT,
        "subject": [
            {"name": f"{repository}@{task.branch}", "digest": {"gitCommit": proof.head.commit}},
        ],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {
                    "issue": f"{item.repository}#{item.number}",
                    "sub_item": task.visit.sub_item or "",
                },
                "internalParameters": {"tests": list(proof.commands), "proven": proof.is_proven},
                "resolvedDependencies": [
                    {"uri": f"{repository}@{task.base_branch}", "digest": {"gitCommit": proof.base.commit}},
                ],
            },
            "runDetails": {
                "builder": {"id": "cogworks", "version": {"cogworks": __version__, **proof.versions}},
                "metadata": {"invocationId": task.visit.visit_key},
                # Prompts by hash and replies: beside this file in the ledger.
                "byproducts": [{"name": name} for name in ("proof.json", "manifest-*.json", "reply-*.json")],
            },
        },
    }
