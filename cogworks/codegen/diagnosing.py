"""Where a repair goes to work: localisation, failure pattern and landmarks, kept from one analysis to the next.

The investigation of one repair: suspects are probed before anybody says what is wrong.
"""

from collections.abc import Callable, Sequence

from cogworks.codegen.repair_job import Job, Notes, Tools
from cogworks.codegen.suitability import failing_targets
from cogworks.domain_services.messages import TestReport
from cogworks.errors import CogworksError
from cogworks.repair.branches import Branch, followed, planned_branches, suspected_branches
from cogworks.repair.landmarks import Alternative, FailurePattern, RepairTarget, fallback_pattern
from cogworks.repair.localise.localising import Localised, Reach, localise
from cogworks.repair.localise.slices import Slice
from cogworks.repair.localise.sources import lines_of
from cogworks.repair.planning import Caps, Planned, Situation, combined, planned
from cogworks.repair.probe.investigating import Findings, ProbeLimits, Watching, investigate
from cogworks.repair.probe.probes import ProbePatch, Scene
from cogworks.repair.probe.recalling import proposed, recalled
from cogworks.repair.probe.understanding import understood
from cogworks.repair.proposing import Request, step_of, windows_of
from cogworks.repair.violations import Step
from cogworks.sight.seen import Seen

SPARING_ANALYSES = 1
"""Until a plan has failed every suspect is asked one thing: what further answers are worth nobody has seen yet."""


class Inquiry:
    """Probes the suspects of one repair; while the tree stays the same, what is known is not asked again."""

    def __init__(self, job: Job, tools: Tools, notes: Notes, tell: Callable[..., None]) -> None:
        self._job = job
        self._tools = tools
        self._notes = notes
        self._tell = tell
        self._tree = ""
        self._times = 0

    def traced(self, failing: TestReport) -> str:
        """The test whose steps the first probes will want; empty where none are sent."""
        is_wanted = self._tools.sandbox_pool is not None and self._job.options.search.investigations_enabled
        return Scene(failing=failing, suspects=()).target if is_wanted and not failing.hung else ""

    def into(self, localised: Localised, failing: TestReport) -> Localised:
        """The suspects in the order of what is believed after the probes; as they came where none may be sent.

        Raises:
            TreeChanged: the worktree is not what it was.
        """
        self._notes.recalled = recalled(localised.suspects)
        sandbox_pool, options = self._tools.sandbox_pool, self._job.options.search
        if sandbox_pool is None or not options.investigations_enabled or not localised.suspects:
            return localised
        if failing.hung:
            # A probe would wait for the end of a test that has none; where it was ended says more.
            return localised
        self._times += 1
        patches = self._proposed(localised, failing)
        before = sandbox_pool.digest()
        known = self._notes.findings if before == self._tree else None
        self._tree = before
        is_first = self._times <= SPARING_ANALYSES
        most = min(options.max_probes, len(localised.suspects)) if is_first else options.max_probes
        limits = ProbeLimits(most=most, pool=options.probe_pool, probe_s=options.probe_seconds)
        scene = Scene(
            failing=failing,
            suspects=localised.suspects,
            covering=localised.covering or {},
            timeout_s=options.probe_seconds,
            steps=localised.steps,
        )
        watching = Watching(self._tell, self._tools.say)
        findings = self._notes.findings = investigate(
            scene, sandbox_pool, limits, watching, proposed=patches, known=known or Findings(), at=before
        )
        suspects = findings.in_order(localised.suspects)
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
            tests=localised.tests,
            targets=self._job.instance.failing_tests,
            kept=tuple(self._notes.kept),
        )
        proposal = proposed(
            situation,
            self._tools.model,
            self._tools.explorer.text,
            most=most,
            purpose=f"fix-investigate-{self._times}",
        )
        self._notes.recalled += proposal.candidates
        self._tell(
            "probes.proposed",
            candidates=[each.id for each in proposal.candidates],
            patches=[each.id for each in proposal.patches],
            problems=list(proposal.problems),
        )
        return proposal.patches


class Diagnosis:
    """What is known of one failure, and the landmarks that follow from it."""

    def __init__(self, job: Job, tools: Tools, notes: Notes, tell: Callable[..., None]) -> None:
        """Args:
        tell: called for every stage with its kind, and data by name.
        """
        self._job = job
        self._tools = tools
        self._notes = notes
        self._tell = tell
        self._analyses = 0
        self._requests = 0
        self._failing = TestReport(cases=())
        self._given_up: set[str] = set()
        self._inquiry = Inquiry(job, tools, notes, tell)
        self._seen = tools.seen or Seen(tools.explorer.text)

    def give_up(self, landmark: RepairTarget) -> None:
        """No change was found for this place."""
        self._given_up.update(span.symbol for span in landmark.target_spans)

    def localise(self, reports: Sequence[TestReport], *, hops: int) -> Localised:
        """The suspects behind the first of these reports in which a test of the task fails."""
        failing = [each for report in reports if (each := failing_targets(report, self._job.instance))]
        self._failing = failing[0] if failing else TestReport(cases=())
        reach = Reach(
            hops=hops,
            padding_lines=self._job.options.limits.slice_padding_lines,
            timeout_s=self._job.limits.baseline_s,
            steps_of=self._inquiry.traced(self._failing),
        )
        localised = self._notes.localised = localise(
            self._failing, self._tools.explorer, reach=reach, rules=self._job.rules
        )
        missing = list(localised.ranking.missing)
        self._tell(
            "subgraph.built",
            nodes=localised.nodes,
            hops=hops,
            truncated=localised.truncated,
            missing=missing,
        )
        self._tell("candidates.recalled", suspects=[each.symbol.id for each in localised.suspects])
        return self.look_further(localised)

    def look_further(self, localised: Localised) -> Localised:
        """The suspects in the order of what is believed after further probes.

        Raises:
            TreeChanged: the worktree is not what it was.
        """
        probed = self._notes.localised = self._inquiry.into(localised, self._failing)
        return probed

    def plan(self, localised: Localised, reasons: Sequence[str], *, keep_pattern: bool) -> tuple[Branch, ...]:
        """The ways to a repair; where no plan can be had, the next suspects, and none when all were tried."""
        self._analyses += 1
        options = self._job.options.search
        if options.use_landmarks:
            self._notes.planned = self._asked(self._situation(localised, reasons), keep_pattern=keep_pattern)
        else:
            pattern = fallback_pattern(localised.suspects)
            self._synthesize(pattern)
            self._notes.planned = Planned(pattern=pattern)
        planned = self._notes.planned
        if landmarks := followed(planned.landmarks, most=options.max_steps):
            left = planned.pattern.model_copy(
                update={"alternatives": self._untried(planned.pattern.alternatives)}
            )
            return planned_branches(landmarks, left, localised.slices)
        return suspected_branches(localised.suspects, localised.slices, given_up=self._given_up)

    def _untried(self, alternatives: Sequence[Alternative]) -> tuple[Alternative, ...]:
        return tuple(
            each for each in alternatives if not each.span.symbol or each.span.symbol not in self._given_up
        )

    def request(self, landmark: RepairTarget, reasons: Sequence[str]) -> Request:
        """What a proposer is asked for one landmark, with the windows of the tree as it is now."""
        localised, plan = self._notes.localised, self._notes.planned
        if localised is None or plan is None:
            raise CogworksError(f"landmark {landmark.id!r} was not planned by this run")
        self._requests += 1
        padding = self._job.options.limits.slice_padding_lines
        texts = {
            span.artifact: self._tools.explorer.text(span.artifact) or "" for span in landmark.target_spans
        }
        return Request(
            landmark=landmark,
            pattern=plan.pattern,
            situation=self._situation(localised, reasons),
            windows=windows_of(landmark, texts, self._seen, padding=padding),
            step=self.step(landmark),
            most=self._job.options.search.diffs_per_step,
            purpose=f"fix-diffs-{self._requests}",
            doubted=frozenset(self._notes.doubted),
        )

    def step(self, landmark: RepairTarget) -> Step:
        """What a change for a landmark may touch."""
        job = self._job
        step = step_of(landmark, self._caps(), self._seen, handed_over=job.handed_over, rules=job.rules)
        return step.model_copy(update={"asked": job.asked})

    def _caps(self) -> Caps:
        limits = self._job.options.limits
        return Caps(changed_lines=limits.max_loc_changes, files=limits.max_files_per_diff)

    def regression(self, files: Sequence[str]) -> tuple[str, ...] | None:
        """The tests that reach these files; None where nobody can tell."""
        passing = self._job.instance.pass_to_pass
        covering = self._notes.localised.covering if self._notes.localised else None
        if covering is None:
            return passing or None
        reaching = {test for path in files for test in covering.get(path, ())}
        return (*passing, *sorted(reaching - {*passing}))

    def _asked(self, situation: Situation, *, keep_pattern: bool) -> Planned:
        before = self._notes.planned
        for each in (*situation.slices, *situation.tests):
            self._seen.note(each.artifact, *each.lines)
        pattern = before.pattern if keep_pattern and before else self._combined(situation)
        self._synthesize(pattern)
        self._tell("planner.landmarks.start")
        plan = planned(
            situation,
            pattern,
            self._tools.model,
            caps=self._caps(),
            purpose=f"fix-landmarks-{self._analyses}",
            looked=self._looked,
        )
        landmarks = [each.id for each in plan.landmarks]
        self._tell("planner.landmarks.done", landmarks=landmarks, problems=list(plan.problems))
        return plan

    def _combined(self, situation: Situation) -> FailurePattern:
        self._tell("combine.start")
        answer = combined(
            situation, self._tools.model, purpose=f"fix-combine-{self._analyses}", looked=self._looked
        )
        place = answer.pattern.primary_location
        self._tell(
            "combine.done", artifact=place.artifact, lines=list(place.lines), problems=list(answer.problems)
        )
        return answer.pattern

    def _looked(self) -> tuple[Slice, ...]:
        """Every stretch that was shown, as it is now."""
        texts = {path: lines_of(self._tools.explorer.text(path) or "") for path in self._seen.paths}
        return tuple(
            Slice(artifact=path, lines=(first, last), text="".join(lines[first - 1 : last]))
            for path, lines in texts.items()
            for first, last in self._seen.stretches(path)
        )

    def _synthesize(self, pattern: FailurePattern) -> None:
        """What the pattern and the probes come to together."""
        self._tell("planner.synthesize.start")
        understanding = self._notes.understanding = understood(pattern, self._notes.findings)
        self._tell(
            "planner.synthesize.done",
            invariants=len(understanding.invariants),
            dependencies=len(understanding.dependencies),
        )

    def _situation(self, localised: Localised, reasons: Sequence[str]) -> Situation:
        return Situation(
            failing=self._failing,
            suspects=localised.suspects,
            slices=localised.slices,
            tests=localised.tests,
            targets=self._job.instance.failing_tests,
            reasons=tuple(reasons),
            kept=tuple(self._notes.kept),
            evidence=self._notes.findings.evidence() if self._notes.findings else (),
        )
