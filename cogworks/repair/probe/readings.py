"""What the answers to a probe say about its suspect. Printed values are compared as text: no language is known here."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from cogworks.canonical import canonical, sha256
from cogworks.domain_services.exploring import (
    NOTED,
    CallGraph,
    Coverage,
    Lines,
    Signatures,
    SymbolIndex,
    Trace,
    TraceEvent,
)
from cogworks.repair.localise.suspects import Suspect
from cogworks.repair.probe.probes import MAX_LISTED, Kinds, Seen

_SHOWN_VALUES = 3
_NAMES = 8
_TELLING = re.compile(r"[0-9'\"\[({]")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")


def trace_seen(trace: Trace, suspect: Suspect, others: Sequence[Suspect], failure: str) -> Seen:
    """What a suspect did while the failing test ran.

    Likely the cause is who first raised what the test ended with, or who first returned a value that the failure shows and
    that its caller only handed on. Unlikely is who did not run at all.

    Args:
        others: all suspects whose events are in the trace.
    """
    own = [event for event in trace.events if is_in(suspect, event)]
    observed: dict[str, Any] = {"test": trace.case.id, "executed": bool(own)}
    if trace.case.outcome == "passed":
        return Seen(observations={**observed, "passes_alone": True})
    if not own:
        is_known = not trace.truncated
        return Seen(recommendation="unlikely" if is_known else "unknown", observations=observed)
    observed |= _behaviour(own)
    shared = [event for event in trace.events if any(is_in(other, event) for other in others)]
    for kind, ends in (("raised", _raised(shared, failure)), ("returned", _returned(shared, failure))):
        mine = [event for event in ends if is_in(suspect, event)]
        if mine:
            deepest = max(event.depth for event in ends)
            is_first = any(event.depth == deepest for event in mine)
            observed |= {"origin" if is_first else "passed_on": f"{kind} {mine[0].value}"}
            return Seen(recommendation="likely_cause" if is_first else "possible", observations=observed)
    return Seen(observations=observed)


def events_within(
    events: Iterable[TraceEvent], artifacts: Collection[str], lines: Collection[Lines]
) -> tuple[TraceEvent, ...]:
    """The events in these stretches of these artifacts, as if no others had been noted: each has the values since the one before."""
    kept: list[TraceEvent] = []
    left_out: dict[tuple[str, str, int], dict[str, str]] = {}
    for event in events:
        frame = (event.artifact, event.symbol, event.depth)
        before = left_out.pop(frame, {}) if event.kind != "call" else {}
        values = {**before, **event.values}
        if event.artifact in artifacts and any(first <= event.line <= last for first, last in lines):
            kept.append(event.model_copy(update={"values": values}))
        else:
            left_out[frame] = values
    return tuple(kept)


def coverage_seen(coverage: Coverage, suspect: Suspect, failing: Collection[str]) -> Seen:
    """Which of a suspect's lines the failing tests execute, and which they do not."""
    lines: set[int] = set()
    ran = {case.id for case in coverage.report.cases if case.outcome in ("passed", "failed")}
    measured = [each for each in coverage.tests if each.test in failing and each.test in ran]
    for each in measured:
        for first, last in each.lines.get(suspect.symbol.artifact, ()):
            lines.update(range(first, last + 1))
    own = {line for first, last in suspect.own for line in range(first, last + 1)}
    observed = {
        "tests": [each.test for each in measured],
        "executed": _stretches(lines & own),
        # What stands above is the head of the definition.
        "not_executed": _stretches({line for line in own - lines if line > min(lines & own, default=line)}),
    }
    if measured and not lines & own:
        return Seen(recommendation="unlikely", observations=observed)
    return Seen(observations=observed)


def structure_seen(
    suspect: Suspect,
    graph: CallGraph | None,
    indexes: Iterable[SymbolIndex],
    signatures: Iterable[Signatures],
    text: str,
) -> Seen:
    """Who calls a suspect and whom it calls, how it may be called, which variables it names. Nothing of it runs."""
    name = suspect.symbol.id
    edges = graph.edges if graph else ()
    calling = {each.source for each in edges if each.target == name and each.kind in ("calls", "tests")}
    called = {each.target for each in edges if each.source == name and each.kind == "calls"}
    observations: dict[str, Any] = {
        "callers": sorted(calling)[:MAX_LISTED],
        "callees": sorted(called)[:MAX_LISTED],
    }
    for each in (one for answer in signatures for one in answer.signatures):
        if each.id == name:
            observations["signature"] = each.model_dump(
                mode="json", include={"positional_only", "positional", "keyword_only", "with_default"}
            )
    words = frozenset(_WORD.findall(_excerpt(text, suspect.own)))
    observations["data"] = sorted(
        each.id
        for index in indexes
        for each in index.symbols
        if each.kind == "variable" and each.id.rpartition(".")[2] in words
    )[:MAX_LISTED]
    return Seen(observations=observations)


def kinds_in(traces: Iterable[Trace]) -> dict[str, tuple[str, ...]]:
    """Parameter -> the kinds of values that were noted for it."""
    kinds_by_name: dict[str, set[str]] = {}
    for trace in traces:
        for event in trace.events:
            for name, value in event.values.items():
                if name.startswith(NOTED):
                    kinds_by_name.setdefault(name.removeprefix(NOTED), set()).add(value.strip("'\""))
    return {name: tuple(sorted(kinds)) for name, kinds in sorted(kinds_by_name.items())}


def violations(failing: Kinds, passing: Kinds) -> dict[str, tuple[str, ...]]:
    """Parameters that get a kind of value no passing test gives them -> the kinds these give."""
    return {
        name: tuple(passing[name])
        for name, kinds in sorted(failing.items())
        if name in passing and {*kinds} - {*passing[name]}
    }


def has_fired(trace: Trace) -> bool:
    """Whether a check that a probe put in failed."""
    raised = any(event.kind == "exception" and NOTED in event.value for event in trace.events)
    return raised or (trace.case.outcome != "passed" and NOTED in _last_lines(trace.case.message))


def essence(message: str) -> str:
    """What a failure is about, without where it stood: of two runs that fail alike it is the same.

    Test runners mark the lines of the error itself with an `E`; where none is marked the last line has to do.
    """
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith("E ")] or lines[-1:]
    return " ".join(re.sub(r":\d+", "", line) for line in marked)


def is_in(suspect: Suspect, event: TraceEvent) -> bool:
    """Whether something happened in a suspect's own lines."""
    return event.artifact == suspect.symbol.artifact and any(
        first <= event.line <= last for first, last in suspect.own
    )


def words_of(text: str) -> frozenset[str]:
    """Its identifiers."""
    return frozenset(_WORD.findall(text))


def _behaviour(own: Sequence[TraceEvent]) -> dict[str, Any]:
    values: dict[str, str] = {}
    for event in own:
        values |= event.values
    calls = [event for event in own if event.kind == "call"]
    return {
        "calls": len(calls),
        "lines": _stretches({event.line for event in own if event.kind == "line"}),
        "arguments": _first(calls[-1].values) if calls else {},
        "locals": _first(values),
        "locals_digest": sha256(canonical(values))[:16],
        "returned": _last(event.value for event in own if event.kind == "return"),
        "raised": _last(event.value for event in own if event.kind == "exception"),
    }


def _raised(events: Sequence[TraceEvent], failure: str) -> list[TraceEvent]:
    """The exceptions that the failure names."""
    words = words_of(_last_lines(failure))
    return [
        event
        for event in events
        if event.kind == "exception" and event.value.partition("(")[0].rpartition(".")[2] in words
    ]


def _returned(events: Sequence[TraceEvent], failure: str) -> list[TraceEvent]:
    """The returns of those values that the outermost calls handed to the test and the failure shows."""
    returns = [event for event in events if event.kind == "return"]
    if not returns:
        return []
    outermost = min(event.depth for event in returns)
    actual = {
        event.value for event in returns if event.depth == outermost and _is_shown(event.value, failure)
    }
    return [event for event in returns if event.value in actual]


def _is_shown(value: str, failure: str) -> bool:
    """A bare word such as a null or a truth value is everywhere, and tells nothing."""
    if not _TELLING.search(value):
        return False
    return re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.])", failure) is not None


def _last_lines(text: str) -> str:
    return "\n".join(text.splitlines()[-20:])


def _first(values: Mapping[str, str]) -> dict[str, str]:
    return {name: values[name] for name in sorted(values)[:_NAMES]}


def _last(values: Iterable[str]) -> list[str]:
    return [*dict.fromkeys(values)][-_SHOWN_VALUES:]


def _stretches(lines: Collection[int]) -> list[list[int]]:
    stretches: list[list[int]] = []
    for line in sorted(lines):
        if stretches and line == stretches[-1][1] + 1:
            stretches[-1][1] = line
        else:
            stretches.append([line, line])
    return stretches


def _excerpt(text: str, stretches: Sequence[Lines]) -> str:
    rows = text.split("\n")
    return "\n".join(row for first, last in stretches for row in rows[first - 1 : last])
