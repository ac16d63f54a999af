"""Where the failing tests of a sub-work-item lead: the suspects, as far as the services can tell.

Probes of the suspects behind a sub-work-item's failing tests, as `cogworks fix` sends them.
"""

from collections.abc import Callable, Collection
from typing import Any

from cogworks.canonical import canonical
from cogworks.codegen.dossier import blackboard_of, probed
from cogworks.codegen.testgate import missing_target
from cogworks.cycle.results import TraceEntry
from cogworks.domain_services.exploring import Coverage
from cogworks.domain_services.messages import TestReport
from cogworks.nodes.contract import NodePorts, Workspace
from cogworks.repair.consulting import Exploration
from cogworks.repair.landmarks import RepairTarget, Span
from cogworks.repair.localise.localising import HOPS, WIDER_HOPS, Localised, Reach, localise
from cogworks.repair.localise.suspects import Suspect
from cogworks.repair.probe.investigating import Findings, ProbeLimits, Watching, investigate
from cogworks.repair.probe.probes import Scene
from cogworks.repair.transact.measure import BAD, file_of
from cogworks.settings.sections import ProbeConfig
from cogworks.vocabulary import Value

MOST_FOLLOWED = 200
"""Tests whose lines are followed, which takes several times as long as to run them: of more, those near the failing ones."""
_FOLLOWED_S = 180.0
MAX_EVIDENCE_CHARS = 4_000
"""Of what the next question says; the blackboard has all of it."""


class Probes:
    """One visit's probes; what is known of a tree is not asked again."""

    def __init__(self, ports: NodePorts, limits: ProbeConfig, *, who: str) -> None:
        self._ports = ports
        self._limits = limits
        self._who = who
        self._tree = ""
        self.findings: Findings | None = None
        """Of the last investigation; None before the first."""

    def into(self, localised: Localised, failing: TestReport, tell: Callable[..., None]) -> Localised:
        """The suspects in the order of what is believed after the probes; as they came where none may be sent.

        Raises:
            TreeChanged: the working copy is not what it was.
            CogworksError: the visit has to stop.
        """
        limits = self._limits
        if not limits.investigations_enabled or not localised.suspects:
            return localised
        # Only as long as it is needed: what the probes started is gone before the next action begins.
        with self._ports.sandbox_pool() as sandbox_pool:
            before = sandbox_pool.digest()
            known = self.findings if before == self._tree else None
            self._tree = before
            scene = Scene(
                failing=failing,
                suspects=localised.suspects,
                covering=localised.covering or {},
                timeout_s=limits.probe_seconds,
            )
            most = ProbeLimits(most=limits.max_probes, pool=limits.probe_pool, probe_s=limits.probe_seconds)
            watching = Watching(tell, lambda line: self._ports.say(f"{self._who}: {line}"))
            findings = self.findings = investigate(
                scene, sandbox_pool, most, watching, known=known or Findings(), at=before
            )
        suspects = findings.in_order(localised.suspects)
        tell("candidates.probed", suspects=[[each.symbol.id, each.belief] for each in suspects])
        return localised.model_copy(update={"suspects": suspects})


MOST_SPANS = 3
LEAST_SHARE = 1 / 3
"""A place this much less suspicious than the first one is none of the landmark's."""
BOARD_FILE = "blackboard.json"
CANDIDATES_FILE = "candidates.json"
LANDMARKS_FILE = "landmarks.json"


class Located(Value):
    """What one analysis found out."""

    landmark: RepairTarget
    localised: Localised
    recalled: tuple[str, ...]
    """The suspects as they were ranked before any of them was probed."""
    findings: Findings | None = None
    """What probes of the suspects found out; None where none was sent."""
    probing: tuple[TraceEntry, ...] = ()
    """How they went."""

    @property
    def places(self) -> tuple[str, ...]:
        """What the next question says: no numbers, which differ between interpreters and would only look exact."""
        return tuple(_place(span) for span in self.landmark.target_spans)

    @property
    def evidence(self) -> tuple[str, ...]:
        """What the probes observed, in lines for the next attempt."""
        return self.findings.evidence(max_chars=MAX_EVIDENCE_CHARS) if self.findings else ()

    @property
    def trace(self) -> tuple[TraceEntry, ...]:
        localised = self.localised
        built = {
            "nodes": localised.nodes,
            "truncated": localised.truncated,
            "missing": list(localised.ranking.missing),
        }
        recalled = {"suspects": list(self.recalled)}
        return (
            TraceEntry(kind="subgraph.built", data=built),
            TraceEntry(kind="candidates.recalled", data=recalled),
            *self.probing,
            TraceEntry(kind="landmark", data={"id": self.landmark.id, "places": list(self.places)}),
        )

    def files(self) -> dict[str, str]:
        """The artifacts of the analysis: name -> text."""
        ranking = self.localised.ranking
        candidates = {
            "suspects": [each.model_dump(mode="json") for each in self.localised.suspects],
            "weights": dict(ranking.weights),
            "missing": list(ranking.missing),
            "probed": probed(self.findings),
        }
        board = {BOARD_FILE: f"{canonical(blackboard_of(self.findings))}\n"} if self.findings else {}
        return {
            **board,
            CANDIDATES_FILE: f"{canonical(candidates)}\n",
            LANDMARKS_FILE: f"{canonical([self.landmark.model_dump(mode='json')])}\n",
        }


class Locator(Exploration):
    """Looks for the places behind failures in the node's working copy."""

    def __init__(self, ports: NodePorts, workspace: Workspace, *, who: str, probes: ProbeConfig) -> None:
        self._ports = ports
        self._workspace = workspace
        self._who = who
        self._probes = Probes(ports, probes, who=who)
        self._covered: dict[tuple[str, tuple[str, ...]], Coverage] = {}
        """Name of a tree and files of tests -> what these execute."""
        super().__init__(workspace, ports.service, warn=lambda text: ports.say(f"{who}: {text}"))

    def locate(
        self, failing: TestReport, *, is_wide: bool, suite: TestReport | None = None
    ) -> Located | None:
        """The suspects behind these failures; None when there is nothing to look for or nothing is found.

        Args:
            is_wide: whether to look farther than usual.
            suite: the run of all tests that they come from; of a long one only those near the failing ones are followed.

        Raises:
            TreeChanged: a probe changed the working copy.
        """
        if not failing.cases and not failing.collection_errors:
            return None
        self._ports.say(f"{self._who}: looking for what {len(failing.cases)} failing test(s) lead to")
        self._suite = followed_tests(failing, suite)
        reach = Reach(hops=WIDER_HOPS if is_wide else HOPS, timeout_s=_FOLLOWED_S)
        localised = localise(failing, self, reach=reach)
        if not localised.suspects:
            return None
        recalled = tuple(each.symbol.id for each in localised.suspects)
        probing = list[TraceEntry]()
        localised = self._probes.into(
            localised, failing, lambda kind, **data: probing.append(_entry(kind, data))
        )
        first, *_ = localised.suspects
        landmark = RepairTarget(
            id=self._who,
            intent=f"Make the failing tests pass; they lead to {first.symbol.id}.",
            target_spans=tuple(
                _span(each)
                for each in localised.suspects[:MOST_SPANS]
                if each.likelihood >= first.likelihood * LEAST_SHARE
            ),
            confidence=first.likelihood,
        )
        return Located(
            landmark=landmark,
            localised=localised,
            recalled=recalled,
            findings=self._probes.findings if probing else None,
            probing=tuple(probing),
        )

    def coverage(self, *, timeout_s: float, steps_of: str = "") -> Coverage | None:
        asked = (self._workspace.tree_name(), self._suite)
        covered = self._covered.get(asked) or super().coverage(timeout_s=timeout_s, steps_of=steps_of)
        if covered is not None:
            self._covered[asked] = covered
        return covered

    def text(self, path: str) -> str | None:
        return self._workspace.read(path)


def followed_tests(failing: TestReport, suite: TestReport | None) -> tuple[str, ...]:
    """The failing tests with others near them, as many as there is room for in a run that follows every line.

    Files, and single tests of a file that has too many. None, which is all tests, where the suite is short enough.
    """
    cases = suite.cases if suite else ()
    if len(cases) <= MOST_FOLLOWED:
        return ()
    by_file: dict[str, list[str]] = {}
    for case in cases:
        by_file.setdefault(file_of(case.id), []).append(case.id)
    wanted = [case.id for case in failing.cases]
    first = dict.fromkeys(map(file_of, (*wanted, *failing.collection_errors)))
    folders = {path.rpartition("/")[0] for path in first}
    others = sorted(
        by_file.keys() - first.keys(), key=lambda path: (path.rpartition("/")[0] not in folders, path)
    )
    room, chosen = MOST_FOLLOWED, list[str]()
    for path in (*first, *others):
        tests = by_file.get(path, [])
        if len(tests) <= room:
            chosen.append(path)
            room -= len(tests)
        elif path in first:
            own = [test for test in wanted if file_of(test) == path]
            beside = [test for test in tests if test not in {*own}][: max(0, room - len(own))]
            chosen += [*own, *beside]
            room -= len(own) + len(beside)
    return tuple(chosen)


def telling(report: TestReport, known: TestReport, modules: Collection[str]) -> TestReport:
    """The failures that lead to code: those that are not old, and not only because something is still to be written.

    Args:
        known: what may go on failing.
        modules: files that are there or planned.
    """
    old = {case.id for case in known.cases if case.outcome in BAD}
    cases = [case for case in report.cases if case.outcome in BAD and case.id not in old]
    errors = [error for error in report.collection_errors if error not in known.collection_errors]
    return TestReport(
        cases=tuple(case for case in cases if not missing_target(case.message, modules)),
        collection_errors=tuple(error for error in errors if not missing_target(error, modules)),
    )


def _entry(kind: str, data: dict[str, Any]) -> TraceEntry:
    return TraceEntry(kind=kind, data=data)


def _span(suspect: Suspect) -> Span:
    symbol = suspect.symbol
    return Span(artifact=symbol.artifact, lines=symbol.lines, symbol=symbol.id)


def _place(span: Span) -> str:
    return f"{span.artifact}:{span.lines[0]}-{span.lines[1]} {span.symbol}"
