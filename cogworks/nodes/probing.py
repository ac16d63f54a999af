"""Probes of the suspects behind a sub-work-item's failing tests, as `cogworks fix` sends them."""

from collections.abc import Callable

from cogworks.codegen_settings import ProbeConfig
from cogworks.domain_services.messages import TestReport
from cogworks.nodes.contract import NodeShell
from cogworks.repair.investigating import Findings, ProbeLimits, Watching, investigate
from cogworks.repair.localising import Localised
from cogworks.repair.probes import Scene

MAX_EVIDENCE_CHARS = 4_000
"""Of what whoever tries again is told; the blackboard has all of it."""


class Probes:
    """One visit's probes; what is known of a tree is not asked again."""

    def __init__(self, shell: NodeShell, limits: ProbeConfig, *, who: str) -> None:
        self._shell = shell
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
        with self._shell.laboratory() as laboratory:
            before = laboratory.digest()
            known = self.findings if before == self._tree else None
            self._tree = before
            scene = Scene(
                failing=failing,
                suspects=localised.suspects,
                covering=localised.covering or {},
                timeout_s=limits.probe_seconds,
            )
            most = ProbeLimits(most=limits.max_probes, pool=limits.probe_pool, probe_s=limits.probe_seconds)
            watching = Watching(tell, lambda line: self._shell.say(f"{self._who}: {line}"))
            found = self.findings = investigate(scene, laboratory, most, watching, known=known or Findings())
        suspects = found.in_order(localised.suspects)
        tell("candidates.probed", suspects=[[each.symbol.id, each.belief] for each in suspects])
        return localised.model_copy(update={"suspects": suspects})
