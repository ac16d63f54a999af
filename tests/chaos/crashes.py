"""Kill a step at one of its requests, let the next run do it again, and see whether anything shows."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.chaos.portrait import differences, visits_in
from tests.chaos.timeline import LEASE_IS_OLD_S, Step, Theatre


@dataclass(frozen=True)
class CrashPoint:
    """Before or after the hub carried out the k-th request of a step, counted from 1."""

    step: Step
    request: int
    is_before: bool

    def __str__(self) -> str:
        asked = self.step.requests[self.request - 1]
        what = asked["operation"] or asked["path"]
        return f"step {self.step.name}, {'before' if self.is_before else 'after'} request {self.request} ({what})"


def crash_points(step: Step) -> Iterator[CrashPoint]:
    """After each request, and before those that come first or push: before request k+1 the hub is as after request k."""
    for number, request in enumerate(step.requests, start=1):
        if number == 1 or (request["kind"] == "git" and request["is_write"]):
            yield CrashPoint(step, number, is_before=True)
        yield CrashPoint(step, number, is_before=False)


def recovery(theatre: Theatre, point: CrashPoint) -> list[str]:
    """What is wrong after the crash and one more run; empty when nobody can tell that there was a crash."""
    theatre.back_to(point.step)
    kind = "hold_before" if point.is_before else "hold_after"
    if not theatre.crash_at({"kind": kind, **point.step.at(point.request)}):
        return [f"{point}: the step was over before that request"]
    return [f"{point}: {line}" for line in left_behind(theatre, point.step)]


def recovery_from_line(theatre: Theatre, step: Step, line: int) -> list[str] | None:
    """The same after a kill as the step prints its n-th line of progress, counted from 1; None: it has fewer."""
    theatre.back_to(step)
    if not theatre.crash_at_line(line):
        return None
    return [f"step {step.name}, at line {line}: {found}" for found in left_behind(theatre, step)]


def left_behind(theatre: Theatre, step: Step) -> list[str]:
    """What one more run makes of a step that was killed, as far as it is not what the step would have made."""
    theatre.admin.advance(LEASE_IS_OLD_S)
    expected = step
    recorded = len(step.after["state"]["visits"])
    if step.node and visits_in(theatre.hub) == recorded:
        # The step was recorded already; the run after it shows what the killed one could not show any more.
        following = theatre.steps[step.number + 1 :]
        expected = following[0] if following else step
    report = theatre.process()
    if report["exit_code"] != 0:
        return [f"the next run ended with {report['exit_code']}: {report['message']}"]
    return differences(expected.after, theatre.portrait())
