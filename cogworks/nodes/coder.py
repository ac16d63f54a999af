"""Whoever is asked for the code of a sub-work-item: for handed-over tests, or with tests of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

from cogworks.coding.context import CycleContext
from cogworks.coding.feedback import history
from cogworks.nodes.answer_forms import paths_of
from cogworks.nodes.asking import as_previous, purpose_of, retry_variables
from cogworks.nodes.coding_prompt import coding_variables, implementation_variables
from cogworks.nodes.contract import Failed, NodeShell, NodeTask, Workspace
from cogworks.nodes.deciding import reason_for_a_person
from cogworks.nodes.replies import CodeChange, DisputedTest, Implementation, PlannedItem
from cogworks.nodes.test_writing import TestWriting
from cogworks.vocabulary import CommitOid


class Coder:
    """One visit's questions for code."""

    def __init__(
        self,
        task: NodeTask,
        shell: NodeShell,
        *,
        workspace: Workspace,
        item: PlannedItem,
        tests: TestWriting | None,
    ) -> None:
        self._task = task
        self._shell = shell
        self._workspace = workspace
        self._item = item
        self._tests = tests
        self._variables: Mapping[str, Any] = {}
        self._shown: CommitOid | None = None
        """The commit whose files the variables show."""
        self._previous: CodeChange | Implementation | None = None
        self.requests = 0
        self.suspects: Sequence[str] = ()
        """The places that the failing tests lead to; told to whoever tries again."""
        self.evidence: Sequence[str] = ()
        """What probes of these places showed; told with them."""

    def ask(self, context: CycleContext) -> CodeChange | Failed:
        """A change to try, or what a person has to decide; the answer is in the ledger before anything runs on it."""
        told = {**self._asked(), **self._again(context), "history": history(context.attempts)}
        self.requests += 1
        if self._tests is None:
            self._shell.say(f"{self._item.key}: writing code and tests (attempt {self.requests})")
            reply = self._shell.model.ask(
                "code_generation", told, CodeChange, purpose=self._purpose("code_generation")
            )
            self._previous = reply
            self._shell.checkpoint()
            return self._refused(reply) or reply
        self._shell.say(f"{self._item.key}: writing the code (attempt {self.requests})")
        found = self._shell.model.ask(
            "implementation", told, Implementation, purpose=self._purpose("implementation")
        )
        self._previous = found
        self._shell.checkpoint()
        return (
            _disputed(self._item, found.test_dispute)
            or self._refused(found)
            or CodeChange(
                summary=found.summary,
                files=found.files,
                edits=found.edits,
                unified_diff=found.unified_diff,
                tests=self._tests.announced,
                notes=found.notes,
            )
        )

    def _refused(self, reply: CodeChange | Implementation) -> Failed | None:
        return reason_for_a_person(
            "code_generation",
            paths_of(reply),
            missing_capability=reply.missing_capability,
            bounds="specification and interfaces do",
            manifests=self._task.conventions.manifests,
        )

    def _purpose(self, prompt: str) -> str:
        return purpose_of(prompt, self._task.visit, self.requests)

    def _asked(self) -> Mapping[str, Any]:
        # Edits have to fit the files as they are, so a change that was kept is shown from then on.
        if self._shown != self._workspace.head:
            self._shown = self._workspace.head
            about = (self._task, self._workspace, self._item)
            self._variables = (
                implementation_variables(*about, self._tests.handed_over())
                if self._tests
                else coding_variables(*about)
            )
        return self._variables

    def _again(self, context: CycleContext) -> Mapping[str, Any]:
        # After a change that was kept only what was found since is wrong with it, e.g. by the validators.
        problems = context.attempts[-1].trial.problems if context.attempts else context.reasons
        if self._previous is None or not problems:
            return {**retry_variables(), "suspects": [], "evidence": [], "is_kept": False}
        told = retry_variables(as_previous(self._previous), problems)
        is_kept = context.commits > 0 and not context.attempts
        lead = {"suspects": list(self.suspects), "evidence": list(self.evidence)}
        return {**told, **lead, "is_kept": is_kept}


def _disputed(item: PlannedItem, dispute: DisputedTest) -> Failed | None:
    if not dispute.test_id and not dispute.reason:
        return None
    return Failed(
        reason=f"code_generation: {item.key} ({item.title}): the test {dispute.test_id or '(not named)'} is disputed by "
        f"whoever has to make it pass: {dispute.reason or 'no reason was given'}\nNothing was changed. If the test is "
        "wrong, make the sub-issue or the specification more precise, so that it is written anew; then remove the "
        "trigger label and set it again.",
        category="escalated",
    )
