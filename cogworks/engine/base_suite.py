"""The suite of a base, run in parts where it takes long: what is done is kept in the ledger, and a later step goes on from there."""

from pydantic import ValidationError

from cogworks.codegen.suite import run_part
from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.parts import in_parts, joined
from cogworks.engine.base_findings import WHO, BaseFindings
from cogworks.errors import ToBeContinued
from cogworks.ledger.record import canonical
from cogworks.nodes.contract import NodePorts, Workspace
from cogworks.repair.transact.measure import file_of
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


def so_far(text: str | None, found: BaseFindings) -> SuiteSoFar:
    """What an earlier step kept about the very base, or nothing done.

    Args:
        text: of `SO_FAR_FILE`; None: there is none.
    """
    key = found.environment.key if found.environment else ""
    nothing = SuiteSoFar(oid=found.oid, environment_key=key)
    try:
        kept = SuiteSoFar.model_validate_json(text or "")
    except ValidationError:
        return nothing
    # Without a key nobody could say whether the environment is still the same.
    is_same = key and (kept.oid, kept.environment_key) == (found.oid, key)
    return kept if is_same and kept.report.left else nothing


def run_base_suite(
    ports: NodePorts, workspace: Workspace, found: BaseFindings, text: str | None
) -> SuiteSoFar:
    """Run the whole suite, or what an earlier step left of it; each part goes into the ledger before the next begins.

    Args:
        found: which base it is, and its environment.
        text: as of `so_far`.

    Raises:
        ToBeContinued: the step has done its share; what is done is in the ledger.
        ServiceFailed: it could not be run.
    """
    done = so_far(text, found)
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
    # Whoever reads this may stop us: it is in the ledger.
    ports.say(f"{WHO}: {done.line}")
