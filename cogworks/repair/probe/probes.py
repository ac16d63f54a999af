"""What a probe is: one question about one suspect, asked in a worktree that is thrown away.

What investigations have found out: facts that merge into the same text in whatever order they come.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar

from pydantic import Field

from cogworks.canonical import canonical, sha256
from cogworks.codebase.sandboxes import Hit
from cogworks.domain_services.exploring import Steps
from cogworks.domain_services.messages import Message, TestReport
from cogworks.domain_services.operations import Operation
from cogworks.repair.localise.suspects import Suspect
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


Params = TypeVar("Params", bound=Message)
Result = TypeVar("Result", bound=Message)
Purpose = Literal["instrument", "assert", "reduce"]
AGENDA: Sequence[ProbeKind] = ("trace", "ast", "instrument", "assert", "coverage", "grep", "reduce")
"""What is asked about a suspect without a model, in this order."""
MAX_LISTED = 10


class ProbePatch(Value):
    """A change that is made to find something out, and never kept."""

    id: str
    """Equal for equal changes."""
    suspect: str
    diff: str
    purpose: Purpose
    loc_changed: int
    rationale: str


class Probe(Value):
    """One question about one suspect."""

    id: str
    kind: ProbeKind
    suspect: Suspect
    operations: int
    """Questions to services that it may cost."""
    allowed: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """For `assert`: parameter -> kinds of values it has where tests pass."""
    patch: ProbePatch | None = None
    """Somebody else's; None: it makes its own where it needs one."""


class Seen(Value):
    """What a probe saw, before anybody says what that is worth."""

    recommendation: Recommendation = "unknown"
    observations: dict[str, Any] = Field(default_factory=dict)
    patch: ProbePatch | None = None
    """What was tried."""
    violated: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Parameter whose kind of value no passing test has -> the kinds it has there."""
    error: str = ""


class Scene(Value):
    """What all probes of one investigation know."""

    failing: TestReport
    """Of the tests to repair; their failures."""
    suspects: tuple[Suspect, ...]
    covering: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Artifact -> tests that execute it."""
    timeout_s: float = 60.0
    """Of one probe."""
    steps: Steps | None = None
    """What a test executes, where the measurement of coverage says it."""

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that fail and come to run, in the report's order."""
        return tuple(case.id for case in self.failing.cases if case.outcome in ("failed", "error"))

    @property
    def target(self) -> str:
        """The test that is looked at; empty when none came to run."""
        return next(iter(self.tests), "")

    @property
    def others(self) -> tuple[str, ...]:
        """The other tests that fail, without further cases of the one that is looked at."""
        return tuple(test for test in self.tests if test.partition("[")[0] != self.target.partition("[")[0])

    @property
    def failure(self) -> str:
        """What that test printed."""
        return next((case.message for case in self.failing.cases if case.id == self.target), "")

    @property
    def artifacts(self) -> tuple[str, ...]:
        """The files of the suspects."""
        return tuple(sorted({each.symbol.artifact for each in self.suspects}))

    def passing(self, artifact: str, *, most: int) -> tuple[str, ...]:
        """Some tests that execute a file and do not fail."""
        return tuple(test for test in self.covering.get(artifact, ()) if test not in self.tests)[:most]


class Sandbox(Protocol):
    """A throw-away worktree, and the services that look at it or run it in isolation."""

    def text(self, path: str) -> str | None: ...

    def apply(self, diff: str) -> str | None:
        """Change the worktree, which is as it was checked out but for this; why that cannot be done."""

    def reset(self) -> None:
        """Make it what was checked out."""

    def grep(self, word: str, *, most: int) -> Sequence[Hit]: ...

    def ask(self, operation: Operation[Params, Result], params: Params) -> Sequence[Result]:
        """The answers of all services that offer it. Raises: CogworksError."""


Kinds = Mapping[str, Sequence[str]]
"""Parameter -> kinds of values it was given."""
