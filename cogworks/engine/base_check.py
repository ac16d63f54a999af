"""The base of an item is looked at before its first model call: nothing is paid for where no change could be judged."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cogworks.codegen.suite import run_suite
from cogworks.domain_services.answers import Answer
from cogworks.domain_services.messages import ErrorCode, TestReport
from cogworks.domain_services.operations import PREPARE
from cogworks.domain_services.preparing import Prepared, PrepareParams
from cogworks.domain_services.transport import ServiceFailed
from cogworks.engine.base_findings import (
    WHO,
    BaseEnvironment,
    BaseFindings,
    environment_of,
    not_made,
    refused,
    verdict,
    with_report,
)
from cogworks.engine.record import Claimed
from cogworks.engine.workability import asks_services, needs_services, runs_tests
from cogworks.ledger.record import canonical
from cogworks.nodes.contract import Failed, NodePorts, Workspace
from cogworks.pipeline.graph import Instance, Pipeline, PipelineConfiguration
from cogworks.pipeline.known_base import KnownBase
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import CommitOid

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


def is_due(state: RunState, instance: Instance, pipeline: Pipeline, pipelines: PipelineConfiguration) -> bool:
    """Whether a visit that calls a model would be the first of its run to pay on this base.

    The first node may choose another pipeline: before it the base counts only where every pipeline asks a service.
    """
    is_first = instance.node == pipeline.start
    if not (needs_services(pipelines) if is_first else asks_services(pipeline)):
        return False
    paid = [visit for visit in state.visits if visit.spend.model_calls]
    if state.base is None:
        # What the first node paid says nothing: its run may have had a choice, or be older than this check.
        return all(visit.node == pipeline.start for visit in paid)
    return not paid


def check_base(claimed: Claimed, ports: NodePorts) -> Failed | None:
    """Make the environment of the base and run its suite, where that is due; the ledger keeps what came of it.

    Returns:
        Why nothing may be paid for on this base; None: work may begin.

    Raises:
        ServiceFailed: a service broke down, which says nothing about the repository.
        TryAgainLater: a service expects it to work later.
    """
    state = claimed.visit_lease.state
    if not is_due(state, claimed.move.instance, claimed.pipeline, claimed.pipelines):
        return None
    return _BaseCheck(claimed, ports).outcome()


class _BaseCheck:
    """One look at the base, under the lease of a visit."""

    def __init__(self, claimed: Claimed, ports: NodePorts) -> None:
        self._claimed = claimed
        self._ports = ports
        self._workspace: Workspace = ports.workspace()
        self._wanted = claimed.task.conventions.baseline

    def outcome(self) -> Failed | None:
        with _standing_on_the_base(self._claimed, self._workspace) as oid:
            branch = self._claimed.task.item.default_branch
            found = BaseFindings(oid=oid, branch=branch, wanted=self._wanted)
            try:
                found, failed = self._looked_at(found)
            except ServiceFailed as error:
                if error.code not in _OF_THE_REPOSITORY:
                    raise
                failed = refused(str(error))
        return self._kept(found, failed)

    def _looked_at(self, found: BaseFindings) -> tuple[BaseFindings, Failed | None]:
        place = f"{found.branch} at {found.oid[:12]}"
        self._ports.say(f"{WHO}: making the environment of {place}")
        environment, failed = self._environment()
        found = found.model_copy(update={"environment": environment})
        known = self._claimed.visit_lease.state.base
        if failed is not None or self._wanted == "none" or _is_known(known, found):
            return found, failed
        self._ports.say(f"{WHO}: running the test suite of {place}")
        began_s = self._ports.now()
        report = self._report()
        if report is None:
            return found, None
        found = with_report(found, report, seconds=self._ports.now() - began_s)
        return found, verdict(report, wanted=self._wanted)

    def _environment(self) -> tuple[BaseEnvironment | None, Failed | None]:
        """What the services that make environments tell; None where none does."""
        params = PrepareParams(timeout_s=PREPARE.limit_s)
        answers: Sequence[Answer[Prepared]] | object = self._ports.service.call(
            PREPARE, self._workspace, params
        )
        if not isinstance(answers, tuple):
            return None, None
        return environment_of(answers), not_made(answers)

    def _report(self) -> TestReport | None:
        """None where no service runs tests, and no node of the pipeline wants one that does."""
        try:
            return run_suite(self._ports, self._workspace, who=WHO)
        except ServiceFailed as error:
            if error.code is ErrorCode.UNSUPPORTED_METHOD and not runs_tests(self._claimed.pipeline):
                return None
            raise

    def _kept(self, found: BaseFindings, failed: Failed | None) -> Failed | None:
        visit_lease = self._claimed.visit_lease
        known = visit_lease.state.base
        if failed is None and known is not None and _is_known(known, found):
            self._ports.say(f"{WHO}: as it was found before: {known.line}")
            return None
        found = found.model_copy(update={"problem": failed.reason if failed else ""})
        self._ports.keep(BASELINE_FILE, canonical(found.model_dump(mode="json")))
        if failed is not None:
            return failed
        folder = visit_lease.state.folder(self._claimed.move.index, self._claimed.move.instance)
        passed = _known_base(found, f"{folder}/{BASELINE_FILE}")
        visit_lease.learn(lambda state: state.model_copy(update={"base": passed}))
        self._ports.say(f"{WHO}: {found.line}")
        return None


def _known_base(found: BaseFindings, path: str) -> KnownBase:
    key = found.environment.key if found.environment else ""
    return KnownBase(oid=found.oid, environment_key=key, wanted=found.wanted, line=found.line, path=path)


def _is_known(known: KnownBase | None, found: BaseFindings) -> bool:
    """Whether a base passed before that differs in nothing; without the key of its environment nobody could say."""
    key = found.environment.key if found.environment else ""
    return known is not None and (known.oid, known.environment_key, known.wanted) == (
        found.oid,
        key or None,
        found.wanted,
    )


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
