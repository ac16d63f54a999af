"""Whoever is asked for the code of a sub-work-item: for handed-over tests, or with tests of its own."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from cogworks.codegen.answer_forms import paths_of
from cogworks.codegen.prompt import coding_opening, implementation_opening
from cogworks.codegen.test_writing import TestWriting
from cogworks.cycle.context import CycleContext
from cogworks.cycle.feedback import fingerprint
from cogworks.nodes.artifacts import bounds_of, to_allow_more
from cogworks.nodes.asking import Question, conversation_about, purpose_of, reason_for_a_person
from cogworks.nodes.contract import Failed, NodePorts, Talk, Workspace
from cogworks.nodes.replies import CodeChange, DisputedTest, Implementation, PlannedItem
from cogworks.nodes.task import NodeTask

MAX_SHOWN_CHARS = 20_000
"""Of a file that was changed and is shown again; of a longer one the reader knows what was edited."""
Answer = TypeVar("Answer", CodeChange, Implementation)


def fingerprint_of(reply: CodeChange) -> str:
    """Equal for equal changes."""
    parts: list[tuple[str, str, str]] = [(file.path, file.action, file.content) for file in reply.files]
    parts += [(edit.path, f"replace {edit.search}", edit.replace) for edit in reply.edits]
    parts += [("", "diff", reply.unified_diff)] if reply.unified_diff else []
    parts += [(each.path, "beyond", "") for each in reply.beyond_plan]
    return fingerprint([*parts, *((path, "test", "") for path in reply.tests)])


class Coder:
    """One visit's questions for code."""

    def __init__(
        self,
        task: NodeTask,
        ports: NodePorts,
        *,
        workspace: Workspace,
        item: PlannedItem,
        tests: TestWriting | None,
    ) -> None:
        self._task = task
        self._ports = ports
        self._workspace = workspace
        self._item = item
        self._tests = tests
        self._talk: Talk[CodeChange] | Talk[Implementation] | None = None
        self._handed_over: str | None = None
        """The tests that the conversation is about."""
        self._last_paths: tuple[str, ...] = ()
        """The files of the last answer."""
        self.requests = 0
        self.suspects: Sequence[str] = ()
        """The places that the failing tests lead to; sent with the next question."""
        self.evidence: Sequence[str] = ()
        """What probes of these places showed; sent with them."""
        self.in_code: Sequence[str] = ()
        """Files of code in which tests stand; there the coder writes its own."""
        self.ruling = ""
        """Why a test that the last answer disputes stays; sent with the next question, and then empty."""

    def brings_tests(self, in_code: Sequence[str]) -> None:
        """Nobody hands tests over: they stand in these files of the code."""
        self._tests, self.in_code = None, in_code

    def ask(self, context: CycleContext) -> CodeChange | DisputedTest | Failed:
        """A change to try, a test that cannot be right, or what a person has to decide; the answer is in the ledger before anything runs on it."""
        self.requests += 1
        what = "the code" if self._tests else "code and tests"
        self._ports.say(f"{self._item.key}: writing {what} (attempt {self.requests})")
        if self._tests is None:
            reply = self._answer(CodeChange, "code_generation", context)
            return self._refused(reply) or reply
        implementation = self._answer(Implementation, "implementation", context)
        if implementation.test_dispute.test_id or implementation.test_dispute.reason:
            return implementation.test_dispute
        return self._refused(implementation) or CodeChange(
            summary=implementation.summary,
            files=implementation.files,
            edits=implementation.edits,
            unified_diff=implementation.unified_diff,
            tests=self._tests.announced,
            notes=implementation.notes,
            beyond_plan=implementation.beyond_plan,
        )

    def _answer(self, reply_type: type[Answer], prompt: str, context: CycleContext) -> Answer:
        talk = self._conversation(reply_type, prompt)
        if self.ruling:
            talk.tell("_test_stands", {"ruling": self.ruling})
            self.ruling = ""
        elif self._last_paths and (news := self._since(context)):
            talk.tell("_tried", news)
        reply = talk.answer(purpose=purpose_of(prompt, self._task.visit, self.requests))
        self._last_paths = paths_of(reply) or (self._item.key,)
        self._ports.checkpoint()
        return reply

    def _conversation(self, reply_type: type[Answer], prompt: str) -> Talk[Answer]:
        """The visit's own; another one where other tests were handed over meanwhile."""
        handoff = self._tests.handoff if self._tests else None
        about = handoff.sha256 if handoff else ""
        if self._talk is None or self._handed_over != about:
            self._handed_over, self._last_paths = about, ()
            opening = (
                implementation_opening(
                    self._task,
                    self._ports,
                    self._item,
                    self._tests.handed_over(),
                    suite=self._tests.files,
                )
                if self._tests
                else coding_opening(self._task, self._ports, self._item)
            )
            question = Question(
                prompt=prompt,
                variables={**opening.variables, "tests_in_code": list(self.in_code)},
                reply_type=reply_type,
                check=lambda _: (),
                view=opening.view,
                hidden=opening.hidden,
                says_changes=True,
            )
            self._talk = conversation_about(self._ports, self._task, question)
        return self._talk  # type: ignore[return-value]  # One of the two, always the same.

    def _refused(self, reply: CodeChange | Implementation) -> Failed | None:
        return reason_for_a_person(
            "code_generation",
            paths_of(reply),
            missing_capability=reply.missing_capability,
            bounds=bounds_of(self._task),
            remedy=to_allow_more(self._task),
            manifests=self._task.conventions.manifests,
        )

    def _since(self, context: CycleContext) -> Mapping[str, Any] | None:
        """What became of the last answer; None where nothing is wrong with it."""
        # After a change that was kept only what was found since is wrong with it, e.g. by the validators.
        problems = context.attempts[-1].trial.problems if context.attempts else context.reasons
        if not problems:
            return None
        is_kept = context.commits > 0 and not context.attempts
        return {
            "problems": list(problems),
            "is_kept": is_kept,
            "now": self._as_it_is() if is_kept else [],
            "suspects": list(self.suspects),
            "evidence": list(self.evidence),
        }

    def _as_it_is(self) -> list[dict[str, str]]:
        """The files of a change that was kept, which the formatter may have altered."""
        texts = ((path, self._workspace.read(path)) for path in self._last_paths)
        return [{"path": path, "text": text} for path, text in texts if text and len(text) <= MAX_SHOWN_CHARS]
