"""The base of an item is looked at before its first model call: nothing is paid for where no change could be judged.

A suite that takes long is run in parts. What is done is kept in the ledger, and a later step goes on from there.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pydantic import ValidationError

from cogworks.codegen.suite import run_part
from cogworks.domain_services.answers import Answer
from cogworks.domain_services.checking import Prepared, PrepareParams
from cogworks.domain_services.messages import ErrorCode, TestReport
from cogworks.domain_services.operations import PREPARE
from cogworks.domain_services.parts import in_parts, joined
from cogworks.domain_services.transport import ServiceFailed
from cogworks.engine.base_findings import (
    WHO,
    BaseEnvironment,
    BaseFindings,
    environment_of,
    is_alike,
    is_due,
    known_base,
    matters,
    not_made,
    refused,
    remarks_on,
    still_holds,
    verdict,
    with_problem,
    with_report,
)
from cogworks.engine.record import Claimed
from cogworks.engine.workability import runs_tests
from cogworks.errors import ToBeContinued
from cogworks.ledger.record import canonical
from cogworks.nodes.contract import Failed, NodePorts, Workspace
from cogworks.pipeline.state import RunState
from cogworks.repair.transact.measure import file_of
from cogworks.telling import During, in_silence
from cogworks.vocabulary import CommitOid, Value

SO_FAR_FILE = "baseline-so-far.json"
"""In the folder of the visit that looks."""
STEP_SHARE_S = 1800.0
"""A step that has run the suite for so long leaves what is left to the next one: jobs have limits of their own."""
_MESSAGE_CHARS = 300


class SuiteSoFar(Value):
    """What of the suite of a base is done; nothing is left in the end."""

    oid: CommitOid
    environment_key: str = ""
    report: TestReport = TestReport(cases=())
    runs: int = 0
    """In how many parts."""
    seconds: float = 0.0

    def with_part(self, part: TestReport, *, seconds: float) -> "SuiteSoFar":
        """With what one more run came to."""
        report = joined((self.report, part)) if self.runs else part
        whole = report.model_copy(update={"commands": self.report.commands or part.commands})
        update = {"report": whole, "runs": self.runs + 1, "seconds": self.seconds + seconds}
        return self.model_copy(update=update)

    @property
    def line(self) -> str:
        """How far it is, for people."""
        files = len({file_of(case.id) for case in self.report.cases})
        return f"{len(self.report.cases)} tests of {files} files ran in {self.seconds:.0f} s, {len(self.report.left)} files are left"


def so_far(text: str | None, findings: BaseFindings) -> SuiteSoFar:
    """What an earlier step kept about the very base, or nothing done.

    Args:
        text: of `SO_FAR_FILE`; None: there is none.
    """
    key = findings.environment.key if findings.environment else ""
    nothing = SuiteSoFar(oid=findings.oid, environment_key=key)
    try:
        kept = SuiteSoFar.model_validate_json(text or "")
    except ValidationError:
        return nothing
    # Without a key nobody could say whether the environment is still the same.
    is_same = key and (kept.oid, kept.environment_key) == (findings.oid, key)
    return kept if is_same and kept.report.left else nothing


def run_base_suite(
    ports: NodePorts, workspace: Workspace, findings: BaseFindings, text: str | None
) -> SuiteSoFar:
    """Run the whole suite, or what an earlier step left of it; each part goes into the ledger before the next begins.

    Args:
        findings: which base it is, and its environment.
        text: as of `so_far`.

    Raises:
        ToBeContinued: the step has done its share; what is done is in the ledger.
        ServiceFailed: it could not be run.
    """
    done = so_far(text, findings)
    began_s = since_s = ports.now()
    if done.runs:
        ports.say(f"{WHO}: going on where an earlier step was: {done.line}")
    for part in in_parts(
        lambda tests, parts: run_part(ports, workspace, tests, parts, who=WHO),
        done.report.left,
        is_rest=bool(done.runs),
    ):
        now_s = ports.now()
        done, since_s = done.with_part(part, seconds=now_s - since_s), now_s
        if part.left and not part.timed_out:
            _keep(ports, done)
            if now_s - began_s >= STEP_SHARE_S:
                raise ToBeContinued(f"{WHO}: {done.line}; the next step goes on with them")
    return done


def _keep(ports: NodePorts, done: SuiteSoFar) -> None:
    cases = tuple(
        case.model_copy(update={"message": case.message[:_MESSAGE_CHARS]}) for case in done.report.cases
    )
    kept = done.model_copy(update={"report": done.report.model_copy(update={"cases": cases})})
    ports.keep(SO_FAR_FILE, canonical(kept.model_dump(mode="json")))
    ports.checkpoint()
    # A reader of this may stop us: it is in the ledger.
    ports.say(f"{WHO}: {done.line}")


BASELINE_FILE = "baseline.json"
"""In the folder of the visit that looked."""
_OF_THE_REPOSITORY = frozenset(
    {
        ErrorCode.TOOL_NOT_FOUND,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNSUPPORTED_METHOD,
        ErrorCode.ARTIFACT_NOT_FOUND,
        ErrorCode.TOOL_FAILED,
        ErrorCode.TIMEOUT,
    }
)
"""What a person has to mend; whatever else keeps a service from answering may be over at the next step."""


MOST_RERUN = 50
"""More failing tests than these are not run again to see which of them are flaky."""
_NOT_AGAIN = "the failing tests could not be run again, so that nobody knows which of them are flaky"


def check_base(
    claimed: Claimed,
    ports: NodePorts,
    *,
    during: During = in_silence,
    machine: Callable[[], str] = lambda: "",
) -> Failed | None:
    """Make the environment of the base and run its suite, where that is due; the ledger keeps the findings.

    Args:
        machine: returns the kind of this machine: as long as it is the same, what the ledger keeps may need no service to be believed.
            Empty: a service has to be asked. Looked at only where the base is.

    Returns:
        Why nothing may be paid for on this base; None: work may begin.

    Raises:
        ServiceFailed: a service broke down, which says nothing about the repository.
        TryAgainLater: a service expects it to work later.
        ToBeContinued: the suite takes longer than one step shall.
    """
    state, oid = claimed.visit_lease.state, claimed.snapshot.repository.head_oid
    if not is_due(state, claimed.move.instance, claimed.pipeline, claimed.pipelines, oid=oid):
        return None
    return _BaseCheck(claimed, ports, during, machine()).outcome()


class _BaseCheck:
    """One look at the base, under the lease of a visit."""

    def __init__(self, claimed: Claimed, ports: NodePorts, during: During, machine: str) -> None:
        self._claimed = claimed
        self._ports = ports
        self._during = during
        self._machine = machine
        self._workspace: Workspace = ports.workspace()
        self._wanted = claimed.task.conventions.baseline
        self._is_reused = False
        """Whether nothing that the tests can see has changed since the base passed."""

    def outcome(self) -> Failed | None:
        with _standing_on_the_base(self._claimed, self._workspace) as oid:
            branch = self._claimed.task.item.default_branch
            findings = BaseFindings(oid=oid, branch=branch, wanted=self._wanted)
            try:
                findings, failed = self._looked_at(findings)
            except ServiceFailed as error:
                if error.code not in _OF_THE_REPOSITORY:
                    raise
                failed = refused(error.problem, origin=error.origin)
        return self._kept(findings, failed)

    def _looked_at(self, findings: BaseFindings) -> tuple[BaseFindings, Failed | None]:
        self._is_reused = still_holds(
            self._claimed.visit_lease.state.base,
            wanted=self._wanted,
            machine=self._machine,
            changed_since=lambda known: self._changed_since(known, findings.oid),
            specs=self._claimed.task.conventions.specs,
        )
        if self._is_reused:
            return findings, None
        place = f"{findings.branch} at {findings.oid[:12]}"
        self._ports.say(f"{WHO}: making the environment of {place}")
        environment, failed = self._environment()
        findings = findings.model_copy(update={"environment": environment})
        if failed is not None:
            return findings, failed
        self._is_reused = self._is_as_before(findings)
        if self._is_reused or self._wanted == "none":
            return findings, None
        self._ports.say(f"{WHO}: running the test suite of {place}")
        done = self._suite(findings)
        if done is None:
            return findings, None
        flaky, note = self._flaky(done.report)
        findings = with_report(
            findings, done.report, seconds=done.seconds, runs=done.runs, flaky=flaky, note=note
        )
        return findings, verdict(done.report, wanted=self._wanted)

    def _is_as_before(self, findings: BaseFindings) -> bool:
        """Whether a base passed before that differs in nothing that its tests can see."""
        known = self._claimed.visit_lease.state.base
        if known is None or not is_alike(known, findings):
            return False
        changed = self._changed_since(known.oid, findings.oid)
        specs = self._claimed.task.conventions.specs
        return changed is not None and not matters(
            changed, specs=specs, tests_documents=known.tests_documents
        )

    def _changed_since(self, known: CommitOid, here: CommitOid) -> Sequence[str] | None:
        return () if known == here else self._workspace.changed_since(known)

    def _environment(self) -> tuple[BaseEnvironment | None, Failed | None]:
        """What the services that make environments report; None where none does."""
        params = PrepareParams(timeout_s=PREPARE.limit_s)
        with self._during(f"{WHO}: making the environment", PREPARE.limit_s):
            answers: Sequence[Answer[Prepared]] | object = self._ports.service.call(
                PREPARE, self._workspace, params
            )
        if not isinstance(answers, tuple):
            return None, None
        return environment_of(answers), not_made(answers)

    def _suite(self, findings: BaseFindings) -> SuiteSoFar | None:
        """None where no service runs tests, and no node of the pipeline wants one that does."""
        text = self._claimed.kept.get(SO_FAR_FILE)
        with self._during(f"{WHO}: running the test suite", STEP_SHARE_S):
            try:
                return run_base_suite(self._ports, self._workspace, findings, text)
            except ServiceFailed as error:
                if error.code is ErrorCode.UNSUPPORTED_METHOD and not runs_tests(self._claimed.pipeline):
                    return None
                raise

    def _flaky(self, report: TestReport) -> tuple[tuple[str, ...], str]:
        """Of the tests that failed those that pass when they are run again, and why nobody knows them; empty: they are known."""
        failing = [case.id for case in report.cases if case.outcome in ("failed", "error")]
        if not failing or len(failing) > MOST_RERUN or report.timed_out:
            return (), ""
        self._ports.say(f"{WHO}: running {len(failing)} failing test(s) again")
        try:
            again = run_part(self._ports, self._workspace, failing, "never", who=WHO)
        except ServiceFailed as error:
            if error.code not in _OF_THE_REPOSITORY:
                raise
            # What the first run found is known all the same.
            return (), f"{_NOT_AGAIN}: {error}"
        passed = (case.id for case in again.cases if case.outcome == "passed" and case.id in failing)
        return tuple(passed), ""

    def _kept(self, findings: BaseFindings, failed: Failed | None) -> Failed | None:
        visit_lease = self._claimed.visit_lease
        known = visit_lease.state.base
        if self._is_reused and known is not None:
            self._ports.say(f"{WHO}: unchanged, as found before: {known.line}")
            visit_lease.learn(lambda state: _moved(state, findings.oid, self._machine))
            return None
        findings = findings.model_copy(update={"problem": failed.reason if failed else ""})
        self._ports.keep(BASELINE_FILE, canonical(findings.model_dump(mode="json")))
        if failed is not None:
            visit_lease.learn(lambda state: with_problem(state, failed.reason))
            return failed
        folder = visit_lease.state.folder(self._claimed.move.index, self._claimed.move.instance)
        passed = known_base(findings, f"{folder}/{BASELINE_FILE}", machine=self._machine)
        visit_lease.learn(lambda state: state.model_copy(update={"base": passed}))
        self._ports.say(f"{WHO}: {findings.line}")
        for line in remarks_on(findings):
            self._ports.say(f"{WHO}: {line}")
        return None


def _moved(state: RunState, oid: CommitOid, machine: str) -> RunState:
    """The state whose base is known to be as good at a later commit, or on another machine."""
    if state.base is None or (state.base.oid, state.base.machine) == (oid, machine):
        return state
    return state.model_copy(update={"base": state.base.model_copy(update={"oid": oid, "machine": machine})})


@contextmanager
def _standing_on_the_base(claimed: Claimed, workspace: Workspace) -> Iterator[CommitOid]:
    """The working copy as the default branch has it, for the length of the block."""
    task, head = claimed.task, workspace.head
    oid = head if task.branch == task.item.default_branch else claimed.snapshot.repository.head_oid
    if oid == head:
        yield head
        return
    workspace.settle(oid)
    try:
        yield oid
    finally:
        workspace.settle(head)
