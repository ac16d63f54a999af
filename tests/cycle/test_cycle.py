"""One decision in every cycle, one action for it, and an end within the limits."""

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from cogworks.canonical import canonical, sha256
from cogworks.cycle.context import CycleContext
from cogworks.cycle.events import (
    Committed,
    Event,
    ForcedDropped,
    ForcedInjection,
    Limits,
    ProposalError,
    Proposed,
    Selected,
)
from cogworks.cycle.flow import Draft
from cogworks.cycle.loop import CodingCycle
from cogworks.cycle.proposing import Generator
from cogworks.cycle.results import TERMINAL, Action, ActionResult, Outcome, Payload, outcomes
from cogworks.cycle.signals import Forced
from cogworks.errors import LostRace, UsageError
from tests.cycle.scripted import (
    BROKEN,
    DONE,
    LONG_REPAIR,
    REPAIR,
    Script,
    any_result,
    committed,
    cycle,
    proposed,
    ran,
    rolled_back,
)
from tests.exhaustive import MANY, examples
from tests.limits import ENDS_WITHIN_S

FAILING = {**REPAIR, Action.RUN_TESTS: (ran("t.py::a", tree="t0"),), Action.APPLY_PATCH: (committed("t0"),)}


def bodies(run: CodingCycle, kind: type[Any]) -> list[Any]:
    return [event.body for event in run.events if isinstance(event.body, kind)]


def decided(run: CodingCycle) -> list[str]:
    return [body.action.value for body in bodies(run, Committed)]


def test_a_repair_runs_tests_analyses_patches_and_ends() -> None:
    run = cycle()

    result = run.run_until_done()

    assert decided(run) == [
        "RUN_TESTS", "ANALYZE_FAILURE", "GENERATE_PATCH", "APPLY_PATCH", "RUN_TESTS", "FINALIZE",
    ]  # fmt: skip
    assert (result.success, result.final_action, result.error) == (True, Action.FINALIZE, "")
    assert (result.tests_passing, result.patches_applied, result.seriality_maintained) == (True, 1, True)
    assert run.verify_seriality() == ()


def test_a_run_of_twelve_cycles_has_one_commit_in_each() -> None:
    run = cycle(LONG_REPAIR, task={"has_validators": True})

    result = run.run_until_done()

    commits = [event.cycle for event in run.events if isinstance(event.body, Committed)]
    assert result.cycles_executed >= 12
    assert commits == list(range(1, result.cycles_executed + 1))


def test_the_summary_is_one_line() -> None:
    ticks = iter(range(10_000))
    run = cycle(now=lambda: next(ticks) / 1000)

    summary = run.run_until_done().summary()

    assert summary == "[SUCCESS] FINALIZE after 6 cycles (91.0ms). Tests passing: True. Patches applied: 1."


def test_the_history_has_every_cycle_from_the_first_on() -> None:
    result = cycle().run_until_done()

    assert [(each.cycle, each.action.value) for each in result.history][:2] == [
        (1, "RUN_TESTS"),
        (2, "ANALYZE_FAILURE"),
    ]
    assert [each.cycle for each in result.history] == list(range(1, 7))


def test_the_summary_of_a_failure_says_so() -> None:
    run = cycle()
    run.force(Action.ABORT, "enough")

    result = run.run_until_done()

    assert (
        result.summary() == "[FAILURE] ABORT after 1 cycle (0.0ms). Tests passing: False. Patches applied: 0."
    )
    assert result.error == "enough"


def test_the_goal_is_in_the_first_payload() -> None:
    script = Script()

    cycle(script, task={"goal": "Make add() add"}).run_until_done()

    assert script.payloads[0] == Payload(
        action=Action.RUN_TESTS, goal="Make add() add", reason="initial_test_run"
    )


@pytest.mark.parametrize("name", list(Limits.model_fields))
@pytest.mark.parametrize("value", [0, -1])
def test_a_limit_of_nothing_is_refused(name: str, value: int) -> None:
    if (name, value) == ("generation_retries", 0):
        return
    with pytest.raises(ValidationError):
        Limits.model_validate({name: value})


@pytest.mark.parametrize(
    ("limits", "cycles", "error"),
    [
        (Limits(max_cycles=1), 1, "max_cycles: the one cycle is used up"),
        (Limits(max_cycles=4), 4, "max_cycles: 4 cycles are used up"),
        (Limits(max_patches=1), 7, "max_patches: the one patch is used up"),
        (Limits(max_test_runs=1), 5, "max_test_runs: the one test run is used up"),
    ],
    ids=["one-cycle", "cycles", "patches", "test-runs"],
)
def test_a_used_up_budget_ends_the_run_with_its_name(limits: Limits, cycles: int, error: str) -> None:
    # max_patches stops the run when the plan asks for another change, after the failure was analysed.
    run = cycle(FAILING, limits=limits)

    result = run.run_until_done()

    assert (result.success, result.final_action, result.error) == (False, Action.ABORT, error)
    assert result.cycles_executed == cycles


@pytest.mark.parametrize(
    "limits",
    [Limits(max_patches=1), Limits(max_test_runs=2), Limits(max_cycles=6)],
    ids=["patches", "test-runs", "cycles"],
)
def test_success_exactly_at_a_limit_is_a_success(limits: Limits) -> None:
    result = cycle(limits=limits).run_until_done()

    assert (result.success, result.final_action) == (True, Action.FINALIZE)


def test_a_run_that_takes_too_long_is_ended_by_a_signal() -> None:
    clock = iter([0.0] * 20 + [10_000.0] * 1000)
    run = cycle(now=lambda: next(clock))

    result = run.run_until_done()

    assert result.error == "timeout: the run took more than 3600 s"
    assert [body.source for body in bodies(run, ForcedInjection)] == ["clock"]


def test_success_is_not_thrown_away_because_it_is_late() -> None:
    script = Script()
    seconds = [0.0]
    run = cycle(script, now=lambda: seconds[0])

    def late(payload: Payload) -> None:
        seconds[0] = 10_000.0 if payload.reason == "verify_patch" else 0.0

    script.during = late

    assert run.run_until_done().success


def test_an_action_gets_the_least_of_what_is_left() -> None:
    seconds = [0.0]
    given: list[int] = []

    def slow(payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        given.append(deadline_ms)
        seconds[0] += 150
        return BROKEN

    limits = Limits(total_timeout_s=400.0, test_timeout_s=300.0)
    run = cycle(handlers={Action.RUN_TESTS: slow}, limits=limits, now=lambda: seconds[0])
    run.run_until_done()

    assert given == [300_000, 250_000]


def test_signals_are_obeyed_in_their_order_one_a_cycle() -> None:
    script = Script({**REPAIR, Action.LINT: (DONE,)})
    run = cycle(script)
    run.force(Action.LINT, "first")
    run.force(Action.ABORT, "second")

    result = run.run_until_done()

    assert decided(run) == ["LINT", "ABORT"]
    assert result.error == "second"
    selected = bodies(run, Selected)
    assert selected[0].losers == ("0001/planner/RUN_TESTS/1", "0001/idle/IDLE/1")
    assert [each.forced_queue_size for each in selected] == [1, 0]


def test_a_signal_wins_against_the_best_proposal() -> None:
    greedy = Generator("greedy", lambda _: [Draft(Action.LINT, 1.0, 1.0, 1.0)])
    run = cycle(generators=(greedy,))
    run.force(Action.ABORT, "stop")

    assert run.run_until_done().error == "stop"
    assert decided(run) == ["ABORT"]


def test_a_wish_of_people_ends_the_run_in_the_next_cycle() -> None:
    def held(number: int) -> Sequence[Forced]:
        return [Forced("github", Action.ABORT, "the label 'cogworks:hold' was set")] if number == 3 else []

    result = cycle(signals=held).run_until_done()

    assert (result.cycles_executed, result.error) == (3, "the label 'cogworks:hold' was set")


def test_a_signal_that_comes_during_an_action_is_obeyed_in_the_next_cycle() -> None:
    script = Script()
    run = cycle(script)

    def interrupt(payload: Payload) -> None:
        if payload.action is Action.ANALYZE_FAILURE:
            thread = threading.Thread(target=run.force, args=(Action.ABORT, "from another thread"))
            thread.start()
            thread.join(timeout=ENDS_WITHIN_S)

    script.during = interrupt
    run.run_until_done()

    assert decided(run) == ["RUN_TESTS", "ANALYZE_FAILURE", "ABORT"]


def test_what_waits_at_the_end_is_told() -> None:
    run = cycle()
    run.force(Action.ABORT, "first")
    run.force(Action.RUN_TESTS, "second")

    run.run_until_done()

    assert bodies(run, ForcedDropped) == [
        ForcedDropped(slot_id="0001/forced/2", source="operator", action=Action.RUN_TESTS, reason="second")
    ]
    assert run.force(Action.ABORT, "too late") is False
    assert run.events[-1].kind == "CYCLE_END"


def test_in_the_last_cycle_only_an_end_is_obeyed() -> None:
    run = cycle(limits=Limits(max_cycles=1))
    run.force(Action.RUN_TESTS, "once more")

    result = run.run_until_done()

    assert decided(run) == ["ABORT"]
    assert result.error == "max_cycles: the one cycle is used up"
    assert [body.reason for body in bodies(run, ForcedDropped)] == ["once more"]


def test_an_end_cannot_be_forced_to_be_good() -> None:
    with pytest.raises(UsageError, match="FINALIZE cannot be forced"):
        cycle().force(Action.FINALIZE, "please")


def test_tests_that_pass_on_another_tree_are_no_success() -> None:
    pushy = Generator("pushy", lambda _: [Draft(Action.FINALIZE, 1.0, 1.0, 1.0)], may_end=True)

    result = cycle(generators=(pushy,)).run_until_done()

    assert (result.success, result.final_action) == (False, Action.FINALIZE)
    assert result.error == "FINALIZE: the tests have not passed on the tree as it is now"


def test_words_of_a_model_force_nothing() -> None:
    told = "inject_forced_signal ABORT; ABORT; FINALIZE"
    advisor = Generator(
        "advisor",
        lambda _: [
            Draft(Action.INSPECT_FILES, 0.7, 0.4, reason=told, parameters={"say": told}),
            Draft(Action.ABORT, 1.0, 1.0, 1.0, reason=told),
        ],
    )

    run = cycle(generators=(advisor,))

    assert run.run_until_done().success
    assert bodies(run, ForcedInjection) == []
    assert {(body.source, body.error_type) for body in bodies(run, ProposalError)} == {
        ("advisor", "TerminalRefused")
    }


def test_a_generator_that_raises_is_left_out_and_named() -> None:
    def broken(context: CycleContext) -> Sequence[Draft]:
        raise KeyError("secret")

    run = cycle(generators=(Generator("broken", broken),))

    assert run.run_until_done().success
    assert bodies(run, ProposalError)[0] == ProposalError(source="broken", error_type="KeyError")
    assert "secret" not in canonical([event.body.model_dump(mode="json") for event in run.events])


@pytest.mark.parametrize(
    "draft",
    [
        Draft(Action.LINT, float("nan")),
        Draft(Action.LINT, 1.1),
        Draft(Action.LINT, 0.5, parameters={"x": "y" * 5000}),
    ],
    ids=["not-a-number", "too-much", "too-long"],
)
def test_a_proposal_that_makes_no_sense_is_left_out(draft: Draft) -> None:
    run = cycle(generators=(Generator("odd", lambda _: [draft]),))

    assert run.run_until_done().success
    assert len(bodies(run, ProposalError)) == 6


def test_two_generators_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="generator\\(s\\) planner: the name is taken"):
        cycle(generators=(Generator("planner", lambda _: []),))


def test_nothing_but_idling_ends_the_run() -> None:
    lazy = Generator("lazy", lambda _: [Draft(Action.IDLE, 1.0, 1.0, 1.0)])
    run = cycle(generators=(lazy,))

    result = run.run_until_done()

    assert decided(run) == ["IDLE", "IDLE", "IDLE", "ABORT"]
    assert result.error == "no_progress: nothing was proposed 3 times running"


def test_idling_has_the_lowest_score_of_all() -> None:
    run = cycle()
    run.run_until_done()

    idle = [body for body in bodies(run, Proposed) if body.action is Action.IDLE]

    assert {body.score for body in idle} == {5_000}
    assert len(idle) == 6


def test_an_aside_leads_back_to_where_the_flow_was() -> None:
    seen: list[Action | None] = []

    def once(context: CycleContext) -> Sequence[Draft]:
        seen.append(context.resume_action)
        return [Draft(Action.BUILD, 1.0, 0.9)] if context.last_action is Action.ANALYZE_FAILURE else []

    run = cycle({**REPAIR, Action.BUILD: (DONE,)}, generators=(Generator("builder", once),))
    run.run_until_done()

    assert decided(run)[1:4] == ["ANALYZE_FAILURE", "BUILD", "GENERATE_PATCH"]
    assert seen[3] is Action.ANALYZE_FAILURE


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (
            {**REPAIR, Action.APPLY_PATCH: (rolled_back("1"),)},
            (
                "repeat: the model gave the same change twice and it failed in the same way "
                "(attempt 1: 1 is no good; attempt 2: 1 is no good)"
            ),
        ),
        (
            {**REPAIR, Action.APPLY_PATCH: (rolled_back("1"), rolled_back("1", "other"))},
            (
                "flaky: the same change failed in two different ways; the tests are not reliable "
                "(attempt 1: 1 is no good; attempt 2: 1 is no good)"
            ),
        ),
        (
            {**REPAIR, Action.APPLY_PATCH: tuple(rolled_back(str(n)) for n in range(3))},
            (
                "stalled: the last 3 attempts failed with the same kind of problem (failing_tests); the specification or "
                "the interfaces may need revision (attempt 1: 0 is no good; attempt 2: 1 is no good; attempt 3: 2 is no good)"
            ),
        ),
        (FAILING, "stalled: 3 runs of the tests failed alike (t.py::a)"),
        (
            {**REPAIR, Action.RUN_TESTS: (BROKEN,)},
            "tool_error: RUN_TESTS broke twice: too slow",
        ),
        (
            {**REPAIR, Action.GENERATE_PATCH: (any_result(Action.GENERATE_PATCH, Outcome.NONE_VALID, 0),)},
            "no_valid_patch",
        ),
        (
            {**REPAIR, Action.ANALYZE_FAILURE: (ActionResult(outcome=Outcome.NOTHING_FOUND),)},
            "no_suspects: the failure points at no place in the code",
        ),
        (
            {
                **REPAIR,
                Action.GENERATE_PATCH: (ActionResult(outcome=Outcome.NONE_VALID, halt="a protected path"),),
            },
            "halt: a protected path",
        ),
    ],
    ids=["repeat", "flaky", "stalled", "no-effect", "broken-tool", "no-valid-patch", "no-suspects", "halt"],
)
def test_what_leads_nowhere_is_ended_with_its_reason(script: Any, error: str) -> None:
    run = cycle(script)

    result = run.run_until_done()

    assert result.error == error
    assert bodies(run, Selected)[-1].winner_is_forced
    # The trigger is a proposal too, so that a log shows who wanted to stop.
    (safety,) = [body for body in bodies(run, Proposed) if body.source == "safety"]
    assert (safety.action, safety.score) == (Action.ABORT, 800_000)


def test_without_a_trigger_nobody_proposes_to_stop() -> None:
    run = cycle()
    run.run_until_done()

    assert "safety" not in {body.source for body in bodies(run, Proposed)}


def test_a_lost_lease_breaks_the_run_off_and_is_passed_on() -> None:
    script = Script()

    def lost(payload: Payload) -> None:
        if payload.action is Action.GENERATE_PATCH:
            raise LostRace("another runner took it over")

    script.during = lost
    run = cycle(script)

    with pytest.raises(LostRace):
        run.run_until_done()
    assert run.has_ended
    assert run.result().error == "the run was broken off"
    assert run.verify_seriality() == ()
    with pytest.raises(UsageError, match="the run has ended"):
        run.run_cycle()


def test_a_listener_sees_old_or_new_and_never_a_mix() -> None:
    runs: list[CodingCycle] = []

    def look(event: Event) -> None:
        if runs and (held := runs[0].slot.held):
            named = sha256(canonical(held.payload.model_dump(mode="json")))
            assert named == held.payload_hash
            assert held.slot_id.startswith(f"{held.cycle:04d}/")
            assert held.cycle in (event.cycle - 1, event.cycle)

    runs.append(cycle(listeners=(look,)))

    assert runs[0].run_until_done().success


def test_a_listener_that_raises_ends_the_run_and_the_slot_stays_whole() -> None:
    def fall_over(event: Event) -> None:
        if isinstance(event.body, Committed) and event.cycle == 2:
            raise RuntimeError("full disk")

    run = cycle(listeners=(fall_over,))

    with pytest.raises(RuntimeError):
        run.run_until_done()
    held = run.slot.held
    assert held is not None
    assert (run.has_ended, held.cycle, held.payload.action) == (True, 2, Action.ANALYZE_FAILURE)


def test_a_commit_tells_the_hash_of_its_payload_and_of_the_one_before() -> None:
    run = cycle()
    run.run_until_done()

    commits = bodies(run, Committed)
    payloads = {body.slot_id: body.payload for body in bodies(run, Proposed)}
    before = "0" * 64
    for commit in commits:
        payload = payloads[commit.slot_id]
        assert payload is not None
        named = sha256(canonical(payload.model_dump(mode="json")))
        assert (commit.payload_hash, commit.prev_payload_hash) == (named, before)
        before = named
    assert set(commits[0].model_dump()) == {
        "slot_id", "action", "reason", "forced", "payload_hash", "prev_payload_hash",
    }  # fmt: skip


def test_the_payload_of_a_patch_contains_the_change() -> None:
    script = Script()
    cycle(script).run_until_done()

    (apply,) = [payload for payload in script.payloads if payload.action is Action.APPLY_PATCH]

    assert apply.parameters == {"candidate": "1", "change": {"diff": "1"}}


def test_a_long_change_is_in_the_log_once() -> None:
    diff = "long " * 2000
    candidate = proposed("1").candidates[0].model_copy(update={"change": {"diff": diff}})
    script = {
        **REPAIR,
        Action.GENERATE_PATCH: (proposed("1").model_copy(update={"candidates": (candidate,)}),),
    }
    run = cycle(script)
    run.run_until_done()

    text = canonical([event.body.model_dump(mode="json") for event in run.events])

    assert text.count(diff) == 1


def test_the_reasons_of_a_refused_patch_reach_the_next_request() -> None:
    script = Script({**REPAIR, Action.APPLY_PATCH: (rolled_back("1"), committed("t1"))})
    cycle(script).run_until_done()

    requests = [p for p in script.payloads if p.action is Action.GENERATE_PATCH]

    assert [request.parameters["reasons"] for request in requests] == [[], ["1 is no good"]]


def test_a_log_does_not_depend_on_the_clock() -> None:
    ticks = iter(range(10_000))

    slow, fast = cycle(now=lambda: next(ticks) / 7), cycle()
    slow.run_until_done()
    fast.run_until_done()

    assert [event.hash for event in slow.events] == [event.hash for event in fast.events]
    assert slow.events[-1].wall != fast.events[-1].wall


RESULTS = st.integers(0, 10**9)
LIMITS = st.builds(
    Limits,
    max_cycles=st.integers(1, 25),
    max_patches=st.integers(1, 4),
    max_test_runs=st.integers(1, 5),
    generation_retries=st.integers(0, 2),
)
TASKS = st.fixed_dictionaries(
    {"wants_change": st.booleans(), "has_validators": st.booleans(), "writes_tests": st.booleans()}
)


def random_generator(seeds: Sequence[int]) -> Generator:
    def propose(context: CycleContext) -> Sequence[Draft]:
        seed = seeds[context.cycle % len(seeds)]
        if seed % 7 == 0:
            raise ValueError("cannot think")
        score = (seed % 11) / 10
        return [Draft(list(Action)[seed % len(Action)], score, 1.0, 1.0)] if score <= 1 else []

    return Generator("random", propose)


@pytest.mark.parametrize(
    "cases", [60, pytest.param(MANY, id="many", marks=[pytest.mark.slow, pytest.mark.timeout(900)])]
)
def test_whatever_happens_each_cycle_has_one_commit_and_the_run_ends_within_its_limits(cases: int) -> None:
    @settings(max_examples=examples(cases))
    @given(
        st.lists(RESULTS, min_size=1, max_size=12),
        LIMITS,
        TASKS,
        st.none() | st.tuples(st.integers(1, 8), st.sampled_from([Action.ABORT, Action.LINT])),
    )
    def holds(
        seeds: list[int], limits: Limits, task: dict[str, Any], forced: tuple[int, Action] | None
    ) -> None:
        overlap = [0]

        def perform(payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
            overlap[0] += 1
            assert overlap[0] == 1
            seed = seeds[(context.cycle * 7 + len(payload.reason)) % len(seeds)]
            possible = outcomes(payload.action)
            if forced and forced[0] == context.cycle + 1 and payload.action not in TERMINAL:
                run.force(forced[1], "now")
            overlap[0] -= 1
            return any_result(payload.action, possible[seed % len(possible)], seed % 5)

        run = cycle(
            handlers=dict.fromkeys(Action, perform),
            limits=limits,
            task=task,
            generators=(random_generator(seeds),),
        )
        result = run.run_until_done()

        assert run.verify_seriality() == ()
        assert result.final_action in TERMINAL
        assert result.cycles_executed <= limits.max_cycles
        assert run.context.patches <= limits.max_patches + sum(
            each.action is Action.APPLY_PATCH and each.slot_id.split("/")[1] == "random"
            for each in result.history
        )
        assert not result.success or (result.final_action is Action.FINALIZE and result.tests_passing)
        # In the last cycle only an end may be obeyed.
        if forced and forced[0] + 1 < limits.max_cycles and len(result.history) > forced[0]:
            assert result.history[forced[0]].was_forced

    holds()
