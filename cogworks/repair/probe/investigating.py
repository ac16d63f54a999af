"""Sends probes to the suspects: which go next, what their answers are worth, and what is known in the end."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from pydantic import Field

from cogworks.canonical import canonical
from cogworks.domain_services.operations import Operation
from cogworks.errors import CogworksError
from cogworks.repair.localise.suspects import Suspect
from cogworks.repair.probe.probes import (
    AGENDA,
    Blackboard,
    Params,
    Probe,
    ProbeKind,
    ProbePatch,
    ProbeReport,
    Result,
    Sandbox,
    Scene,
    Seen,
    facts_of,
)
from cogworks.repair.probe.probing import NEEDS, seen_by
from cogworks.repair.probe.schedule import (
    INFORMATIVE_FROM,
    AskedOnce,
    Schedule,
    Waiting,
    all_of,
    beliefs_from,
    gain,
    updated,
)
from cogworks.vocabulary import Value

ROUND = 3
"""Probes chosen at once, however many of them run at the same time: what is found out does not depend on that."""
MAX_EVIDENCE_CHARS = 12_000


class TreeChanged(CogworksError):
    """A probe changed what it may only look at; nothing can be trusted any more."""


class SandboxPool(Protocol):
    """Where probes work; `cogworks.wiring.probes` has the real one."""

    def sandbox(self, *, limit_s: float) -> AbstractContextManager[Sandbox]:
        """A throw-away worktree of the commit that is repaired, and services that answer within that time."""

    def offers(self, operation: Operation[Params, Result]) -> bool:
        """Whether a service knows how to answer. Raises CogworksError where that cannot be found out."""

    def digest(self) -> str:
        """What tells the state of the worktree that is repaired from any other, every file of it."""

    def cancel(self) -> None:
        """Make what runs in every room come to an end."""


class ProbeLimits(Value):
    """How much is found out."""

    most: int = 7
    pool: int = 3
    """Probes that run at the same time."""
    probe_s: float = 60.0


class Findings(Value):
    """What an investigation found out."""

    reports: tuple[ProbeReport, ...] = ()
    """In the order in which they were folded in."""
    board: Blackboard = Blackboard()
    patches: tuple[ProbePatch, ...] = ()
    """What was tried and thrown away, each once."""
    violated: dict[str, dict[str, tuple[str, ...]]] = Field(default_factory=dict)
    """Suspect -> parameter -> the kinds of values it has wherever tests pass, and not where one fails."""
    before: dict[str, float] = Field(default_factory=dict)
    """Suspect -> probability that it is the cause, from its suspicion alone."""
    beliefs: dict[str, float] = Field(default_factory=dict)
    """The same after all probes."""

    @property
    def invariants(self) -> tuple[str, ...]:
        """What holds where tests pass, and not where one fails, in words."""
        return tuple(
            f"{name}: {parameter} is {' or '.join(kinds)}"
            for name, violated in sorted(self.violated.items())
            for parameter, kinds in sorted(violated.items())
        )

    def in_order(self, suspects: Sequence[Suspect]) -> tuple[Suspect, ...]:
        """The suspects with what is believed of them, likeliest first, else in the order given."""
        held = [each.model_copy(update={"belief": self.beliefs.get(each.symbol.id)}) for each in suspects]
        return tuple(sorted(held, key=lambda each: -(each.belief or 0.0)))

    def evidence(self, *, max_chars: int = MAX_EVIDENCE_CHARS) -> tuple[str, ...]:
        """The facts as lines of text, those about the likeliest suspects first, as many as there is room for.

        Why a probe came to nothing is left out: it says nothing of the fault, and may be another text in the next run.
        """
        order = {
            name: place
            for place, name in enumerate(sorted(self.beliefs, key=lambda each: (-self.beliefs[each], each)))
        }
        seen = [fact for fact in self.board.facts if "error" not in fact.content]
        lines, left = list[str](), max_chars
        for fact in sorted(seen, key=lambda each: (order.get(each.suspect, len(order)), each.key)):
            line = f"{fact.suspect}, {fact.kind}: {canonical(fact.content)}"
            left -= len(line) + 1
            if left < 0:
                break
            lines.append(line)
        return tuple(lines)


class Tell(Protocol):
    """Called for every stage with its kind, and data by name."""

    def __call__(self, kind: str, /, **data: Any) -> None: ...


@dataclass(frozen=True)
class Watching:
    """Who follows an investigation."""

    tell: Tell
    say: Callable[[str], None] = lambda _: None
    """One line for a person, as it happens."""


def investigate(
    scene: Scene,
    sandbox_pool: SandboxPool,
    limits: ProbeLimits,
    watching: Watching,
    *,
    proposed: Sequence[ProbePatch] = (),
    known: Findings | None = None,
    at: str | None = None,
) -> Findings:
    """Probe the suspects until the probes are used up or nothing is left to ask.

    Equal scenes give equal findings, byte by byte, for any size of the pool and whichever probe ends first.

    Args:
        proposed: changes somebody wants tried; they go before what is asked of every suspect.
        known: what earlier probes of the same tree found out; it is not asked again, and is returned with the rest.
        at: the digest of the worktree, where the caller has just asked for it.

    Raises:
        TreeChanged: the worktree that is repaired is not what it was.
    """
    work = _Investigation(scene, sandbox_pool, limits, watching, at=at or sandbox_pool.digest())
    work.begin_with(known or Findings(), proposed)
    names = [each.symbol.id for each in scene.suspects]
    watching.tell("investigations.start", suspects=names, probes=limits.most, pool=limits.pool)
    while probes := work.next_round():
        work.fold(probes, work.run(probes))
    findings = work.findings()
    watching.tell("investigations.done", probes=work.probes, facts=len(findings.board.facts))
    return findings


class _Investigation:
    def __init__(
        self, scene: Scene, sandbox_pool: SandboxPool, limits: ProbeLimits, watching: Watching, *, at: str
    ) -> None:
        """Args:
        at: the digest that the worktree has to keep.
        """
        self._at = at
        self._scene, self._sandbox_pool, self._limits, self._watching = scene, sandbox_pool, limits, watching
        self._suspects = {each.symbol.id: each for each in scene.suspects}
        self._shared = AskedOnce()
        self._before = self._beliefs = beliefs_from(
            [(each.symbol.id, each.suspicion) for each in scene.suspects]
        )
        self._proposed: dict[str, list[ProbePatch]] = {name: [] for name in self._suspects}
        agenda = [kind for kind in AGENDA if self._can_be_answered(kind)] if self._suspects else []
        self._agendas = {name: list(agenda) for name in self._suspects}
        self.probes = 0
        """Of this investigation."""
        self._violated: dict[str, dict[str, tuple[str, ...]]] = {}
        self._reports: list[ProbeReport] = []
        self._patches: dict[str, ProbePatch] = {}
        self._board = Blackboard()
        self._schedule = Schedule(
            waiting=tuple(
                Waiting(
                    id=name,
                    suspect=name,
                    suspicion=min(1.0, each.suspicion),
                    is_on_stack=each.signals.get("stack", 0.0) > 0,
                )
                for name, each in self._suspects.items()
            )
        )

    def begin_with(self, known: Findings, proposed: Sequence[ProbePatch]) -> None:
        """What is known already, and what somebody wants tried, unless it was."""
        self._reports, self._board = list(known.reports), known.board
        self._patches = {each.id: each for each in known.patches}
        self._violated = dict(known.violated)
        for report in known.reports:
            self._beliefs = updated(self._beliefs, report.suspect, report.recommendation)
            agenda = self._agendas.get(report.suspect, [])
            if report.kind in agenda:
                agenda.remove(report.kind)
        for patch in proposed:
            if patch.suspect in self._proposed and patch.id not in self._patches:
                self._proposed[patch.suspect].append(patch)
        self._schedule = self._with_something_to_ask(self._schedule)

    def next_round(self) -> list[Probe]:
        """The probes to run together; none when they are used up or nothing is left to ask."""
        left = self._limits.most - self.probes
        fresh = sum(each.runs == 0 for each in self._schedule.waiting)
        # Those that never ran go first whatever the others tell, so they need not wait for each other.
        chosen = self._schedule.next_round(min(left, max(ROUND, fresh))) if left > 0 else ()
        return [self._probe(each, len(self._reports) + place) for place, each in enumerate(chosen, 1)]

    def run(self, probes: Sequence[Probe]) -> list[Seen]:
        """What they saw, in their order."""
        for probe in probes:
            self._watching.tell("probe.start", id=probe.id, asks=probe.kind, suspect=probe.suspect.symbol.id)
        tasks = [partial(self._seen, probe) for probe in probes]
        return all_of(tasks, most=self._limits.pool, cancel=self._sandbox_pool.cancel)

    def fold(self, probes: Sequence[Probe], seen: Sequence[Seen]) -> None:
        """Take the results in, in the order of the probes."""
        gains: dict[str, float] = {}
        for probe, each in zip(probes, seen, strict=True):
            name = probe.suspect.symbol.id
            gains[name] = self._taken_in(probe, each)
            if each.violated:
                self._violated[name] = each.violated
        self.probes += len(probes)
        moved = self._schedule.with_gains(gains, threshold=INFORMATIVE_FROM)
        self._schedule = self._with_something_to_ask(moved)

    def findings(self) -> Findings:
        return Findings(
            reports=tuple(self._reports),
            board=self._board,
            patches=tuple(self._patches.values()),
            violated=dict(self._violated),
            before=dict(self._before),
            beliefs=dict(self._beliefs),
        )

    def _can_be_answered(self, kind: ProbeKind) -> bool:
        try:
            return all(map(self._sandbox_pool.offers, NEEDS[kind]))
        except CogworksError:
            # The probe says why.
            return True

    def _with_something_to_ask(self, schedule: Schedule) -> Schedule:
        waiting = [
            each.model_copy(update={"violates_invariant": each.id in self._violated})
            for each in schedule.waiting
            if self._agenda(each.id) or self._proposed[each.id]
        ]
        return schedule.model_copy(update={"waiting": tuple(waiting)})

    def _probe(self, waiting: Waiting, number: int) -> Probe:
        name = waiting.suspect
        patch = self._proposed[name].pop(0) if self._proposed[name] else None
        if patch is None:
            kind, *self._agendas[name] = self._agenda(name)
        else:
            kind = patch.purpose
        return Probe(
            id=f"probe-{number}",
            kind=kind,
            suspect=self._suspects[name],
            operations=waiting.quantum,
            allowed=self._violated.get(name, {}),
            patch=patch,
        )

    def _agenda(self, name: str) -> list[ProbeKind]:
        """What is left to ask about a suspect; there is nothing to check where nothing is known to hold."""
        left = self._agendas[name]
        return left if name in self._violated or left[:1] != ["assert"] else left[1:]

    def _seen(self, probe: Probe) -> Seen:
        """In a thread of its own."""
        name = f"{probe.id}: {probe.kind} of {probe.suspect.symbol.id}"
        self._watching.say(f"{name} …")
        try:
            with self._sandbox_pool.sandbox(limit_s=self._limits.probe_s) as sandbox:
                seen = seen_by(probe, self._scene, sandbox, self._shared)
        except (CogworksError, OSError) as error:
            seen = Seen(error=f"no worktree for the probe: {error}")
        if self._sandbox_pool.digest() != self._at:
            raise TreeChanged(f"{name} changed the worktree that is repaired; nothing in it may be trusted")
        self._watching.say(f"{name}: {seen.error or seen.recommendation.replace('_', ' ')}")
        return seen

    def _taken_in(self, probe: Probe, seen: Seen) -> float:
        name = probe.suspect.symbol.id
        after = updated(self._beliefs, name, seen.recommendation)
        gained = round(gain(self._beliefs, after), 6)
        self._beliefs = after
        report = ProbeReport(
            id=probe.id,
            kind=probe.kind,
            suspect=name,
            result="informative" if gained >= INFORMATIVE_FROM and not seen.error else "uninformative",
            information_gain=gained,
            recommendation=seen.recommendation,
            observations=seen.observations,
            error=seen.error,
        )
        self._reports.append(report)
        self._board = self._board.with_facts(facts_of(report))
        if seen.patch:
            self._patches.setdefault(seen.patch.id, seen.patch)
        self._watching.tell(
            "probe.done",
            id=probe.id,
            result=report.result,
            gain=gained,
            recommendation=report.recommendation,
            error=report.error,
        )
        return gained
