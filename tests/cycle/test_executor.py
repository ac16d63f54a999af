"""One action at a time; whatever breaks in it is a result."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cogworks.cycle.context import CycleContext, Task
from cogworks.cycle.executor import DeadlinePassed, Executor, ExecutorBusy
from cogworks.cycle.results import (
    MAX_LISTED,
    MAX_OUTPUT_CHARS,
    Action,
    ActionResult,
    Outcome,
    Payload,
    TestFacts,
    failed,
)
from cogworks.errors import BudgetReached
from tests.cycle.scripted import DONE, FOUND, ran
from tests.limits import ENDS_WITHIN_S, Started

CONTEXT = CycleContext(task=Task(goal="g"))


def payload(action: Action = Action.LINT) -> Payload:
    return Payload(action=action, goal="g")


def executed(result: ActionResult | Exception, action: Action = Action.LINT) -> ActionResult:
    def handler(given: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        if isinstance(result, Exception):
            raise result
        return result

    return Executor({action: handler}).execute(payload(action), CONTEXT, deadline_ms=1000)


def test_an_action_inside_an_action_is_refused() -> None:
    executors: list[Executor] = []

    def nested(given: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        assert executors[0].is_busy
        with pytest.raises(ExecutorBusy, match="Cannot execute LINT while another action is running"):
            executors[0].execute(given, context, deadline_ms=deadline_ms)
        return DONE

    executors.append(Executor({Action.LINT: nested}))

    assert not executors[0].is_busy
    assert executors[0].execute(payload(), CONTEXT, deadline_ms=1000) == DONE
    assert not executors[0].is_busy


def test_an_action_of_another_thread_is_refused() -> None:
    began, go_on = threading.Event(), threading.Event()

    def slow(given: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        began.set()
        assert go_on.wait(10)
        return DONE

    executor = Executor({Action.LINT: slow})
    thread = threading.Thread(target=executor.execute, args=(payload(), CONTEXT), kwargs={"deadline_ms": 9})
    thread.start()
    assert began.wait(10)
    with pytest.raises(ExecutorBusy):
        executor.execute(payload(), CONTEXT, deadline_ms=1000)
    go_on.set()
    thread.join(timeout=ENDS_WITHIN_S)


def test_what_a_handler_raises_is_a_result_without_its_text() -> None:
    assert executed(KeyError("token ghp_secret")) == failed("handler_error", "LINT raised KeyError")


def test_a_decision_about_the_whole_visit_is_passed_on() -> None:
    with pytest.raises(BudgetReached):
        executed(BudgetReached("no money"))


def test_an_action_that_nobody_knows_is_a_failure() -> None:
    result = Executor({}).execute(payload(Action.BUILD), CONTEXT, deadline_ms=1000)

    assert result == failed("unknown_action", "BUILD: nobody carries it out")


@pytest.mark.parametrize("action", [Action.FINALIZE, Action.ABORT, Action.IDLE])
def test_an_end_needs_nobody_to_carry_it_out(action: Action) -> None:
    assert Executor({}).execute(payload(action), CONTEXT, deadline_ms=1000) == DONE


def test_a_handler_that_ran_out_of_time_is_a_failure() -> None:
    assert executed(DeadlinePassed()) == failed("timeout", "LINT took more than 1000 ms")


def test_a_command_past_its_deadline_is_ended_with_its_children() -> None:
    """A handler as a tool writes it: the command has a process group of its own."""
    script = "import subprocess, sys, time; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); time.sleep(60)"
    children: list[int] = []

    def handler(given: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        with Started(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            assert process.stdout is not None
            children.append(int(process.stdout.readline()))
            try:
                process.wait(deadline_ms / 1000)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise DeadlinePassed from None
        return DONE

    result = Executor({Action.LINT: handler}).execute(payload(), CONTEXT, deadline_ms=50)

    assert result.error_code == "timeout"
    for _ in range(100):
        if not is_running(children[0]):
            break
        time.sleep(0.05)
    assert not is_running(children[0])


def is_running(pid: int) -> bool:
    """A killed child whose new parent has not noticed yet is a zombie, and runs no more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("action", "result", "problem"),
    [
        (Action.LINT, FOUND, "LINT: cannot end as 'found'"),
        (Action.RUN_TESTS, ActionResult(outcome=Outcome.PASSED), "says it passed, and its facts do not"),
        (
            Action.RUN_TESTS,
            ran(exit_status=5, collected=0, passed=0).model_copy(update={"outcome": Outcome.PASSED}),
            "says it passed, and its facts do not",
        ),
        (Action.ANALYZE_FAILURE, ActionResult(outcome=Outcome.FOUND), "names none"),
        (Action.GENERATE_PATCH, ActionResult(outcome=Outcome.PROPOSED), "holds none"),
        (Action.APPLY_PATCH, ActionResult(outcome=Outcome.COMMITTED), "does not say what the tree is now"),
    ],
    ids=["outcome", "no-facts", "nothing-collected", "landmarks", "candidates", "tree"],
)
def test_a_result_that_makes_no_sense_is_a_failure(
    action: Action, result: ActionResult, problem: str
) -> None:
    found = executed(result, action)

    assert (found.outcome, found.error_code) == (Outcome.ERROR, "bad_result")
    assert problem in found.summary


@pytest.mark.parametrize(
    ("facts", "outcome"),
    [
        (TestFacts(exit_status=0, collected=5, passed=5), Outcome.PASSED),
        (TestFacts(exit_status=5, collected=0, passed=0), Outcome.FAILED),
        (TestFacts(exit_status=1, collected=5, passed=4, failed=1, failing=("a",)), Outcome.FAILED),
        (TestFacts(exit_status=0, collected=5, passed=5, errors=2), Outcome.FAILED),
        (TestFacts(exit_status=2, collected=5, passed=5, collection_errors=("x.py",)), Outcome.UNCOLLECTED),
        (TestFacts(exit_status=1, collected=1, passed=0, failing=("a",), newly_failing=("a",)), Outcome.REGRESSED),
    ],
    ids=["passed", "none-collected", "failed", "errors", "not-collected", "regressed"],
)  # fmt: skip
def test_how_a_run_of_the_tests_is_judged(facts: TestFacts, outcome: Outcome) -> None:
    assert facts.outcome is outcome


def test_long_results_are_cut_and_cutting_again_changes_nothing() -> None:
    many = tuple(f"t.py::{number}" for number in range(500))
    long = ran(*many).model_copy(update={"output": "x" * 50_000 + "END", "files": many})

    once = executed(long, Action.RUN_TESTS)

    assert len(once.output) == MAX_OUTPUT_CHARS
    assert once.output.endswith("END")
    assert once.tests is not None
    assert (len(once.tests.failing), once.tests.failed, len(once.files)) == (MAX_LISTED, 500, MAX_LISTED)
    assert executed(once, Action.RUN_TESTS) == once


def test_a_result_too_large_for_any_log_is_a_failure() -> None:
    assert executed(DONE.model_copy(update={"summary": "x" * 2_000_000})).error_code == "result_too_large"
