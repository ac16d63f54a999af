"""Let one request of a step go wrong in every way, and see whether the step, or the next run, gets over it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cogworks.errors import CogworksError
from cogworks.github.addresses import parse_issue_url
from cogworks.github.meter import Requests
from cogworks.nodes.considering import Wanted
from cogworks.settings import read_environment
from cogworks.step import take_step
from cogworks.wiring import open_shell
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


@dataclass(frozen=True)
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


def fault_points(step: Step) -> Iterator[FaultPoint]:
    """Every kind of fault that can meet a request, at each request of a step; after its first checkpoint two kinds.

    A further checkpoint is the same request with other replies in it, and only the coder makes several.
    """
    further = _further_checkpoints(step)
    for number, request in enumerate(step.requests, start=1):
        for fault in _faults(request):
            if number not in further or fault["kind"] in _TELLING:
                yield FaultPoint(step, number, fault)


def _further_checkpoints(step: Step) -> Sequence[int]:
    """The commits to the ledger between the first checkpoint and the record of a step."""
    commits = [n for n, each in enumerate(step.requests, start=1) if each["operation"] == "Append"]
    return commits[2:-1]


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
        with open_shell(
            environment, address, meter=Requests(), say=lambda _: None, sleep=theatre.admin.advance
        ) as shell:
            report = take_step(shell, address, Wanted())
    except CogworksError as error:
        return f"{error.outcome}: {error}"
    return report.outcome
