"""A branch whose base moved on is brought up to date: a real merge, its conflicts resolved, kept only where no test is worse than on either side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cogworks.canonical import sha256
from cogworks.codebase.merging import Joined, has_marks
from cogworks.codegen.answer_forms import in_one_form, paths_of
from cogworks.codegen.handoff import stored_handoff
from cogworks.codegen.inline import inline_lines
from cogworks.codegen.plan_bounds import file_actions
from cogworks.codegen.proving import (
    PROOF_FILE,
    PROVENANCE_FILE,
    Side,
    lost_by_merge,
    proof_of,
    proof_output,
    proof_text,
    provenance,
    side,
    stored_proof,
    unsteady,
    with_openings,
)
from cogworks.codegen.suite import run_suite
from cogworks.cycle.feedback import judge_diagnostics
from cogworks.domain_services.messages import TestReport
from cogworks.forge.effects import PushBranch
from cogworks.leaving import in_commit_message
from cogworks.nodes.artifacts import key_of, planned_item, to_allow_more, wanted_text
from cogworks.nodes.asking import Question, ask_until_sound, changes, reason_for_a_person
from cogworks.nodes.contract import Failed, NodePorts, Succeeded
from cogworks.nodes.intake import issue
from cogworks.nodes.replies import ProposedFile, ResolvedConflicts
from cogworks.nodes.task import NodeTask
from cogworks.repair.proof import Proof, caution, summarised
from cogworks.repair.transact.measure import RERUNS, StaticError, faults_beyond, file_of, static_errors
from cogworks.vocabulary import VISIT_TRAILER, CommitOid

PROMPT = "merge_conflicts"
MAX_SHOWN_CHARS = 24_000
"""Of one file that is shown whole; of a longer one the surroundings of its conflicts are."""
MAX_ALL_CHARS = 120_000
"""Of all files that conflict; more are for people."""
MAX_LOST = 20
"""Tests that are worse and are named."""
_AROUND = 40
"""Lines before and behind a conflict that are shown of a long file."""


class Sides(NamedTuple):
    """The two commits that a merge brings together, as they were found."""

    ours: Side
    theirs: Side
    known: frozenset[StaticError]
    """Blocking findings of either of them in the files that conflict."""


@dataclass
class Merged:
    """A merge that is no worse than what went into it."""

    head: CommitOid
    after: TestReport
    proof: Proof
    notes: str = ""


def wanted_merge(task: NodeTask) -> CommitOid | None:
    """The commit of the base branch that the visit shall merge; None: nobody asked for one."""
    asked = [change.merges for change in task.asked_changes if change.merges is not None]
    return asked[-1] if asked else None


def is_all_that_is_asked(task: NodeTask) -> bool:
    """Whether nothing is left of the visit once its branch is up to date."""
    review = task.inputs.get("review") or {}
    is_sent_back = review.get("sub_item") == key_of(task) and review.get("passed") is False
    is_merge_alone = all(change.merges is not None for change in task.asked_changes)
    return is_merge_alone and bool(task.earlier.get("code")) and not is_sent_back


def brought_up_to_date(task: NodeTask, ports: NodePorts, oid: CommitOid) -> Merged | Failed | None:
    """The branch with a commit of its base merged in, or why that is for people; None where it holds the commit already.

    The working copy stands on the merge afterwards, or where it stood.
    """
    return Update(task, ports, oid).run()


def succeeded(task: NodeTask, ports: NodePorts, oid: CommitOid, merged: Merged | None) -> Succeeded:
    """The end of a visit that had nothing else to do: the output of the visit before, for the new head."""
    workspace = ports.workspace()
    output: dict[str, Any] = {
        name: value for name, value in task.earlier["code"].items() if name not in ("cycle", "attempts")
    }
    output |= {"head": workspace.head, "merged": oid, "attempts": 0}
    base = task.base_branch
    if merged is None:
        return Succeeded(output=output, summary=f"{base} has nothing new at {oid[:12]}")
    passed = [case.id for case in merged.after.cases if case.outcome == "passed"]
    files = file_actions(workspace.diff(base))
    output |= {
        "files": [{"path": path, "action": action} for path, action in files.items()],
        "notes": "\n\n".join(filter(None, [str(output.get("notes", "")), merged.notes])),
        "tests": {**output["tests"], "passed": len(passed)},
        "proof": proof_output(merged.proof),
        **_handed_over(task, ports, merged),
    }
    return Succeeded(
        output=output,
        effects=(PushBranch(branch=task.branch, oid=merged.head),),
        summary=f"{base} at {oid[:12]} is merged in, {len(passed)} tests pass",
        caution=caution(summarised(merged.proof)),
    )


def _handed_over(task: NodeTask, ports: NodePorts, merged: Merged) -> dict[str, Any]:
    """The tests of the visit before, as they are after the merge."""
    handoff = stored_handoff(task)
    if handoff is None:
        return {}
    texts = [ports.workspace().read(path) or "" for path in handoff.paths]
    now = {
        "commit": merged.head,
        "sha256": sha256(texts[0]),
        "extra_sha256": tuple(map(sha256, texts[1:])),
        "test_ids": tuple(case.id for case in merged.after.cases if file_of(case.id) in handoff.paths),
    }
    return {"test_handoff": handoff.model_copy(update=now).as_json()}


class Update:
    """One visit's merge."""

    def __init__(self, task: NodeTask, ports: NodePorts, oid: CommitOid) -> None:
        self._task = task
        self._ports = ports
        self._oid = oid
        self._workspace = ports.workspace()
        self._workspace.roll_back()
        self._head = self._workspace.head
        self._item = planned_item(task)
        self._merged: Merged | None = None

    def run(self) -> Merged | Failed | None:
        fork = self._workspace.fork(self._oid)
        if fork is None:
            return self._for_people(
                f"{self._task.base_branch} no longer holds {self._oid[:12]}; look at what became of that branch"
            )
        if fork == self._oid:
            return None
        self._ports.say(f"{self._item.key}: merging {self._task.base_branch} at {self._oid[:12]}")
        joined = self._join()
        if joined.undecided:
            listed = ", ".join(joined.undecided)
            return self._for_people(f"{listed}: deleted on one side, or no text that both sides hold")
        sides = self._sides(joined)
        if not joined.conflicts:
            self._join()
            problems = self._tried(sides, fork, (), "")
            return self._merged or self._for_people("\n".join(problems))
        return self._resolved(joined, sides, fork)

    def _join(self) -> Joined:
        self._workspace.settle(self._head)
        return self._workspace.join(self._oid)

    def _sides(self, joined: Joined) -> Sides:
        """Both commits with the runs of their suites; the working copy stands on ours."""
        theirs, faults_there = self._side_at(self._oid, joined.conflicts)
        ours, faults_here = self._side_at(self._head, joined.conflicts)
        return Sides(ours, theirs, faults_there | faults_here)

    def _side_at(self, oid: CommitOid, paths: Sequence[str]) -> tuple[Side, frozenset[StaticError]]:
        self._workspace.settle(oid)
        where = "this branch" if oid == self._head else self._task.base_branch
        self._ports.say(f"{self._item.key}: running the test suite of {where} at {oid[:12]}")
        report = run_suite(self._ports, self._workspace, who=self._item.key)
        there = [path for path in paths if self._workspace.read(path) is not None]
        diagnostics = self._ports.service.validate(self._workspace, there) if there else ()
        return side(self._workspace, report), static_errors(diagnostics)

    def _resolved(self, joined: Joined, sides: Sides, fork: CommitOid) -> Merged | Failed:
        """The merge with the answer of a model where git left both sides."""
        self._join()
        shown = [(path, self._workspace.read(path) or "") for path in joined.conflicts]
        if sum(len(_shown(text)) for _, text in shown) > MAX_ALL_CHARS:
            return self._for_people(f"{', '.join(joined.conflicts)}: too much for one answer")
        touched = frozenset(self._workspace.changed_since(fork) or ()) | frozenset(joined.conflicts)
        self._workspace.settle(self._oid)
        touched |= frozenset(self._workspace.changed_since(fork) or ())
        self._workspace.settle(self._head)
        listed = ", ".join(joined.conflicts)
        self._ports.say(f"{self._item.key}: {listed} conflict; asking how both sides hold")
        question = Question(
            prompt=PROMPT,
            variables={
                "item": issue(self._task.item),
                "specification": wanted_text(self._task, self._workspace),
                "sub_item": self._item.model_dump(mode="json"),
                "subjects": joined.subjects,
                "files": [
                    {"path": path, "text": _shown(text), "is_cut": _shown(text) != text}
                    for path, text in shown
                ],
            },
            reply_type=ResolvedConflicts,
            check=lambda reply: self._problems(reply, joined, touched, sides, fork),
            says_changes=True,
        )
        reply = ask_until_sound(self._ports, self._task, question)
        if isinstance(reply, Failed):
            return self._for_people(reply.reason)
        if refused := self._reason_for_a_person(reply):
            return refused
        return self._merged or self._for_people("the merge was not kept")

    def _problems(
        self,
        reply: ResolvedConflicts,
        joined: Joined,
        touched: frozenset[str],
        sides: Sides,
        fork: CommitOid,
    ) -> Sequence[str]:
        """What the model has to correct; none where the merge is kept, and committed, or a person has to decide."""
        self._ports.checkpoint()
        if self._reason_for_a_person(reply):
            return ()
        self._join()
        files, unplaced = in_one_form(reply, self._workspace)
        if unplaced:
            return unplaced
        if beyond := sorted({file.path for file in files} - touched):
            return [f"{path} was changed by neither side; leave it alone" for path in beyond]
        if problem := self._workspace.apply(changes(_as_they_are(files, self._workspace.files()))):
            return [problem]
        left = [path for path in joined.conflicts if has_marks(self._workspace.read(path) or "")]
        if left:
            return [
                f"{path} still holds marks of git; replace every block, its marks included" for path in left
            ]
        return self._tried(sides, fork, joined.conflicts, reply.notes)

    def _tried(self, sides: Sides, fork: CommitOid, conflicts: Sequence[str], notes: str) -> Sequence[str]:
        """Why the tree as it is may not be kept; else it is committed, and its proof is there."""
        there = [path for path in conflicts if self._workspace.read(path) is not None]
        diagnostics = self._ports.service.validate(self._workspace, there) if there else ()
        if problems := judge_diagnostics(faults_beyond(sides.known, diagnostics)).problems:
            return self._undone(problems)
        head = self._workspace.commit_joined(self._oid, self._message(conflicts, notes))
        self._ports.say(f"{self._item.key}: running the test suite of the merge")
        after = run_suite(self._ports, self._workspace, who=self._item.key)
        if after.timed_out:
            return self._undone(
                ["the test suite of the merge did not finish in time; look for an endless loop"]
            )
        lost = self._lost(sides, after, fork, head)
        if lost:
            more = f"\nand {len(lost) - MAX_LOST} more" if len(lost) > MAX_LOST else ""
            words = _words_of(after)
            listed = "\n".join(f"{test}{words.get(test, ': is gone')}" for test in lost[:MAX_LOST])
            return self._undone(
                [f"these tests passed on one side and do not pass in the merge:\n{listed}{more}"]
            )
        proof = self._proven(sides, after)
        if flaky := unsteady(proof, self._announced()):
            return self._undone(flaky)
        self._ports.keep(PROOF_FILE, proof_text(proof))
        self._ports.keep(PROVENANCE_FILE, provenance(self._task, proof))
        self._merged = Merged(head, after, proof, notes=notes)
        return ()

    def _undone(self, problems: Sequence[str]) -> Sequence[str]:
        self._workspace.settle(self._head)
        return problems

    def _lost(self, sides: Sides, after: TestReport, fork: CommitOid, head: CommitOid) -> tuple[str, ...]:
        """What passed on one side and does not in the merge, also when it runs once more."""

        def at_fork() -> TestReport:
            self._workspace.settle(fork)
            try:
                return run_suite(self._ports, self._workspace, who=self._item.key)
            finally:
                self._workspace.settle(head)

        lost = lost_by_merge(sides.ours.report, sides.theirs.report, after, fork=at_fork)
        known = {case.id for case in after.cases}
        if again := [test for test in lost if test in known]:
            report = run_suite(self._ports, self._workspace, again, who=self._item.key)
            steady = {case.id for case in report.cases if case.outcome == "passed"}
            lost = tuple(test for test in lost if test not in steady)
        return lost

    def _announced(self) -> tuple[str, ...]:
        code = self._task.earlier.get("code") or {}
        handoff = stored_handoff(self._task)
        paths = handoff.paths if handoff else tuple(code.get("test_files", ()))
        return tuple(path for path in paths if self._workspace.read(path) is not None)

    def _proven(self, sides: Sides, after: TestReport) -> Proof:
        """Every test without the pull request, on the base as it is now, and with it."""
        tests = self._announced()
        again = [
            run_suite(self._ports, self._workspace, tests, who=self._item.key) for _ in range(RERUNS) if tests
        ]
        stored = stored_proof(self._task)
        proven = proof_of(
            sides.theirs,
            side(self._workspace, after),
            again,
            diff=self._workspace.diff(self._task.base_branch),
            restated=frozenset(stored.restated) if stored else frozenset(),
            inline=inline_lines(self._workspace, self._task.base_branch, sides.theirs.report),
        )
        return with_openings(proven, self._task, self._workspace, self._item)

    def _message(self, conflicts: Sequence[str], notes: str) -> str:
        parts = [f"Merge branch '{self._task.base_branch}'"]
        parts += [f"Resolves conflicts in {', '.join(conflicts)}."] if conflicts else []
        parts += [in_commit_message(notes).strip(), f"{VISIT_TRAILER}{self._task.visit.visit_key}"]
        return "\n\n".join(filter(None, parts)) + "\n"

    def _reason_for_a_person(self, reply: ResolvedConflicts) -> Failed | None:
        failure = reason_for_a_person(
            "code_generation",
            paths_of(reply),
            missing_capability=reply.missing_capability,
            bounds="both sides together do",
            remedy=to_allow_more(self._task),
            manifests=self._task.conventions.manifests,
        )
        return self._for_people(failure.reason) if failure else None

    def _for_people(self, why: str) -> Failed:
        self._workspace.settle(self._head)
        base = self._task.base_branch
        return Failed(
            reason=f"code_generation: {base} at {self._oid[:12]} was not merged into {self._task.branch}, which is as it was.\n{why}\n"
            f"Merge {base} by hand and push; or comment `/cogworks update` once what is said here has changed.",
            category="escalated",
        )


def _as_they_are(files: Sequence[ProposedFile], there: Sequence[str]) -> tuple[ProposedFile, ...]:
    """Files that the merge brought are changed, whatever the answer calls it."""
    known = frozenset(there)
    return tuple(
        file.model_copy(update={"action": "modify"})
        if file.action == "create" and file.path in known
        else file
        for file in files
    )


def _words_of(report: TestReport) -> dict[str, str]:
    """Id of a test -> what it said at the end."""
    words_by_test = {}
    for case in report.cases:
        lines = case.message.strip().splitlines()
        words_by_test[case.id] = f": {lines[-1]}" if lines else f": {case.outcome}"
    return words_by_test


def _shown(text: str) -> str:
    """A file with conflicts; of a long one what is around them."""
    if len(text) <= MAX_SHOWN_CHARS:
        return text
    lines = text.splitlines(keepends=True)
    near: set[int] = set()
    inside = False
    for number, line in enumerate(lines):
        is_mark = has_marks(line)
        if inside or is_mark:
            near.update(range(max(0, number - _AROUND), min(len(lines), number + _AROUND + 1)))
        if is_mark:
            inside = line.startswith("<")
    parts: list[str] = []
    last = -1
    for number in sorted(near):
        if number != last + 1:
            parts.append(f"[… lines {last + 2} to {number} are left out]\n")
        parts.append(lines[number])
        last = number
    if last + 1 < len(lines):
        parts.append(f"[… lines {last + 2} to {len(lines)} are left out]\n")
    return "".join(parts)
