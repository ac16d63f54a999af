"""What investigations have found out: facts that merge into the same text in whatever order they come."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import Field

from cogworks.canonical import canonical, sha256
from cogworks.vocabulary import Value

Recommendation = Literal["likely_cause", "possible", "unlikely", "unknown"]
ProbeKind = Literal["ast", "grep", "trace", "coverage", "instrument", "assert", "reduce"]


class ProbeReport(Value):
    """What one probe found out about one suspect."""

    id: str
    kind: ProbeKind
    suspect: str
    """A symbol's id."""
    result: Literal["informative", "uninformative"]
    information_gain: float = Field(ge=0, le=1)
    recommendation: Recommendation
    observations: dict[str, Any] = Field(default_factory=dict)
    error: str = ""
    """Why the probe came to nothing."""


class Fact(Value):
    """One observation, without where or when it was made."""

    kind: str
    suspect: str
    content: dict[str, Any]

    @property
    def key(self) -> tuple[str, str, str]:
        """Equal for equal facts."""
        return self.kind, self.suspect, sha256(canonical(self.content))


class Blackboard(Value):
    """Facts without repetition, ordered by kind, suspect and content."""

    facts: tuple[Fact, ...] = ()

    def with_facts(self, facts: Iterable[Fact]) -> "Blackboard":
        """The blackboard with these as well."""
        merged = {fact.key: fact for fact in (*self.facts, *facts)}
        return Blackboard(facts=tuple(merged[key] for key in sorted(merged)))

    def about(self, suspect: str) -> tuple[Fact, ...]:
        """What is known of one suspect."""
        return tuple(fact for fact in self.facts if fact.suspect == suspect)


def facts_of(report: ProbeReport) -> tuple[Fact, ...]:
    """A report as facts; the same observations by two probes are one fact."""
    content: Mapping[str, Any] = {"recommendation": report.recommendation, **report.observations}
    if report.error:
        content = {**content, "error": report.error}
    return (Fact(kind=report.kind, suspect=report.suspect, content=dict(content)),)
