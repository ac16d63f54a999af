"""A coding visit keeps the audit of its calls in the ledger, and obeys the repository's policy."""

from cogworks.codegen.governed import AUDIT_FILE, coding_policy
from cogworks.nodes.code_generation import run
from cogworks.nodes.contract import Failed, Succeeded
from cogworks.nodes.task import Conventions
from cogworks.tools.records import is_closed, read_records
from tests.nodes.examples import change, ports
from tests.nodes.test_code_generation import the_task


def test_every_action_of_a_visit_is_on_record() -> None:
    world = ports(change())

    assert isinstance(run(the_task(), world), Succeeded)

    records = read_records(world.kept[AUDIT_FILE])
    assert [record.tool for record in records if record.event == "step_started"] == [
        "RUN_TESTS", "GENERATE_PATCH", "APPLY_PATCH", "RUN_TESTS", "VALIDATE",
    ]  # fmt: skip
    assert is_closed(records)
    assert {(record.node, record.sub_item) for record in records} == {("code_generation", "A")}


def test_a_policy_that_forbids_transactions_fails_the_visit_with_the_reason() -> None:
    policy = coding_policy({"policies/coding.toml": 'profile = "coding"\neffects = ["read", "external"]'})
    world = ports(change())

    outcome = run(the_task(conventions=Conventions(coding_policy=policy, test_writer="none")), world)

    assert isinstance(outcome, Failed)
    assert (
        "tool 'APPLY_PATCH' has the effect `write`; profile 'coding' allows read, external." in outcome.reason
    )
    denied = [record for record in read_records(world.kept[AUDIT_FILE]) if record.event == "step_denied"]
    assert [record.code for record in denied] == ["effect_not_allowed"]
    assert world.copy.commits == []
