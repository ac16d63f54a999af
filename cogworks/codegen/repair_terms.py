"""Under which terms one change of a repair is tried: what it may touch, and which tests stand between it and its commit."""

from collections.abc import Sequence

from cogworks.codegen.branching import Branching
from cogworks.codegen.diagnosing import Diagnosis
from cogworks.codegen.repair_job import Job
from cogworks.repair.landmarks import RepairTarget
from cogworks.repair.transact.gates import Selection
from cogworks.repair.transact.outcomes import Terms
from cogworks.repair.transact.steady import SteadyTests
from cogworks.vocabulary import CommitOid


class RepairTerms:
    """The terms of every change of one repair."""

    def __init__(
        self,
        job: Job,
        diagnosis: Diagnosis,
        branching: Branching,
        *,
        base: CommitOid,
        steady: SteadyTests | None = None,
    ) -> None:
        """Args:
        base: where the repair started.
        steady: knows how the tests fared there; None: they are run for it.
        """
        self._steady = steady
        self._job = job
        self._diagnosis = diagnosis
        self._branching = branching
        self._base = base

    def of(
        self, landmark: RepairTarget, touched: Sequence[str] = (), *, at: CommitOid | None = None
    ) -> Terms:
        """Args:
        touched: the files of the change; none: those where it is expected.
        at: the commit that is changed; None: it is of no matter.
        """
        gates = self._job.options.gates
        files = touched or tuple(dict.fromkeys(span.artifact for span in landmark.target_spans))
        tests = self._diagnosis.regression(files) if gates.regression else ()
        # The suite has to run on the changed files anyway, and what it finds is better known before the commit.
        is_short = bool(
            self._steady and self._steady.is_short and gates.regression and gates.full_before_finalize
        )
        selection = Selection(
            landmark=(landmark.landmark_test,) if landmark.landmark_test else (),
            targeted=self._job.instance.failing_tests,
            regression=tests or (),
            smoke=gates.smoke or (),
            full=tests is None or is_short,
            is_short=is_short,
            is_last=self._branching.is_last and gates.targeted_tests,
            is_part=self._branching.is_part,
        )
        # Two runs of the suite are behind us there, and a third would find the same.
        before = self._steady.baseline(selection.tests) if self._steady and at == self._base else None
        return Terms(
            before=before,
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
