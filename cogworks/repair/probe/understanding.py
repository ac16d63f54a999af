"""What was understood of a failure, put together from the pattern and from what probes found out."""

from collections.abc import Iterator

from cogworks.repair.landmarks import FailurePattern
from cogworks.repair.probe.investigating import Findings
from cogworks.vocabulary import Value


class Understanding(Value):
    """The failure in short."""

    summary: str
    invariants: tuple[str, ...]
    """What has to hold, by the pattern, and what holds wherever tests pass, by probes."""
    dependencies: tuple[str, ...]
    """`caller -> callee` and `user -> variable` around the places of the pattern, by id."""


def understood(pattern: FailurePattern, findings: Findings | None) -> Understanding:
    """The understanding that follows; no model is asked."""
    known = findings or Findings()
    spans = (pattern.primary_location, *(each.span for each in pattern.alternatives))
    symbols = dict.fromkeys(span.symbol for span in spans if span.symbol)
    return Understanding(
        summary=pattern.summary,
        invariants=tuple(dict.fromkeys((*pattern.invariants, *known.invariants))),
        dependencies=tuple(dict.fromkeys(each for name in symbols for each in _around(name, known))),
    )


def _around(name: str, findings: Findings) -> Iterator[str]:
    for fact in findings.board.about(name):
        if fact.kind == "ast":
            yield from (f"{caller} -> {name}" for caller in fact.content.get("callers", ()))
            yield from (
                f"{name} -> {other}" for key in ("callees", "data") for other in fact.content.get(key, ())
            )
