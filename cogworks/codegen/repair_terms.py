"""Under which terms one change of a repair is tried: what it may touch, and which tests stand between it and its commit."""

from collections.abc import Sequence

from cogworks.codegen.branching import Branching
from cogworks.codegen.diagnosing import Diagnosis
from cogworks.codegen.repair_job import Job
from cogworks.repair.landmarks import RepairTarget
from cogworks.repair.transact.gates import Selection
from cogworks.repair.transact.outcomes import Terms
from cogworks.vocabulary import CommitOid


class RepairTerms:
    """The terms of every change of one repair."""

    def __init__(self, job: Job, diagnosis: Diagnosis, branching: Branching, *, base: CommitOid) -> None:
        """Args:
        base: where the repair started.
        """
        self._job = job
        self._diagnosis = diagnosis
        self._branching = branching
        self._base = base

    def of(self, landmark: RepairTarget, touched: Sequence[str] = ()) -> Terms:
        """Args:
        touched: the files of the change; none: those where it is expected.
        """
        gates = self._job.options.gates
        files = touched or tuple(dict.fromkeys(span.artifact for span in landmark.target_spans))
        tests = self._diagnosis.regression(files) if gates.regression else ()
        selection = Selection(
            landmark=(landmark.landmark_test,) if landmark.landmark_test else (),
            targeted=self._job.instance.failing_tests,
            regression=tests or (),
            smoke=gates.smoke or (),
            full=tests is None,
            is_last=self._branching.is_last and gates.targeted_tests,
            is_part=self._branching.is_part,
        )
        return Terms(
            run=self._job.run,
            sub_item=self._job.instance.instance_id,
            step=self._diagnosis.step(landmark),
            selection=selection,
            base=self._base,
            command=self._job.command,
            limits=self._job.limits,
            static=gates.static,
            max_total_churn=self._job.options.limits.max_total_churn,
        )
