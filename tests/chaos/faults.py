"""Let one request of a step go wrong in every way, and see whether the step, or the next run, gets over it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from cogworks.engine.consider import Wanted
from cogworks.engine.step import take_step
from cogworks.errors import CogworksError
from cogworks.forge.addresses import parse_issue_url
from cogworks.github.meter import Requests
from cogworks.settings.config import read_environment
from cogworks.wiring.step import open_ports
from tests.chaos.portrait import differences, visits_in
from tests.chaos.timeline import LEASE_IS_OLD_S, Step, Theatre

Fault = Mapping[str, Any]

_ANY: tuple[Fault, ...] = (
    {"kind": "refuse"},
    {"kind": "error_before", "status": 502},
    {"kind": "cut_after"},
    {"kind": "rate_limited", "status": 403},
    {"kind": "rate_limited", "status": 429, "retry_after_s": 2},
    {"kind": "rate_limited", "status": 403, "limit": "primary"},
)
_WRITES: tuple[Fault, ...] = ({"kind": "error_after", "status": 502}, {"kind": "error_after", "status": 504})
_READS: tuple[Fault, ...] = ({"kind": "stale", "lag": 1}, {"kind": "partial", "at": "repository.issue"})
_GRAPHQL: tuple[Fault, ...] = ({"kind": "rate_limited_200"}, {"kind": "redirect", "location": "/api/graphql"})
_REST: tuple[Fault, ...] = ({"kind": "missing"}, {"kind": "redirect", "location": "/api/v3/repositories/1"})
_TELLING = frozenset({"refuse", "cut_after"})
"""Not carried out, and carried out without an answer."""
_COMMITS = ("FirstClaim", "Append")
"""The operations that commit to the ledger."""


@dataclass(frozen=True, eq=False)
class FaultPoint:
    """One fault at the k-th request of a step, counted from 1."""

    step: Step
    request: int
    fault: Fault

    def __str__(self) -> str:
        asked = self.step.requests[self.request - 1]
        what = asked["operation"] or asked["path"]
        told = " ".join(str(value) for value in self.fault.values())
        return f"step {self.step.name}, {told} at request {self.request} ({what})"


def fault_points(steps: Iterable[Step]) -> Iterator[FaultPoint]:
    """Every kind of fault that can meet a request, at each request of each step."""
    for step in steps:
        for number, request in enumerate(step.requests, start=1):
            for fault in _faults(request):
                yield FaultPoint(step, number, fault)


def covering(points: Sequence[FaultPoint]) -> list[FaultPoint]:
    """Few of the points that together meet all that the whole of them meets; always the same ones.

    That is: each request of each step by a fault after which nobody knows whether it was done, or by one that keeps it from being
    done; each kind of step by each kind of fault; each kind of request in each part of a step by each kind of fault.
    """
    wanted = set[object]().union(*map(met_by, points))
    chosen: list[FaultPoint] = []
    while wanted:
        best = max(points, key=lambda point: len(met_by(point) & wanted))
        chosen.append(best)
        wanted -= met_by(best)
    return sorted(chosen, key=points.index)


@cache
def met_by(point: FaultPoint) -> frozenset[object]:
    """What a point contributes to a selection, see `covering`."""
    step, kind = point.step, tuple(point.fault.values())
    asked = step.requests[point.request - 1]
    request = asked["operation"] or PurePosixPath(asked["path"]).name
    found: set[object] = {
        ("step", step.node.partition("@")[0] or step.outcome, kind),
        ("request", request, _part(step, point.request), kind),
    }
    if point.fault["kind"] in _TELLING:
        found.add(("at", step.number, point.request))
    return frozenset(found)


def _part(step: Step, request: int) -> str:
    """Which part of a step a request belongs to: nothing, something or everything is on record by then."""
    commits = [n for n, each in enumerate(step.requests, start=1) if each["operation"] in _COMMITS]
    if not commits or request < commits[0]:
        return "reading"
    if request in (commits[0], commits[-1]):
        return "claim" if request == commits[0] else "record"
    return "work" if request < commits[-1] else "views"


def _faults(request: Mapping[str, Any]) -> Iterator[Fault]:
    yield from _ANY
    if request["is_write"]:
        yield from _WRITES
    if request["kind"] == "graphql":
        yield from _GRAPHQL
        if not request["is_write"]:
            yield from _READS
    if request["kind"] == "rest":
        yield from _REST


def recovery(theatre: Theatre, point: FaultPoint) -> list[str]:
    """What is wrong after the fault and, where the step did not get over it, one more run; empty: nothing shows."""
    theatre.back_to(point.step)
    with theatre.admin.playing({**point.fault, **point.step.at(point.request)}):
        outcome = in_this_process(theatre)
        if not theatre.admin.struck():
            return [f"{point}: the step was over before that request"]
    if outcome == point.step.outcome and not differences(point.step.after, theatre.portrait()):
        return []
    return _next_run(theatre, point, outcome)


def _next_run(theatre: Theatre, point: FaultPoint, first: str) -> list[str]:
    step = point.step
    theatre.admin.advance(LEASE_IS_OLD_S)
    expected = step
    if step.node and visits_in(theatre.hub) == len(step.after["state"]["visits"]):
        # It was recorded, and only its views are behind: the run after it brings them up to date.
        following = theatre.steps[step.number + 1 :]
        expected = following[0] if following else step
    outcome = in_this_process(theatre)
    if outcome != expected.outcome:
        return [f"{point}: it ended with {first}; the next run with {outcome}, not {expected.outcome}"]
    return [f"{point}: {line}" for line in differences(expected.after, theatre.portrait())]


def in_this_process(theatre: Theatre) -> str:
    """One step without a new process, whose waits let the hub's clock run instead of ours; how it ended."""
    environment = read_environment(theatre.environment)
    address = parse_issue_url(theatre.issue_url)
    try:
        with open_ports(
            environment, address, meter=Requests(), say=lambda _: None, sleep=theatre.admin.advance
        ) as ports:
            report = take_step(ports, address, Wanted())
    except CogworksError as error:
        return f"{error.outcome}: {error}"
    return report.outcome
