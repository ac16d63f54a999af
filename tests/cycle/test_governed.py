"""The cycle's actions as tools: one registration, the built-in policy, and the same results as without it."""

import errno
from collections.abc import Mapping
from typing import Any

import pytest

from cogworks.codegen.governed import (
    POLICY,
    PROFILE,
    REPAIR_EFFECTS,
    GovernedActions,
    coding_policy,
    register_actions,
)
from cogworks.cycle.context import CycleContext, Task
from cogworks.cycle.executor import DeadlinePassed, Handler
from cogworks.cycle.results import TERMINAL, Action, ActionResult, Outcome, Payload, failed
from cogworks.errors import BudgetReached, ConfigurationError, MachineUnfit
from cogworks.tools.policy import Enforcer, Policy
from cogworks.tools.records import Identity, Redactor, Trail, comparable
from cogworks.tools.registry import ToolRegistry
from tests.cycle.scripted import DONE, LONG_REPAIR, Script, cycle
from tests.tools.tooling import Handler as ToolHandler

CONTEXT = CycleContext(task=Task(goal="g"))
PATCH = {"candidate": "1", "change": {"diff": "x"}}


def a_trail() -> Trail:
    return Trail(Identity(run_id="v"), now=lambda: 0.0, redactor=Redactor(), keep=lambda record: None)


def actions(handlers: Mapping[Action, Handler], **given: Any) -> GovernedActions:
    return GovernedActions(handlers, **{"tree": lambda: "t", **given})


def governed(
    handler: Handler, action: Action = Action.LINT, *, policy: Policy = POLICY
) -> tuple[Handler, Trail]:
    trail = a_trail()
    return actions({action: handler}, policy=policy, trail=trail).handlers()[action], trail


def ending(end: ActionResult | BaseException) -> Handler:
    def handler(payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        if isinstance(end, BaseException):
            raise end
        return end

    return handler


def carried_out(
    end: ActionResult | BaseException, action: Action = Action.LINT, **payload: Any
) -> ActionResult:
    handler, _ = governed(ending(end), action)
    return handler(Payload(action=action, goal="g", **payload), CONTEXT, 1_000)


EFFECTS = {
    "WRITE_TESTS": "external", "RUN_TESTS": "read", "RUN_FOCUSED_TESTS": "read", "ANALYZE_FAILURE": "read",
    "ANALYZE_TRACEBACK": "read", "INSPECT_FILES": "read", "GENERATE_PATCH": "external", "APPLY_PATCH": "write",
    "REVERT_PATCH": "write", "VALIDATE": "read", "LINT": "read", "BUILD": "write",
}  # fmt: skip


def test_every_action_but_the_ends_and_idling_is_a_tool_that_the_policy_allows() -> None:
    registry = ToolRegistry()
    actions = set(Action) - TERMINAL - {Action.IDLE}

    register_actions(registry, {action: ToolHandler() for action in actions})

    tools = list(registry.sandbox(PROFILE))
    assert {tool.name: tool.effects for tool in tools} == EFFECTS
    assert [Enforcer([POLICY]).call_denial(tool, PATCH, metadata={}) for tool in tools] == [None] * len(
        EFFECTS
    )
    # The cycle tries an action again itself; the executor never does.
    assert not any(tool.may_repeat for tool in tools)


def test_a_repair_registers_what_its_actions_do_beyond_those_of_the_node() -> None:
    registry = ToolRegistry()

    register_actions(registry, {Action(name): ToolHandler() for name in EFFECTS}, effects=REPAIR_EFFECTS)

    tools = {tool.name: tool.effects for tool in registry.sandbox(PROFILE)}
    assert tools == {**EFFECTS, "ANALYZE_FAILURE": "external"}


def test_a_governed_run_decides_and_logs_as_one_without_governance() -> None:
    plain, script = Script(LONG_REPAIR), Script(LONG_REPAIR)
    task = {"has_validators": True}
    trail = a_trail()
    wrapped = actions(script.handlers(), policy=POLICY, trail=trail)
    with_it = cycle(script, task=task, handlers=wrapped.handlers())
    without = cycle(plain, task=task)

    with_it.run_until_done()
    without.run_until_done()

    assert [event.hash for event in with_it.events] == [event.hash for event in without.events]
    assert script.payloads == plain.payloads
    started = [record.tool for record in trail.records if record.event == "step_started"]
    assert started == [payload.action.value for payload in script.payloads]


def test_two_governed_runs_have_the_same_audit() -> None:
    audits = []
    for _ in range(2):
        trail = a_trail()
        handlers = actions(Script(LONG_REPAIR).handlers(), policy=POLICY, trail=trail).handlers()
        cycle(LONG_REPAIR, task={"has_validators": True}, handlers=handlers).run_until_done()
        audits.append([comparable(record) for record in trail.records])

    assert audits[0] == audits[1]


@pytest.mark.parametrize(
    ("end", "result"),
    [
        (DONE, DONE),
        (failed("service_failed", "no"), failed("service_failed", "no")),
        (KeyError("token ghp_secret"), failed("handler_error", "LINT raised KeyError")),
        (DeadlinePassed(), failed("timeout", "LINT took more than 1000 ms")),
        (DeadlinePassed("too slow"), failed("timeout", "too slow")),
    ],
    ids=["done", "failed", "exception", "deadline", "deadline-with-a-word"],
)
def test_what_comes_of_an_action_is_what_came_of_its_handler(
    end: ActionResult | BaseException, result: ActionResult
) -> None:
    assert carried_out(end) == result


def test_a_decision_about_the_whole_visit_is_passed_on() -> None:
    handler, trail = governed(ending(BudgetReached("no money")))

    with pytest.raises(BudgetReached):
        handler(Payload(action=Action.LINT, goal="g"), CONTEXT, 1_000)

    assert trail.records[-1].code == "interrupted"


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({}, "$: 'candidate' is wanted and missing"),
        ({"candidate": 1, "change": {}}, "$.candidate: wanted string"),
    ],
    ids=["missing", "wrong"],
)
def test_parameters_that_do_not_fit_are_a_structured_refusal(
    parameters: dict[str, Any], problem: str
) -> None:
    result = carried_out(DONE, Action.APPLY_PATCH, parameters=parameters)

    assert (result.outcome, result.error_code) == (Outcome.ERROR, "input_validation_failed")
    assert problem in result.summary
    assert result.halt == result.summary


def test_a_handler_cannot_change_what_was_decided() -> None:
    def vandal(payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        payload.parameters["change"]["diff"] = "forged"
        return ActionResult(outcome=Outcome.COMMITTED, tree="t")

    handler, trail = governed(vandal, Action.APPLY_PATCH)
    payload = Payload(action=Action.APPLY_PATCH, goal="g", parameters=PATCH)

    assert handler(payload, CONTEXT, 1_000).outcome is Outcome.COMMITTED
    assert payload.parameters == PATCH
    assert trail.records[0].input_redacted == PATCH


def test_the_shorter_time_limit_reaches_the_handler() -> None:
    seen: list[int] = []

    def looking(payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        seen.append(deadline_ms)
        return DONE

    tight = coding_policy({"policies/coding.toml": 'profile = "coding"\n[tools.LINT]\ntimeout_s = 0.5'})
    for policy in (POLICY, tight):
        governed(looking, policy=policy)[0](Payload(action=Action.LINT, goal="g"), CONTEXT, 1_000)

    assert seen == [1_000, 500]


def test_a_repository_that_forbids_an_action_ends_the_run_with_the_reason() -> None:
    policy = coding_policy({"policies/coding.toml": 'profile = "coding"\n[tools.RUN_TESTS]'})
    script = Script(LONG_REPAIR)
    handlers = actions(script.handlers(), policy=policy, trail=a_trail()).handlers()

    run = cycle(script, handlers=handlers)
    result = run.run_until_done()

    assert not result.success
    assert "profile 'coding' does not allow tool 'ANALYZE_FAILURE'; it allows RUN_TESTS." in result.error
    assert script.actions == [Action.RUN_TESTS]


def test_a_repository_limits_the_number_of_actions() -> None:
    policy = coding_policy({"policies/coding.toml": 'profile = "coding"\nmax_cost = 2'})
    script = Script(LONG_REPAIR)
    handlers = actions(script.handlers(), policy=policy, trail=a_trail()).handlers()

    result = cycle(script, handlers=handlers).run_until_done()

    assert "the call costs 1 and 0 of 2 is left" in result.error
    assert len(script.actions) == 2


WANTS_A_PERSON = coding_policy({"policies/coding.toml": 'profile = "coding"\napproval_for = ["write"]'})
APPLY = Payload(action=Action.APPLY_PATCH, goal="g", parameters=PATCH)


def applied(payload: Payload = APPLY, *, tree: str = "t", approved: str = "") -> tuple[ActionResult, str]:
    """What comes of one patch, and the hash that a person is asked about."""
    done = ActionResult(outcome=Outcome.COMMITTED, tree="new")
    given = {"tree": lambda: tree, "approved": frozenset({approved})}
    wrapped = actions({Action.APPLY_PATCH: ending(done)}, policy=WANTS_A_PERSON, trail=a_trail(), **given)
    result = wrapped.handlers()[Action.APPLY_PATCH](payload, CONTEXT, 1_000)
    return result, wrapped.waiting_for.hash if wrapped.waiting_for else ""


def test_a_repository_that_wants_a_person_ends_the_run_and_says_so() -> None:
    result, asked = applied()

    assert (result.error_code, len(asked)) == ("approval_required", 12)
    assert result.halt == "APPLY_PATCH: the policy `coding` wants a person to approve it"


def test_an_approved_call_is_made_without_asking() -> None:
    _, asked = applied()

    result, again = applied(approved=asked)

    assert (result.outcome, again) == (Outcome.COMMITTED, "")


@pytest.mark.parametrize(
    ("changes", "tree"),
    [({"parameters": {**PATCH, "change": {"diff": "y"}}}, "t"), ({}, "another")],
    ids=["another-input", "another-tree"],
)
def test_an_approval_of_something_else_asks_anew(changes: dict[str, Any], tree: str) -> None:
    _, asked = applied()

    result, again = applied(APPLY.model_copy(update=changes), tree=tree, approved=asked)

    assert result.error_code == "approval_required"
    assert again not in ("", asked)


def test_the_tree_of_a_call_is_the_one_it_finds() -> None:
    _, first = applied()
    trees = iter(("t", "after the first"))
    done = ActionResult(outcome=Outcome.COMMITTED, tree="new")
    wrapped = actions(
        {Action.APPLY_PATCH: ending(done)},
        policy=WANTS_A_PERSON,
        trail=a_trail(),
        tree=lambda: next(trees),
        approved=frozenset({first}),
    )
    apply = wrapped.handlers()[Action.APPLY_PATCH]

    results = [apply(APPLY, CONTEXT, 1_000).outcome for _ in range(2)]

    assert results == [Outcome.COMMITTED, Outcome.ERROR]
    assert wrapped.waiting_for is not None


def test_a_repository_cannot_loosen_the_built_in_policy() -> None:
    with pytest.raises(ConfigurationError, match=r"`tools.DEPLOY` is no tool of the built-in policy"):
        coding_policy({"policies/coding.toml": 'profile = "coding"\n[tools.DEPLOY]'})
    assert coding_policy({}) == POLICY


def test_a_full_disk_ends_the_visit_for_no_other_choice_finds_room() -> None:
    with pytest.raises(MachineUnfit, match=r"src/a\.py cannot be written: its disk is full"):
        carried_out(OSError(errno.ENOSPC, "No space left on device", "src/a.py"))
