"""Where the failing tests of a sub-work-item lead: the suspects, as far as the services can tell."""

from collections.abc import Collection

from cogworks.canonical import canonical
from cogworks.coding.results import TraceEntry
from cogworks.coding.testgate import missing_target
from cogworks.domain_services.exploring import Coverage
from cogworks.domain_services.messages import TestReport
from cogworks.nodes.contract import NodeShell, Workspace
from cogworks.repair.consulting import Exploration
from cogworks.repair.landmarks import Landmark, Span
from cogworks.repair.localising import HOPS, WIDER_HOPS, Localised, Reach, localise
from cogworks.repair.measure import BAD
from cogworks.repair.suspects import Suspect
from cogworks.vocabulary import Value

MOST_SPANS = 3
LEAST_SHARE = 1 / 3
"""A place this much less suspicious than the first one is none of the landmark's."""
CANDIDATES_FILE = "candidates.json"
LANDMARKS_FILE = "landmarks.json"


class Located(Value):
    """What one analysis found out."""

    landmark: Landmark
    localised: Localised

    @property
    def places(self) -> tuple[str, ...]:
        """What whoever tries again is told: no numbers, which differ between interpreters and would only look exact."""
        return tuple(_place(span) for span in self.landmark.target_spans)

    @property
    def trace(self) -> tuple[TraceEntry, ...]:
        found = self.localised
        built = {
            "nodes": found.nodes,
            "truncated": found.truncated,
            "missing": list(found.ranking.missing),
        }
        recalled = {"suspects": [each.symbol.id for each in found.suspects]}
        return (
            TraceEntry(kind="subgraph.built", data=built),
            TraceEntry(kind="candidates.recalled", data=recalled),
            TraceEntry(kind="landmark", data={"id": self.landmark.id, "places": list(self.places)}),
        )

    def files(self) -> dict[str, str]:
        """The artifacts of the analysis: name -> text."""
        ranking = self.localised.ranking
        candidates = {
            "suspects": [each.model_dump(mode="json") for each in self.localised.suspects],
            "weights": dict(ranking.weights),
            "missing": list(ranking.missing),
        }
        return {
            CANDIDATES_FILE: f"{canonical(candidates)}\n",
            LANDMARKS_FILE: f"{canonical([self.landmark.model_dump(mode='json')])}\n",
        }


class Locator(Exploration):
    """Looks for the places behind failures in the node's working copy."""

    def __init__(self, shell: NodeShell, workspace: Workspace, *, who: str) -> None:
        self._shell = shell
        self._workspace = workspace
        self._who = who
        self._covered: dict[str, Coverage] = {}
        """Name of a tree -> what its tests execute: asking runs the whole suite."""
        super().__init__(workspace, shell.service, warn=lambda text: shell.say(f"{who}: {text}"))

    def locate(self, failing: TestReport, *, is_wide: bool) -> Located | None:
        """The suspects behind these failures; None when there is nothing to look for or nothing is found.

        Args:
            is_wide: whether to look farther than usual.
        """
        if not failing.cases and not failing.collection_errors:
            return None
        self._shell.say(f"{self._who}: looking for what {len(failing.cases)} failing test(s) lead to")
        reach = Reach(hops=WIDER_HOPS if is_wide else HOPS)
        found = localise(failing, self, reach=reach)
        if not found.suspects:
            return None
        first, *_ = found.suspects
        landmark = Landmark(
            id=self._who,
            intent=f"Make the failing tests pass; they lead to {first.symbol.id}.",
            target_spans=tuple(
                _span(each)
                for each in found.suspects[:MOST_SPANS]
                if each.suspicion >= first.suspicion * LEAST_SHARE
            ),
            confidence=first.suspicion,
        )
        return Located(landmark=landmark, localised=found)

    def coverage(self, *, timeout_s: float) -> Coverage | None:
        tree = self._workspace.tree_name()
        found = self._covered.get(tree) or super().coverage(timeout_s=timeout_s)
        if found is not None:
            self._covered[tree] = found
        return found

    def text(self, path: str) -> str | None:
        return self._workspace.read(path)


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


def _span(suspect: Suspect) -> Span:
    symbol = suspect.symbol
    return Span(artifact=symbol.artifact, lines=symbol.lines, symbol=symbol.id)


def _place(span: Span) -> str:
    return f"{span.artifact}:{span.lines[0]}-{span.lines[1]} {span.symbol}"
