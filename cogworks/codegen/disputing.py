"""A handed-over test that is held to be wrong: its writer is asked, then a third question decides, then a person does."""

from typing import Final, NamedTuple

from cogworks.canonical import canonical, sha256
from cogworks.codegen.handoff import TestHandoff
from cogworks.codegen.prompt import judging_variables
from cogworks.cycle.results import ActionResult, Outcome
from cogworks.errors import ApprovalNeeded
from cogworks.nodes.asking import purpose_of
from cogworks.nodes.contract import NodePorts, Workspace
from cogworks.nodes.replies import DecidedDispute, DisputedTest, PlannedItem
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.gates import KEEP_TEST
from cogworks.tools.approvals import HASH_CHARS
from cogworks.vocabulary import Value

PROMPT = "decide_dispute"
SCOPE_AMBIGUOUS: Final = "SCOPE_AMBIGUOUS"
"""The approved texts of a safety-affecting item allow two readings, and nobody but a person chooses one."""


class Dispute(Value):
    """What was said about one test, by whom."""

    test_id: str
    coder: str
    """Why the writer of the code holds it to be wrong."""
    writer: str = ""
    """Why its writer stands by it; empty: nobody asked, or it did not say."""
    decision: str = ""
    """What the third question came to; empty: nobody asked."""
    is_wrong: bool = False
    """The third question decided against the test, and its writer has to correct it."""

    @classmethod
    def of(cls, raised: DisputedTest) -> "Dispute":
        """As it is raised."""
        return cls(test_id=raised.test_id or "(not named)", coder=raised.reason or "no reason was given")


class Place(NamedTuple):
    """Where a dispute is."""

    task: NodeTask
    ports: NodePorts
    workspace: Workspace
    item: PlannedItem
    handoff: TestHandoff


def decided(place: Place, dispute: Dispute) -> DecidedDispute:
    """One question to somebody who took part in neither; its answer is in the ledger before anything follows from it."""
    place.ports.say(f"{place.item.key}: asking who is right about {dispute.test_id}")
    variables = {
        **judging_variables(place.task, place.workspace, place.item, place.handoff.paths),
        "dispute": {"test_id": dispute.test_id, "reason": dispute.coder},
        "answer": dispute.writer or "no reason was given",
    }
    reply = place.ports.model.ask(
        PROMPT, variables, DecidedDispute, purpose=purpose_of(PROMPT, place.task.visit, 1)
    )
    place.ports.checkpoint()
    return reply


def in_words(decision: DecidedDispute) -> str:
    """A decision with the sentence that it rests on."""
    return f"{decision.reason} ({decision.sentence})" if decision.sentence else decision.reason


class Disputes:
    """One visit's disputes: what became of each, and what is asked next."""

    def __init__(self, task: NodeTask, ports: NodePorts, *, workspace: Workspace, item: PlannedItem) -> None:
        self._task, self._ports, self._workspace, self._item = task, ports, workspace, item
        self._went_back = False
        self.pending: Dispute | None = None
        """The one that the writer of the tests is to be asked about; None where none is open."""
        self.ruling = ""
        """Why a disputed test stays; empty where nothing was decided so."""
        self.waits: ApprovalNeeded | None = None
        """What a person is asked; the visit goes on with the answer."""

    def raised(self, handoff: TestHandoff, dispute: Dispute, *, may_go_back: bool) -> ActionResult:
        """The first dispute of a visit goes back to the writer, if it may; any other one to a person."""
        summary = f"{dispute.test_id} is disputed: {dispute.coder}"
        self._ports.say(f"{self._item.key}: the test {summary}")
        if self._went_back or not may_go_back:
            return self._asks_people(handoff, dispute, Outcome.NONE_VALID)
        self._went_back, self.pending = True, dispute
        return ActionResult(outcome=Outcome.DISPUTED, summary=summary, reasons=(summary,))

    def after_writer(self, handoff: TestHandoff, dispute: Dispute, insists: str) -> ActionResult | None:
        """What follows where the writer changes nothing; None: it was told to, and is asked once more.

        Args:
            insists: why the test is right, in the writer's words.
        """
        dispute = dispute.model_copy(update={"writer": insists})
        if dispute.is_wrong:
            return self._asks_people(handoff, dispute, Outcome.DONE)
        place = Place(self._task, self._ports, self._workspace, self._item, handoff)
        decision = decided(place, dispute)
        is_wrong = decision.verdict == "test_is_wrong"
        dispute = dispute.model_copy(update={"decision": in_words(decision), "is_wrong": is_wrong})
        if is_wrong:
            self.pending = dispute
            return None
        if decision.verdict == "test_stands":
            return self._stays(dispute.decision, Outcome.DONE)
        return self._asks_people(handoff, dispute, Outcome.DONE)

    def settle(self) -> None:
        """Other tests were handed over, or the same ones for good."""
        self.pending, self.ruling = None, ""

    def _stays(self, why: str, outcome: Outcome) -> ActionResult:
        self.settle()
        self.ruling = why
        return ActionResult(outcome=outcome, summary=f"the disputed test stays: {why}", reasons=(why,))

    def _asks_people(self, handoff: TestHandoff, dispute: Dispute, outcome: Outcome) -> ActionResult:
        """Unless a person has said already that the test stays."""
        place = Place(self._task, self._ports, self._workspace, self._item, handoff)
        approval = question(place, dispute)
        if approval.call_hash in self._task.approved_calls:
            return self._stays("A person looked at it and decided that it is right.", outcome)
        self.waits = approval
        return ActionResult(outcome=Outcome.NONE_VALID, halt=str(approval))


def question(place: Place, dispute: Dispute) -> ApprovalNeeded:
    """What a person is asked: whether the test stays. The same for the same tests and the same words of all who took part."""
    words = {name: text for name, text in dispute.model_dump(exclude={"is_wrong"}).items() if text}
    name = sha256(canonical({"tool": KEEP_TEST, "tests": place.handoff.sha256, **words}))[:HASH_CHARS]
    code = f"{SCOPE_AMBIGUOUS}: " if _is_ambiguous(place, dispute) else ""
    return ApprovalNeeded(
        f"{code}{place.item.key}: the test {dispute.test_id} is disputed by whoever has to make it pass: {dispute.coder}",
        tool=KEEP_TEST,
        call_hash=name,
        shown=canonical(words),
        lapsed=place.task.lapsed_calls.get(name, ""),
        code=SCOPE_AMBIGUOUS if code else "",
    )


def _is_ambiguous(place: Place, dispute: Dispute) -> bool:
    is_safety = bool((place.task.inputs.get("classification") or {}).get("safety_affecting"))
    return is_safety and bool(dispute.decision) and not dispute.is_wrong
