"""What each stage of a repair took: time from the log, calls and dollars from the meter while its action ran."""

from collections.abc import Callable

from cogworks.cycle.events import Event, ExecutionComplete, ExecutionStart
from cogworks.evaluation.report import Stage, summed
from cogworks.llm.gateway import Meter


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
