"""The verdict on a patch by the tests of a fresh checkout, and what each stage of its repair took."""

from collections.abc import Callable

from cogworks.codebase.diffmodel import Diff
from cogworks.cycle.events import Event, ExecutionComplete, ExecutionStart
from cogworks.domain_services.messages import TestReport
from cogworks.evaluation.report import Mu, Stage, summed
from cogworks.llm.gateway import Meter
from cogworks.repair.instance import Instance
from cogworks.repair.transact.diffrules import churn
from cogworks.repair.transact.measure import Measurement, measured, refusal, worse
from cogworks.vocabulary import Value


class Verdict(Value):
    """What the tests say of a patch."""

    is_solved: bool
    reason: str = ""
    repaired: tuple[str, ...] = ()
    regressions: tuple[str, ...] = ()
    mu: Mu


def selection(instance: Instance) -> tuple[str, ...]:
    """The tests of the verdict; none: the whole suite, where the instance does not say what has to go on passing."""
    if not instance.pass_to_pass:
        return ()
    return tuple(dict.fromkeys((*instance.failing_tests, *instance.pass_to_pass)))


def new_failures(before: TestReport, after: TestReport) -> tuple[str, ...]:
    """What fails only with the patch; it runs again before it counts."""
    return worse(measured(before), measured(after)).failing


def judged(instance: Instance, before: Measurement, after: Measurement, *, diff: Diff) -> Verdict:
    """The verdict on a patch.

    Args:
        after: with further runs of what is new in it.
    """
    reason = refusal(before, after, landmark=instance.failing_tests)
    unsteady = before.flaky | after.flaky
    return Verdict(
        is_solved=reason is None,
        reason=reason or "",
        repaired=tuple(sorted(before.failing & after.passing)),
        regressions=tuple(sorted(before.passing - after.passing - unsteady)),
        mu=Mu(before=before.scalar, after=after.scalar + churn(diff)),
    )


class StageMeter:
    """Listens to one repair."""

    def __init__(self) -> None:
        self._spent: Callable[[], Meter] = Meter
        self._before = Meter()
        self._name = ""
        self._stages: list[Stage] = []

    def watch(self, spent: Callable[[], Meter]) -> None:
        """What the model has cost so far, to be asked at every end of an action."""
        self._spent = spent

    def __call__(self, event: Event) -> None:
        if isinstance(event.body, ExecutionStart):
            self._name = event.body.action.value.lower()
        elif isinstance(event.body, ExecutionComplete):
            self._end(float(event.wall.get("duration_ms", 0.0)) / 1000)

    def stages(self) -> tuple[Stage, ...]:
        """One for each action that ran, in the order in which they first did; one that was broken off as well."""
        if self._name:
            self._end(0.0)
        return summed(self._stages)

    def _end(self, duration_s: float) -> None:
        now, before = self._spent(), self._before
        self._stages.append(
            Stage(
                name=self._name,
                runs=1,
                duration_s=round(duration_s, 3),
                calls=now.calls - before.calls,
                input_tokens=now.input_tokens - before.input_tokens,
                output_tokens=now.output_tokens - before.output_tokens,
                cost_usd=round(float(now.cost_usd - before.cost_usd), 9),
            )
        )
        self._before, self._name = now, ""
