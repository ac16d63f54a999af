"""What a message advises is done on a real hub, and the item goes on; the table is in docs/people.md."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from cogworks.engine.visit_limits import Deadline
from cogworks.errors import BudgetReached, CogworksError, SafetyHalt
from cogworks.nodes.contract import Failed, NodePorts, NodeProcedure, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.vocabulary import NodeId
from tests.end_to_end.people import Item, new_item, open_hub
from tests.end_to_end.test_example_pipelines import (
    CUSTOM,
    DAYS,
    HOURS,
    IMPLEMENTED,
    PASSED,
    PLAN,
    SPECIFICATION,
    Stand,
    classified,
    standing,
    text_of,
    written,
)
from tests.hub.administrator import Administrator
from tests.hub.running import RunningHub
from tests.pipeline.graphs import document, pipeline
from tests.step_fakes import NODES
from tests.world import CONFIG, PIPELINE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
]  # seconds on a busy machine; usually a tenth of that

AGAIN = "Remove the label `cogworks:run` and set it again to retry what failed."


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with open_hub(tmp_path_factory.mktemp("remedies")) as running:
        yield running


@pytest.fixture
def item(hub: RunningHub) -> Item:
    return new_item(hub)


@pytest.fixture
def configured(item: Item) -> Iterator[Item]:
    """An item whose repository gets its files below `.cogworks` back."""
    yield item
    write(item, ".cogworks/config.toml", CONFIG)
    write(item, ".cogworks/pipeline.toml", tomli_w.dumps(PIPELINE))


def write(item: Item, path: str, text: str, *, branch: str = "main") -> None:
    """Commit a file as ann."""
    told = item.ask("GET", f"contents/{path}?ref={branch}")
    if base64.b64decode(told["content"]).decode() != text:
        content = base64.b64encode(text.encode()).decode()
        item.ask("PUT", f"contents/{path}", message="x", content=content, sha=told["sha"], branch=branch)


def set_again(item: Item) -> None:
    item.ask("DELETE", f"issues/{item.address.number}/labels/cogworks:run")
    item.label("cogworks:run")


def later(hub: RunningHub) -> None:
    """Times have a grain of a second, and what was edited has to be older than the answer to it."""
    with Administrator(hub.url, hub.directory) as administrator:
        administrator.advance(2)


def failing_once(node: str, reason: str, told: list[str]) -> dict[NodeId, NodeProcedure]:
    """Nodes of which one fails for this reason the first time; it notes what it was told."""

    def procedure(task: NodeTask, ports: NodePorts) -> Outcome:
        edited = task.sub_item.edited if task.sub_item else None
        told.append(edited.body if edited else task.item.body)
        return (
            Failed(reason=reason, category="escalated")
            if len(told) == 1
            else NODES[NodeId(node)](task, ports)
        )

    return {**NODES, NodeId(node): procedure}


def test_removing_the_trigger_label_and_setting_it_again_retries_what_failed(item: Item) -> None:
    item.nodes = failing_once("spec", "no", [])
    failed = item.step()
    advice = item.comments()[0]
    set_again(item)

    assert AGAIN in advice
    assert (failed.outcome, item.step().node) == ("failed", "spec")


def test_an_issue_that_is_answered_in_its_body_is_read_anew(hub: RunningHub) -> None:
    """Its author may have no permission; whoever sets the label again takes the answer."""
    item, told = new_item(hub, by="eve", labels=()), list[str]()
    item.label("cogworks:run")
    item.nodes = failing_once(
        "spec", "Answer in the issue's body, then remove the trigger label and set it again.", told
    )
    item.step()
    later(hub)
    item.ask("PATCH", f"issues/{item.address.number}", by="eve", body="It should add floats.")
    later(hub)
    set_again(item)

    assert item.step().node == "spec"
    assert told == ["It should add.", "It should add floats."]


def test_a_sub_issue_that_is_made_more_precise_is_read_anew(item: Item) -> None:
    told = list[str]()
    item.nodes = failing_once("code", "Make the sub-issue more precise.", told)
    failed = item.until("code@A")
    first, _ = item.state().sub_items or ()
    item.ask("PATCH", f"issues/{first.number}", body="Do it with care.")
    set_again(item)

    assert failed.outcome == "failed"
    assert item.step().node == "code@A"
    assert told == ["It should add.", "Do it with care."]


def test_a_branch_that_is_restored_and_a_pull_request_that_is_reopened_go_on(item: Item) -> None:
    item.until("code@B")
    item.until("ship@B")
    first, second = (item.state().pull(slug) for slug in ("swi-1", "swi-2"))
    assert first is not None
    assert second is not None
    oid = item.snapshot().branches[first.head].oid
    item.ask("DELETE", f"git/refs/heads/{first.head}")
    lost = item.step()

    item.ask("POST", "git/refs", ref=f"refs/heads/{first.head}", sha=oid)
    for pull in (first, second):
        item.ask("PATCH", f"pulls/{pull.number}", state="open")

    assert f"pull request #{first.number} was closed unmerged; reopen it" in lost.message
    assert item.step().outcome == "done"


def test_a_hold_label_that_is_removed_lets_the_item_go_on(item: Item) -> None:
    item.merge(item.step())
    item.ask("POST", "labels", name="cogworks:hold", color="d93f0b")
    item.label("cogworks:hold")
    held = item.step()
    item.ask("DELETE", f"issues/{item.address.number}/labels/cogworks:hold")

    assert held.message.startswith("remove the hold label when the item may go on")
    assert item.step().node == "plan"


OTHER = document([{"id": "plan", "type": "llm", "outputs": ["plan"]}])


@pytest.mark.parametrize(
    ("remedy", "node"),
    [
        (lambda item: write(item, ".cogworks/pipeline.toml", tomli_w.dumps(PIPELINE)), "plan"),
        (lambda item: item.say("/cogworks restart"), "plan"),
    ],
    ids=["restored", "restarted"],
)
def test_a_changed_pipeline_is_restored_or_the_item_restarted(
    configured: Item, remedy: Callable[[Item], object], node: str
) -> None:
    configured.merge(configured.step())
    write(configured, ".cogworks/pipeline.toml", tomli_w.dumps(OTHER))
    stopped = configured.step()
    remedy(configured)

    assert "Restore `.cogworks/pipeline.toml`, or comment `/cogworks restart`" in stopped.message
    assert configured.step().node == node


def test_a_raised_time_limit_and_a_retry_go_on_with_the_same_run(configured: Item) -> None:
    graph = pipeline([{"id": "spec", "type": "llm"}], default_timeout_seconds=60)
    reason = Deadline(graph, graph.nodes[0], monotonic=lambda: 0.0).reason()
    configured.nodes = failing_once("spec", reason, [])
    failed = configured.step()
    raised: dict[str, Any] = dict(PIPELINE["pipelines"]["default"])
    raised["settings"] = {**raised.get("settings", {}), "default_timeout_seconds": 3_600}
    write(
        configured, ".cogworks/pipeline.toml", tomli_w.dumps({**PIPELINE, "pipelines": {"default": raised}})
    )
    configured.say("/cogworks retry")

    assert "Raise `default_timeout_seconds` in the pipeline" in failed.message
    assert configured.step().node == "spec"
    assert configured.state().run_number == 1


@pytest.mark.parametrize("by_command", [False, True], ids=["raised", "retried"])
def test_a_raised_budget_or_a_retry_goes_on_with_the_visit(configured: Item, *, by_command: bool) -> None:
    def dear(task: NodeTask, ports: NodePorts) -> Outcome:
        raise BudgetReached("budget: this call needs up to 0.25", needs_usd=0.25, needs_tokens=1_000)

    configured.merge(configured.step())
    write(configured, ".cogworks/config.toml", f"{CONFIG}[budgets]\npipeline_max_cost_dollars = 0.3\n")
    configured.nodes = {**NODES, NodeId("plan"): dear}
    with pytest.raises(
        BudgetReached, match=r"raise `budgets\.pipeline_max_cost_dollars` .*, or comment `/cogworks retry`"
    ):
        configured.step()
    configured.nodes = NODES
    if by_command:
        configured.say("/cogworks retry")
    else:
        write(configured, ".cogworks/config.toml", f"{CONFIG}[budgets]\npipeline_max_cost_dollars = 3.0\n")

    assert configured.step().node == "plan"


def test_a_ledger_that_is_gone_is_restored_from_a_clone(item: Item) -> None:
    item.merge(item.step())
    branch, oid = ledger_of(item)
    item.ask("DELETE", f"git/refs/heads/{branch}")
    with pytest.raises(SafetyHalt, match="Restore the branch from a clone"):
        item.step()

    item.ask("POST", "git/refs", ref=f"refs/heads/{branch}", sha=oid)

    assert item.step().node == "plan"


def test_a_ledger_that_is_gone_for_good_gives_way_to_a_new_run_once_its_comment_is_deleted(
    item: Item,
) -> None:
    item.step()
    branch, _ = ledger_of(item)
    status = item.state().status_comment
    item.ask("DELETE", f"git/refs/heads/{branch}")
    with pytest.raises(SafetyHalt, match="Or delete that comment to begin anew"):
        item.step()

    assert status is not None
    item.ask("DELETE", f"issues/comments/{status.database_id}")

    assert item.step().node == "spec"


@pytest.mark.parametrize("is_pushed", [True, False], ids=["pushed-again", "comment-deleted"])
def test_a_ledger_that_was_set_back_is_pushed_again_or_gone_on_with(item: Item, *, is_pushed: bool) -> None:
    item.merge(item.step())
    branch, old = ledger_of(item)
    item.step()
    _, new = ledger_of(item)
    status = item.state().status_comment
    item.ask("PATCH", f"git/refs/heads/{branch}", sha=old, force=True)
    with pytest.raises(SafetyHalt, match=r"Push the newer commit again\. Or delete the status comment"):
        item.step()

    assert status is not None
    if is_pushed:
        item.ask("PATCH", f"git/refs/heads/{branch}", sha=new, force=True)
    else:
        item.ask("DELETE", f"issues/comments/{status.database_id}")

    assert item.until("code@A").outcome == "succeeded"


def test_a_ledger_that_nobody_can_read_is_reverted(item: Item) -> None:
    item.merge(item.step())
    branch, _ = ledger_of(item)
    told = item.ask("GET", f"contents/state.json?ref={branch}")
    before = base64.b64decode(told["content"]).decode()
    write(item, "state.json", "{", branch=branch)
    with pytest.raises(CogworksError, match="Restore it with `git revert`"):
        item.step()

    write(item, "state.json", before, branch=branch)

    assert item.step().node == "plan"


def test_a_sub_issue_that_was_edited_by_a_stranger_is_taken_with_the_pasted_line(hub: RunningHub) -> None:
    item = new_item(hub, by="eve", labels=())
    item.label("cogworks:run")
    item.merge(item.step())
    later(hub)
    item.ask("PATCH", f"issues/{item.address.number}", by="eve", title="Sums of floats")
    later(hub)
    [wait] = item.step().waiting_for
    item.say(wait.paste)

    assert item.step().node == "plan"


DISPUTED = {**IMPLEMENTED, "test_dispute": {"test_id": f"{CUSTOM}::test_hours", "reason": "Hours are whole."}}


STANDS_BY = {**written(HOURS), "files": [], "confirmed": "Hours may have decimals."}
UNDECIDED = {"verdict": "undecided", "sentence": "", "reason": "Nothing is said of decimals."}
ASKED = (classified(), SPECIFICATION, PLAN, written(HOURS), DISPUTED, STANDS_BY, UNDECIDED)


def test_a_disputed_test_stays_when_a_person_pastes_the_line(tmp_path: Path) -> None:
    """With the nodes that ship, their prompts and a model server: what was paid for is not asked again."""
    with standing(
        tmp_path, text_of("bugfix"), *ASKED, IMPLEMENTED, PASSED, PASSED, PASSED, tests_first=True
    ) as stand:
        waiting = stand.scene.cogworks("run", "--json", **stand.model)
        stand.play()

        assert (waiting.code, waiting.told["outcome"]) == (0, "waiting")
        [wait] = waiting.told["waiting_for"]
        assert wait["paste"].startswith("/cogworks approve")
        assert stand.passed_by_a_person == ["approval code_generation@A"]
        assert "A person looked at it and decided that it is right." in json.dumps(stand.server.seen[7].body)
        assert stand.scene.file(CUSTOM, branch="cogworks/1/swi-1") == HOURS


def test_after_a_disputed_test_a_more_precise_sub_issue_and_specification_are_what_the_next_prompts_say(
    tmp_path: Path,
) -> None:
    """With the nodes that ship, their prompts and a model server: the advice is followed to the end."""
    more = (written(HOURS + DAYS), IMPLEMENTED, PASSED, PASSED, PASSED)
    with standing(tmp_path, text_of("bugfix"), *ASKED, *more, tests_first=True) as stand:
        person = stand.repository
        waiting = stand.scene.cogworks("run", "--json", **stand.model)
        person.get_issue(2).edit(title="Read decimals exactly", body="Days may have decimals, too.")
        person.create_file("docs/specs/1.md", "x", "# Read decimals\n\n`0.25 days` is six hours.\n")
        status = person.get_issue(1).get_comments()[0].body
        [wait] = waiting.told["waiting_for"]
        reject = wait["paste"].replace("approve", "reject").rpartition(" ")[0]
        person.get_issue(1).create_comment(f"{reject} days have decimals, too")
        failed = stand.scene.cogworks("run", **stand.model)
        trigger_again(stand)
        stand.play()

        assert f"make the sub-issue or the specification more precise and comment `{reject} <why>`" in status
        assert failed.code == 1
        asked = [json.dumps(seen.body) for seen in stand.server.seen]
        for before, after in ((asked[3], asked[7]), (asked[4], asked[8])):
            for told in ("Days may have decimals, too.", "`0.25 days` is six hours."):
                assert (told in before, told in after) == (False, True)
            assert ("Let a number have decimals" in before, "Let a number have decimals" in after) == (
                True,
                False,
            )
        assert stand.scene.file(CUSTOM, branch="cogworks/1/swi-1") == HOURS + DAYS


ASKS_FOR_MORE = {
    **IMPLEMENTED,
    "files": [*IMPLEMENTED["files"], {"path": "requirements.txt", "action": "create", "content": "attrs\n"}],
}


def test_a_manifest_that_a_person_changes_by_hand_is_what_the_retry_starts_from(tmp_path: Path) -> None:
    replies = (classified(), SPECIFICATION, PLAN, written(HOURS), ASKS_FOR_MORE)
    more = (written(HOURS), IMPLEMENTED, PASSED, PASSED, PASSED)
    with standing(tmp_path, text_of("bugfix"), *replies, *more, tests_first=True) as stand:
        failed = stand.scene.cogworks("run", **stand.model)
        stand.scene.write("requirements.txt", "attrs\n")
        trigger_again(stand)
        stand.play()

        assert "make it by hand on the base branch" in failed.err
        assert stand.scene.file("requirements.txt", branch="cogworks/1/swi-1") == "attrs\n"
        assert "requirements.txt" in json.dumps(stand.server.seen[6].body)


def test_a_narrower_specification_is_planned_anew_without_a_restart(tmp_path: Path) -> None:
    [item] = PLAN["sub_work_items"]
    many = [{**item, "key": f"A{number}"} for number in range(11)]
    replies = (classified(), SPECIFICATION, {"sub_work_items": many}, PLAN)
    more = (written(HOURS), IMPLEMENTED, PASSED, PASSED, PASSED)
    with standing(tmp_path, text_of("bugfix"), *replies, *more, tests_first=True) as stand:
        failed = stand.scene.cogworks("run", **stand.model)
        stand.repository.create_file("docs/specs/1.md", "x", "# Read decimals of hours alone\n")
        trigger_again(stand)
        stand.play()

        assert "merge a narrower specification, then remove the trigger label and set it again" in failed.err
        assert "# Read decimals of hours alone" in json.dumps(stand.server.seen[3].body)


def test_a_pipeline_that_is_added_is_chosen_after_a_restart(configured: Item) -> None:
    def choosing(task: NodeTask, ports: NodePorts) -> Outcome:
        done = NODES[NodeId("spec")](task, ports)
        assert isinstance(done, Succeeded)
        return done.model_copy(update={"output": {**done.output, "pipeline": "hotfix"}})

    one: dict[str, Any] = dict(PIPELINE["pipelines"]["default"])
    [spec, *others] = one["nodes"]
    one["nodes"] = [
        {**spec, "outputs": ["classification"], "gate": "auto-proceed"},
        {**others[0], "inputs": []},
        *others[1:],
    ]
    write(configured, ".cogworks/pipeline.toml", tomli_w.dumps({"pipelines": {"default": one}}))
    configured.nodes = {**NODES, NodeId("spec"): choosing}
    failed = configured.step()
    both = {"default": "default", "pipelines": {"default": one, "hotfix": one}}
    write(configured, ".cogworks/pipeline.toml", tomli_w.dumps(both))
    configured.say("/cogworks restart")

    assert "Add it, or name one of those in the issue, then restart the item" in failed.message
    assert configured.step().outcome == "succeeded"
    assert configured.state().pipeline == "hotfix"


def test_a_raised_budget_of_one_node_goes_on_with_its_visit(configured: Item) -> None:
    def budgeted(usd: float) -> str:
        one: dict[str, Any] = dict(PIPELINE["pipelines"]["default"])
        one["nodes"] = [
            {**node, "cost_budget_usd": usd} if node["id"] == "plan" else node for node in one["nodes"]
        ]
        return tomli_w.dumps({**PIPELINE, "pipelines": {"default": one}})

    def dear(task: NodeTask, ports: NodePorts) -> Outcome:
        NODES[NodeId("plan")](task, ports)
        raise BudgetReached("budget: this call needs up to 0.25", needs_usd=0.25, needs_tokens=1_000)

    write(configured, ".cogworks/pipeline.toml", budgeted(0.2))
    configured.merge(configured.step())
    configured.nodes = {**NODES, NodeId("plan"): dear}
    with pytest.raises(BudgetReached, match="raise `cost_budget_usd` of the node"):
        configured.step()
    configured.nodes = NODES
    write(configured, ".cogworks/pipeline.toml", budgeted(2.0))

    assert configured.step().node == "plan"
    assert configured.state().run_number == 1


def trigger_again(stand: Stand) -> None:
    issue = stand.repository.get_issue(1)
    issue.remove_from_labels("cogworks:run")
    issue.add_to_labels("cogworks:run")


def ledger_of(item: Item) -> tuple[str, str]:
    """The ledger's branch and its tip."""
    branch = f"cogworks/ledger/{item.address.number}"
    return branch, item.ask("GET", f"git/ref/heads/{branch}")["object"]["sha"]
