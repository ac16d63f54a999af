from decimal import Decimal

from cogworks.cycle.events import Event, ExecutionComplete, ExecutionStart
from cogworks.cycle.results import Action, ActionResult, Outcome
from cogworks.evaluation.judging import StageMeter
from cogworks.evaluation.report import Stage
from cogworks.llm.gateway import Meter


def started(action: Action) -> Event:
    return event(ExecutionStart(action=action, deadline_ms=1))


def ended(duration_ms: float) -> Event:
    done = ActionResult(outcome=Outcome.DONE)
    body = ExecutionComplete(success=True, result=done, result_digest="", error_code="")
    return event(body, duration_ms=duration_ms)


def event(body: ExecutionStart | ExecutionComplete, **wall: float) -> Event:
    return Event(seq=1, cycle=1, body=body, prev_hash="", hash="", wall=wall)


class Spending:
    """A meter that somebody else moves."""

    def __init__(self) -> None:
        self.now = Meter()

    def pay(self, calls: int, usd: str) -> None:
        self.now += Meter(calls=calls, input_tokens=10, output_tokens=5, cost_usd=Decimal(usd))


def test_time_calls_and_dollars_belong_to_the_action_that_ran() -> None:
    spending, meter = Spending(), StageMeter()
    meter.watch(lambda: spending.now)

    for action, usd, duration_ms in (
        (Action.RUN_TESTS, "0", 1500),
        (Action.ANALYZE_FAILURE, "0.25", 250),
        (Action.RUN_TESTS, "0", 500),
        (Action.ANALYZE_FAILURE, "0.5", 250),
    ):
        meter(started(action))
        if usd != "0":
            spending.pay(2, usd)
        meter(ended(duration_ms))

    assert meter.stages() == (
        Stage(name="run_tests", runs=2, duration_s=2.0),
        Stage(
            name="analyze_failure",
            runs=2,
            duration_s=0.5,
            calls=4,
            input_tokens=20,
            output_tokens=10,
            cost_usd=0.75,
        ),
    )


def test_what_was_paid_in_an_action_that_was_broken_off_is_counted() -> None:
    spending, meter = Spending(), StageMeter()
    meter.watch(lambda: spending.now)

    meter(started(Action.GENERATE_PATCH))
    spending.pay(1, "0.125")

    assert meter.stages() == meter.stages()
    assert [(stage.name, stage.cost_usd) for stage in meter.stages()] == [("generate_patch", 0.125)]
