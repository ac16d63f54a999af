"""The scenarios that the decision cycle was first specified by, each with a change of the source that breaks its rule."""

from typing import NamedTuple


class Mutation(NamedTuple):
    """A small change that the named tests have to find out."""

    scenario: str
    path: str
    """Below the package."""
    old: str
    """Occurs once in the file."""
    new: str
    tests: tuple[str, ...]
    """Ids below `tests`, each of which has to fail."""


CYCLE = "cycle/test_cycle.py::"
MUTATIONS = (
    Mutation(
        "one commit a cycle",
        "cycle/slot.py",
        "if decision.cycle != wanted:",
        "if decision.cycle > wanted:",
        ("cycle/test_slot.py::test_a_second_commit_in_one_cycle_is_refused_and_the_first_stays",),
    ),
    Mutation(
        "seriality is verified",
        "cycle/monitor.py",
        'yield f"commit {len(bracket.commits) + 1} in one cycle"',
        "yield from ()",
        ("cycle/test_monitor.py::test_it_sees_a_violation_while_it_happens",),
    ),
    Mutation(
        "a signal beats the best proposal",
        "pipeline/arbiter.py",
        "    if forced:\n",
        "    if forced and not ranked:\n",
        (f"{CYCLE}test_a_signal_wins_against_the_best_proposal",),
    ),
    Mutation(
        "a forced ABORT ends the run without success",
        "cycle/loop.py",
        "success = action is Action.FINALIZE and result.is_success",
        "success = result.is_success",
        (f"{CYCLE}test_the_summary_of_a_failure_says_so",),
    ),
    Mutation(
        "a second action while one runs is refused",
        "cycle/executor.py",
        "if not self._lock.acquire(blocking=False):",
        "if not (self._lock.acquire(blocking=False) or self._lock.locked()):",
        ("cycle/test_executor.py::test_an_action_inside_an_action_is_refused",),
    ),
    Mutation(
        "busy only while an action runs",
        "cycle/executor.py",
        "return self._lock.locked()",
        "return False",
        ("cycle/test_executor.py::test_an_action_inside_an_action_is_refused",),
    ),
    Mutation(
        "every action counts",
        "cycle/loop.py",
        "cycles_executed=len(self._history)",
        "cycles_executed=self._context.cycle",
        (f"{CYCLE}test_the_summary_is_one_line",),
    ),
    Mutation(
        "one selection a cycle",
        "cycle/loop.py",
        "        self._emit(cycle, Selected.of(choice))\n",
        "        self._emit(cycle, Selected.of(choice))\n        self._emit(cycle, Selected.of(choice))\n",
        (f"{CYCLE}test_a_repair_runs_tests_analyses_patches_and_ends",),
    ),
    Mutation(
        "a commit names its slot",
        "cycle/loop.py",
        "                slot_id=slot_id,\n                action=payload.action,\n",
        '                slot_id="",\n                action=payload.action,\n',
        (f"{CYCLE}test_a_repair_runs_tests_analyses_patches_and_ends",),
    ),
    Mutation(
        "an injection names its source",
        "cycle/signals.py",
        "source=forced.source,\n                action=forced.action,",
        'source="",\n                action=forced.action,',
        (f"{CYCLE}test_a_run_that_takes_too_long_is_ended_by_a_signal",),
    ),
    Mutation(
        "the first action runs the tests",
        "cycle/flow.py",
        "return Draft(Action.RUN_TESTS, 0.9, 0.5,",
        "return Draft(Action.ANALYZE_FAILURE, 0.9, 0.5,",
        (f"{CYCLE}test_the_goal_is_in_the_first_payload",),
    ),
    Mutation(
        "passing tests end the run",
        "cycle/flow.py",
        'return Draft(Action.FINALIZE, 1.0, 0.8, reason="tests_pass")',
        'return Draft(Action.RUN_TESTS, 1.0, 0.8, reason="tests_pass")',
        (f"{CYCLE}test_a_repair_runs_tests_analyses_patches_and_ends",),
    ),
    Mutation(
        "the history begins with cycle 1",
        "cycle/loop.py",
        "            CycleSummary(\n                cycle=cycle,",
        "            CycleSummary(\n                cycle=cycle - 1,",
        (f"{CYCLE}test_the_history_has_every_cycle_from_the_first_on",),
    ),
    Mutation(
        "the same proposals have the same winner",
        "pipeline/arbiter.py",
        "ordered = sorted(proposals, key=_rank)",
        "ordered = sorted(proposals, key=lambda each: -each.score)",
        ("pipeline/test_arbiter.py::test_ties_are_broken_in_a_fixed_order",),
    ),
    Mutation(
        "safety proposes ABORT only on an alarm",
        "cycle/proposing.py",
        "for alarm in alarms(context, limits)[:1]]",
        'for alarm in (*alarms(context, limits), "")[:1]]',
        (f"{CYCLE}test_without_a_trigger_nobody_proposes_to_stop",),
    ),
    Mutation(
        "idling is always proposed",
        "cycle/proposing.py",
        'return [Draft(Action.IDLE, 0.01, reason="nothing_better")]',
        "return []",
        (f"{CYCLE}test_idling_has_the_lowest_score_of_all",),
    ),
    Mutation(
        "the plan says why it begins with the tests",
        "cycle/flow.py",
        'reason="initial_test_run"',
        'reason="retry"',
        (f"{CYCLE}test_the_goal_is_in_the_first_payload",),
    ),
    Mutation(
        "failing tests are analysed",
        "cycle/flow.py",
        'return Draft(Action.ANALYZE_FAILURE, 0.85, 0.6, reason="tests_fail")',
        'return _generate(context, "tests_fail")',
        (f"{CYCLE}test_a_repair_runs_tests_analyses_patches_and_ends",),
    ),
    Mutation(
        "the summary of a success",
        "cycle/watchdogs.py",
        'status = "SUCCESS" if self.success',
        'status = "FAILURE" if self.success',
        (f"{CYCLE}test_the_summary_is_one_line",),
    ),
    Mutation(
        "the summary of a failure",
        "cycle/watchdogs.py",
        'else "FAILURE"',
        'else "SUCCESS"',
        (f"{CYCLE}test_the_summary_of_a_failure_says_so",),
    ),
    Mutation(
        "a payload comes back as it was",
        "cycle/results.py",
        "parameters: dict[str, Any] = Field(default_factory=dict)",
        "parameters: dict[str, Any] = Field(default_factory=dict, exclude=True)",
        ("cycle/test_eventlog.py::test_a_log_reads_back_as_it_was_written",),
    ),
    Mutation(
        "FINALIZE and ABORT are ends",
        "cycle/results.py",
        "TERMINAL = frozenset({Action.FINALIZE, Action.ABORT})",
        "TERMINAL = frozenset({Action.ABORT})",
        (f"{CYCLE}test_a_repair_runs_tests_analyses_patches_and_ends",),
    ),
)  # fmt: skip
