"""What goes into transactions and comes out of them: terms, moments, results, and what the tests printed that stopped them."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from cogworks.codebase.diffmodel import Diff
from cogworks.codebase.patchtree import StagedFile
from cogworks.domain_services.messages import TestReport
from cogworks.repair.transact.gates import GateName, Limits, Selection
from cogworks.repair.transact.measure import BAD, Measurement, Worse
from cogworks.repair.violations import Step, Violation
from cogworks.tools.records import Redactor
from cogworks.vocabulary import CommitOid, RunId, Value

TransactionEventKind = Literal[
    "txn.checkpoint",
    "txn.measured",
    "txn.validated",
    "txn.applied",
    "file.write",
    "txn.compared",
    "txn.gate",
    "txn.judged",
    "txn.commit",
    "txn.rollback",
]
StepOfTen = Literal["T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9", "T10"]
Code = Literal[
    "kept",
    "locked",
    "dirty_tree",
    "checkpoint_failed",
    "no_tests",
    "baseline_timeout",
    "rejected",
    "apply_failed",
    "apply_mismatch",
    "gate_static",
    "gate_landmark",
    "gate_targeted",
    "gate_regression",
    "gate_smoke",
    "gate_full",
    "mu_regressed",
    "commit_failed",
    "rollback_failed",
]

GATE_CODES: Mapping[GateName, Code] = {
    "static": "gate_static",
    "landmark": "gate_landmark",
    "targeted": "gate_targeted",
    "regression": "gate_regression",
    "smoke": "gate_smoke",
    "full": "gate_full",
}
"""What a transaction that ended at a gate is called."""


class TransactionEvent(Value):
    """One step of a transaction, reported when it is done."""

    kind: TransactionEventKind
    step: StepOfTen
    data: Mapping[str, Any] = {}


class Terms(Value):
    """Under which terms a diff is tried."""

    run: RunId
    sub_item: str
    """Names the sub-work-item, or the instance, in the commit."""
    step: Step
    selection: Selection
    base: CommitOid
    """Where the run started from; churn counts from there."""
    command: str = ""
    """How the tests are run; a measurement made in another way is not taken over."""
    limits: Limits = Limits()
    static: bool = True
    """Whether the static checks are a gate."""
    max_total_churn: float = Field(default=500.0, ge=0)
    message: str = ""
    """The commit's message, in place of `txn:<step>`; the trailers follow it."""
    before: Measurement | None = None
    """How the tree fares without the change, where that is known; its static findings are looked up all the same."""

    def baseline_key(self, tree: str) -> str:
        """64 hex digits: equal where a measurement of this tree can be used again."""
        parts = json.dumps([tree, self.selection.model_dump(), self.command, self.base])
        return hashlib.sha256(parts.encode()).hexdigest()


class Result(Value):
    """How one transaction ended; the tree is clean in every case but `rollback_failed`."""

    code: Code
    reasons: tuple[str, ...] = ()
    """Why it was not kept, in words for the next proposal."""
    printed: tuple[str, ...] = ()
    """What the tests that still fail with it printed, cut and without secrets."""
    violations: tuple[Violation, ...] = ()
    proposal: str = ""
    """Fingerprint of the diff."""
    before: Measurement | None = None
    after: Measurement | None = None
    worse: Worse | None = None
    """What the change made worse, as far as the gate that stopped it can tell."""
    unproven: tuple[str, ...] = ()
    """Tests that had to pass and files that had to prove something, and hold no test that passes."""
    oid: CommitOid | None = None
    suite: TestReport | None = Field(default=None, exclude=True)
    """The run of the whole suite that answered for every gate, where all of it was steady."""

    @property
    def is_kept(self) -> bool:
        return self.code == "kept"

    @property
    def shown(self) -> tuple[str, ...]:
        """Which tests a change that was not kept left failing, as far as they ran, and what they printed."""
        failing = sorted(self.after.failing)[:10] if self.after else []
        return (*([f"failing with this change: {', '.join(failing)}"] if failing else []), *self.printed)

    @property
    def was_applied(self) -> bool:
        """Whether the diff reached the tree, for however long."""
        return self.code in (
            "kept",
            "apply_mismatch",
            "mu_regressed",
            "commit_failed",
            "rollback_failed",
        ) or (self.code.startswith("gate_"))


def commit_message(terms: Terms, result: Result) -> str:
    """Subject and trailers of the commit that keeps a diff."""
    trailers = {
        "Run": "" if terms.message else terms.run,
        "Swi": "" if terms.message else terms.sub_item,
        "Step": terms.step.id,
        "Proposal": result.proposal,
        "Mu-Pre": f"{result.before.scalar:g}" if result.before else "",
        "Mu-Post": f"{result.after.scalar:g}" if result.after else "",
    }
    lines = [f"Cogworks-{name}: {' '.join(value.split())}" for name, value in trailers.items() if value]
    # A message of its own ends with trailers already, which name run and sub-work-item; ours join them.
    head = terms.message.rstrip("\n") if terms.message else f"txn:{terms.step.id}\n"
    return "\n".join([head, *lines]) + "\n"


def staging_refusal(diff: Diff, images: Mapping[str, str | None], staged: Sequence[StagedFile]) -> str | None:
    """Why what git staged is not what the diff says, None when it is: same paths, same texts, no other mode."""
    staged_by_path = {file.path: file for file in staged}
    if staged_by_path.keys() != images.keys():
        return f"git staged {sorted(staged_by_path)}, the diff names {sorted(images)}"
    wanted_modes = {file.path: file.new_mode for file in diff.files if file.kind == "create"}
    for path, file in staged_by_path.items():
        if file.text != images[path]:
            return f"{path!r} was not staged as the diff says; its hunks were applied elsewhere or converted"
        mode = wanted_modes.get(path, file.old_mode)
        if file.new_mode is not None and file.new_mode != mode:
            return f"{path!r} has mode {file.new_mode} instead of {mode}"
    return None


MOST_TESTS = 5
MAX_CHARS = 1_500
"""Of one test; the end of a test's output says what failed."""


def printed(reports: Sequence[TestReport], *, known: Collection[str]) -> tuple[str, ...]:
    """One text for each test that fails and each file that cannot be loaded, what is new first.

    Args:
        known: tests that failed before.
    """
    failing = {case.id: case.message for report in reports for case in report.cases if case.outcome in BAD}
    texts = [f"cannot be loaded: {_cut(error)}" for report in reports for error in report.collection_errors]
    order = sorted(failing, key=lambda test: (test in known, test))
    texts += [f"{test} printed:\n{_cut(failing[test])}" for test in order if failing[test].strip()]
    return tuple(texts[:MOST_TESTS])


def _cut(text: str) -> str:
    clean = Redactor().text(text.strip())
    return clean if len(clean) <= MAX_CHARS else f"[…]{clean[-MAX_CHARS:]}"
