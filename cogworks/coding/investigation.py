"""The investigation of one repair: suspects are probed before anybody says what is wrong."""

from collections.abc import Callable

from cogworks.coding.repair_job import Job, Notes, Tools
from cogworks.domain_services.messages import TestReport
from cogworks.repair.investigating import Findings, ProbeLimits, Watching, investigate
from cogworks.repair.localising import Localised
from cogworks.repair.planning import Situation
from cogworks.repair.probes import ProbePatch, Scene
from cogworks.repair.recalling import proposed, recalled


class Inquiry:
    """Probes the suspects of one repair; while the tree stays the same, what is known is not asked again."""

    def __init__(self, job: Job, tools: Tools, notes: Notes, tell: Callable[..., None]) -> None:
        self._job = job
        self._tools = tools
        self._notes = notes
        self._tell = tell
        self._tree = ""
        self._times = 0

    def into(self, localised: Localised, failing: TestReport) -> Localised:
        """The suspects in the order of what is believed after the probes; as they came where none may be sent.

        Raises:
            TreeChanged: the worktree is not what it was.
        """
        self._notes.recalled = recalled(localised.suspects)
        laboratory, options = self._tools.laboratory, self._job.options.search
        if laboratory is None or not options.investigations_enabled or not localised.suspects:
            return localised
        self._times += 1
        patches = self._proposed(localised, failing)
        before = laboratory.digest()
        known = self._notes.findings if before == self._tree else None
        self._tree = before
        limits = ProbeLimits(most=options.max_probes, pool=options.probe_pool, probe_s=options.probe_seconds)
        scene = Scene(
            failing=failing,
            suspects=localised.suspects,
            covering=localised.covering or {},
            timeout_s=options.probe_seconds,
        )
        watching = Watching(self._tell, self._tools.say)
        found = self._notes.findings = investigate(
            scene, laboratory, limits, watching, proposed=patches, known=known or Findings()
        )
        suspects = found.in_order(localised.suspects)
        self._tell("candidates.probed", suspects=[[each.symbol.id, each.belief] for each in suspects])
        return localised.model_copy(update={"suspects": suspects})

    def _proposed(self, localised: Localised, failing: TestReport) -> tuple[ProbePatch, ...]:
        most = self._job.options.search.model_probes
        if not most:
            return ()
        situation = Situation(
            failing=failing,
            suspects=localised.suspects,
            slices=localised.slices,
            targets=self._job.instance.failing_tests,
        )
        found = proposed(
            situation,
            self._tools.model,
            self._tools.explorer.text,
            most=most,
            purpose=f"fix-investigate-{self._times}",
        )
        self._notes.recalled += found.candidates
        self._tell(
            "probes.proposed",
            candidates=[each.id for each in found.candidates],
            patches=[each.id for each in found.patches],
            problems=list(found.problems),
        )
        return found.patches
