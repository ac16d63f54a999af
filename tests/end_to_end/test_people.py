"""People and an item on a real hub: commands, labels, gates, and what happens to issues, pull requests and branches."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cogworks.cli.cost import cost
from cogworks.cli.explain import explain
from cogworks.cli.log import log
from cogworks.cli.status import status
from cogworks.errors import ConfigurationError, SafetyHalt
from tests.end_to_end.people import TOKENS, Item, malformed_configuration, new_item, open_hub
from tests.hub.running import RunningHub

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with open_hub(tmp_path_factory.mktemp("people")) as running:
        yield running


def looking_environment(hub: RunningHub, work: Path) -> dict[str, str]:
    return {
        "COGWORKS_GITHUB_TOKEN": TOKENS["cogs"],
        "COGWORKS_WORK_DIR": str(work),
        "GITHUB_SERVER_URL": hub.url,
        "GITHUB_API_URL": hub.api_url,
        "GITHUB_GRAPHQL_URL": f"{hub.url}/api/graphql",
        "COLUMNS": "200",
    }


@pytest.fixture
def item(hub: RunningHub) -> Item:
    return new_item(hub)


def test_an_approval_by_command_opens_the_gate_and_gets_one_reaction(item: Item) -> None:
    [wait] = item.step().waiting_for
    comment = item.say(wait.paste)

    report, requests = item.counted_step()

    assert report.node == "plan"
    assert item.reactions(comment) == [("cogs", "+1")]
    # One request more than without a command: who ann is.
    assert requests["graphql"] == 5 + 2 + 1
    assert [(gate.how, gate.by) for gate in item.state().gates] == [("approved", "ann")]


def test_a_push_after_the_approval_voids_it(item: Item) -> None:
    [wait] = item.step().waiting_for
    item.say(wait.paste)
    content = {"content": "bW9yZQ==", "message": "More", "branch": item.branch("spec")}
    item.ask("PUT", "contents/more.md", **content)

    report = item.step()

    assert report.node == "inputs"
    reply = item.comments()[1]
    assert "is not the current result of spec" in reply
    [again] = item.step().waiting_for
    assert again.paste in reply
    assert again.paste != wait.paste


def test_a_misspelt_command_gets_a_confused_face_and_one_reply(item: Item) -> None:
    item.step()
    comment = item.say("/cogworks aprove spec")

    item.step()
    following, requests = item.counted_step()

    assert item.reactions(comment) == [("cogs", "confused")]
    assert len(item.comments()) == 2
    assert "did you mean `approve`?" in item.comments()[1]
    assert (following.outcome, requests) == ("waiting", {"graphql": 1, "rest": 0, "git": 0})


@pytest.mark.parametrize("who", ["tia", "eve"])
def test_people_without_write_permission_are_refused(item: Item, who: str) -> None:
    item.step()
    comment = item.say("/cogworks cancel", by=who)

    item.step()

    assert item.reactions(comment) == [("cogs", "-1")]
    assert f"@{who}: This was not obeyed: {who} has" in item.comments()[1]
    assert item.state().status == "running"


def test_a_label_set_by_triage_is_named_and_ignored(item: Item) -> None:
    item.step()
    item.ask("POST", "labels", name="cogworks:hold", color="d93f0b")
    item.label("cogworks:hold", by="tia")

    report = item.step()

    assert report.waiting_for[0].kind == "merge"
    assert "The label `cogworks:hold` does not count: tia set it" in item.comments()[0]


def test_an_issue_triggered_by_triage_is_not_started(hub: RunningHub) -> None:
    item = new_item(hub, labels=())
    item.label("cogworks:run", by="tia")

    report, requests = item.counted_step()

    assert (report.outcome, item.comments()) == ("usage_error", [])
    assert requests["graphql"] == 2


def test_a_trigger_that_does_not_count_is_told_nothing_of_a_malformed_configuration(hub: RunningHub) -> None:
    by_admin, by_triage = new_item(hub), new_item(hub, labels=())
    by_triage.label("cogworks:run", by="tia")

    with malformed_configuration(by_admin):
        for item in (by_triage, by_admin):
            with pytest.raises(ConfigurationError):
                item.step()
        told = by_admin.comments()
    by_admin.step()

    assert (by_triage.comments(), by_triage.snapshot().ledger) == ([], None)
    assert len(told) == 1
    assert "did you mean `model`?" in told[0]
    assert len(by_admin.comments()) == 1
    assert "### cogworks · waiting for a person" in by_admin.comments()[0]


def test_a_command_edited_after_posting_is_refused(item: Item) -> None:
    item.step()
    comment = item.say("Hello", by="ann")
    item.ask("PATCH", f"issues/comments/{comment}", body="/cogworks cancel")

    item.step()

    assert item.reactions(comment) == [("cogs", "-1")]
    assert "it was edited after it was posted" in item.comments()[1]


def test_a_hold_lasts_until_somebody_says_why_the_item_may_go_on(item: Item) -> None:
    item.merge(item.step())
    item.say("/cogworks hold not on a Friday")
    held = item.step()
    item.say("/cogworks resume it is Monday")

    assert held.message.startswith("ann holds the item (not on a Friday)")
    assert item.step().node == "plan"


def test_a_cancelled_item_leaves_one_summary_and_begins_anew_on_a_restart(item: Item) -> None:
    item.until("plan")
    item.label("cogworks:cancel")
    item.step()
    ended = item.step()
    old = item.state()
    item.say("/cogworks restart")

    begun = item.step()

    assert (ended.outcome, old.status) == ("done", "cancelled")
    assert [body for body in item.comments() if "Cancelled by ann" in body] == item.comments()[1:]
    state = item.state()
    assert (begun.node, state.run_number) == ("spec", 2)
    assert state.run_id != old.run_id
    assert item.branch("spec-r2") in item.snapshot().branches


def test_a_retry_makes_again_what_was_rejected(item: Item) -> None:
    item.until("code@A")
    item.say("/cogworks reject code@A it does not add")
    failed = item.step()
    item.say("/cogworks retry")

    assert (failed.outcome, failed.message.splitlines()[0]) == (
        "failed",
        "code@A: rejected by ann: it does not add",
    )
    assert item.step().node == "code@A"


def test_a_closed_pull_request_is_a_rejection_until_it_is_reopened(item: Item) -> None:
    item.until("ship@A")
    number = item.state().pull_requests[-1].number
    item.ask("PATCH", f"pulls/{number}", state="closed")
    closed = item.step()
    item.ask("PATCH", f"pulls/{number}", state="open")

    assert closed.outcome == "failed"
    assert f"pull request #{number} was closed unmerged" in closed.message
    assert item.step().node == "code@B"


def test_a_rejected_pull_request_is_made_anew_with_all_that_is_built_on_it(item: Item) -> None:
    item.until("ship@B")
    first = item.state().pull("swi-1")
    assert first is not None
    item.ask("PATCH", f"pulls/{first.number}", state="closed")
    item.say("/cogworks retry")

    nodes = [item.step().node for _ in range(4)]

    assert nodes == ["code@A", "ship@A", "code@B", "ship@B"]
    again = item.state().pull("swi-1")
    assert again is not None
    assert again.number > first.number


def test_an_edited_issue_stops_before_its_pull_request_and_goes_on_when_somebody_says_so(item: Item) -> None:
    item.until("plan")
    item.ask("PATCH", f"issues/{item.address.number}", body="It should multiply.")
    coded = item.step()
    asked = item.step()
    item.say("/cogworks resume adding is enough")

    assert coded.node == "code@A"
    assert [wait.paste for wait in asked.waiting_for] == ["/cogworks resume <why>"]
    assert "The issue was edited after this run began." in item.comments()[0]
    assert item.step().node == "ship@A"


def test_a_closed_issue_stops_and_a_reopened_one_goes_on(item: Item) -> None:
    item.merge(item.step())
    item.ask("PATCH", f"issues/{item.address.number}", state="closed")
    closed = item.step()
    item.ask("PATCH", f"issues/{item.address.number}", state="open")

    assert closed.outcome == "usage_error"
    assert item.step().node == "plan"


def test_a_locked_issue_goes_on_and_says_so(item: Item) -> None:
    item.merge(item.step())
    item.ask("PUT", f"issues/{item.address.number}/lock")

    assert item.step().node == "plan"
    assert "The issue is locked" in item.comments()[0]


def test_commits_of_others_on_a_branch_of_ours_are_kept_and_named(item: Item) -> None:
    item.until("code@A")
    content = {"content": "bW9yZQ==", "message": "By hand", "branch": item.branch("swi-1")}
    made = item.ask("PUT", "contents/more.md", **content)

    item.step()

    assert item.snapshot().branches[item.branch("swi-1")].oid == made["commit"]["sha"]
    assert f"Branch `{item.branch('swi-1')}` has a commit that cogworks did not push." in item.comments()[0]


def test_a_deleted_status_comment_is_posted_anew(item: Item) -> None:
    item.step()
    old = item.state().status_comment
    assert old is not None
    item.ask("DELETE", f"issues/comments/{old.database_id}")

    item.step()
    following, requests = item.counted_step()

    new = item.state().status_comment
    assert new is not None
    assert new.database_id != old.database_id
    assert len(item.comments()) == 1
    assert (following.outcome, requests["graphql"]) == ("waiting", 1)


def test_a_deleted_ledger_is_never_taken_for_a_new_item(item: Item) -> None:
    item.step()
    item.ask("DELETE", f"git/refs/heads/cogworks/ledger/{item.address.number}")

    with pytest.raises(SafetyHalt, match="its ledger is gone: there is no branch"):
        item.step()
    assert len(item.comments()) == 1


def test_a_ledger_that_was_set_back_halts(item: Item) -> None:
    item.merge(item.step())
    ref = f"git/refs/heads/cogworks/ledger/{item.address.number}"
    old = item.snapshot().ledger
    assert old is not None
    item.step()
    item.ask("PATCH", ref, sha=old.oid, force=True)

    with pytest.raises(
        SafetyHalt, match=rf"is at {old.oid} with revision 2, but the status comment shows revision 3"
    ):
        item.step()


def test_an_item_can_be_started_by_a_command_without_a_label(hub: RunningHub) -> None:
    item = new_item(hub, labels=())
    item.say("/cogworks run")

    assert item.step().node == "spec"


def stacked(item: Item) -> tuple[int, int]:
    """The pull requests of a finished item, the second one on the branch of the first."""
    item.until("ship@B")
    first, second = (item.state().pull(slug) for slug in ("swi-1", "swi-2"))
    assert first is not None
    assert second is not None
    assert item.ask("GET", f"pulls/{second.number}")["base"]["ref"] == first.head
    return first.number, second.number


def test_a_base_branch_deleted_after_its_merge_costs_no_dependent_its_pull_request(item: Item) -> None:
    first, second = stacked(item)
    item.ask("PUT", f"pulls/{first}/merge")
    item.ask("DELETE", f"git/refs/heads/{item.branch('swi-1')}")
    assert item.ask("GET", f"pulls/{second}")["state"] == "closed"

    item.step()
    following, requests = item.step(), item.counted_step()[1]

    pull = item.ask("GET", f"pulls/{second}")
    assert (pull["state"], pull["base"]["ref"]) == ("open", "main")
    assert following.outcome == "done"
    assert requests == {"graphql": 1, "rest": 0, "git": 0}


def test_a_dependent_goes_to_the_default_branch_once_its_dependency_is_merged(item: Item) -> None:
    first, second = stacked(item)
    item.ask("PUT", f"pulls/{first}/merge")

    item.step()

    assert item.ask("GET", f"pulls/{second}")["base"]["ref"] == "main"


def shipped_on_an_approval(item: Item) -> tuple[int, int]:
    """The pull requests of a specification that was approved and not merged, and of the code that is built on it."""
    [wait] = item.step().waiting_for
    item.say(wait.paste)
    item.until("ship@A")
    spec, code = (item.state().pull(slug) for slug in ("spec", "swi-1"))
    assert spec is not None
    assert code is not None
    assert item.ask("GET", f"pulls/{code.number}")["base"]["ref"] == spec.head
    return spec.number, code.number


def test_code_on_an_approved_branch_goes_to_the_default_branch_once_that_is_merged_and_deleted(
    item: Item,
) -> None:
    spec, code = shipped_on_an_approval(item)
    item.ask("PUT", f"pulls/{spec}/merge")
    item.ask("DELETE", f"git/refs/heads/{item.branch('spec')}")

    item.step()

    pull = item.ask("GET", f"pulls/{code}")
    assert (pull["state"], pull["base"]["ref"]) == ("open", "main")


def test_code_on_an_approved_branch_stops_when_its_pull_request_is_closed_after_all(item: Item) -> None:
    spec, code = shipped_on_an_approval(item)
    item.ask("PATCH", f"pulls/{spec}", state="closed")
    stopped = item.step()
    item.ask("PATCH", f"pulls/{spec}", state="open")

    assert stopped.outcome == "failed"
    assert f"pull request #{spec} was closed unmerged" in stopped.message
    assert item.ask("GET", f"pulls/{code}")["state"] == "open"
    assert item.step().node == "code@B"


def test_an_edited_status_comment_is_put_right_and_nothing_else_is_written(item: Item) -> None:
    item.step()
    comment = item.state().status_comment
    assert comment is not None
    [before] = item.comments()
    item.ask("PATCH", f"issues/comments/{comment.database_id}", body="Nothing to see here.")

    _, requests = item.counted_step()

    assert item.comments() == [before]
    assert requests == {"graphql": 2, "rest": 0, "git": 0}


def test_a_default_branch_that_moves_disturbs_no_gate(item: Item) -> None:
    item.step()
    item.ask("PUT", f"contents/unrelated-{item.address.number}.md", content="bW9yZQ==", message="Go on")

    report, requests = item.counted_step()

    assert (report.outcome, requests) == ("waiting", {"graphql": 1, "rest": 0, "git": 0})


def test_a_deleted_branch_of_an_open_pull_request_is_a_rejection_that_a_retry_makes_good(item: Item) -> None:
    item.until("ship@A")
    number = item.state().pull_requests[-1].number
    item.ask("DELETE", f"git/refs/heads/{item.branch('swi-1')}")

    rejected = item.step()
    item.say("/cogworks retry")

    assert rejected.outcome == "failed"
    assert f"pull request #{number} was closed unmerged" in rejected.message
    assert [item.step().node for _ in range(2)] == ["code@A", "ship@A"]
    again = item.state().pull("swi-1")
    assert again is not None
    assert again.number > number


def test_a_renamed_repository_goes_on_under_its_old_address(tmp_path: Path) -> None:
    with open_hub(tmp_path) as own:
        item = new_item(own)
        item.merge(item.step())
        item.ask("PATCH", "", name="subtractor")

        assert item.step().node == "plan"


def test_the_commands_that_look_read_right_on_an_item_that_was_held_rejected_restarted_and_lost(
    item: Item, hub: RunningHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in looking_environment(hub, tmp_path).items():
        monkeypatch.setenv(name, value)

    def told(command: click.Command, *options: str) -> str:
        done = CliRunner().invoke(command, [item.address.url, *options])
        return done.output if done.exception is None else str(done.exception)

    item.merge(item.step())
    item.say("/cogworks hold on Friday")
    item.step()
    held = told(explain)
    item.say("/cogworks resume Monday")
    item.until("ship@A")
    item.ask("PATCH", f"pulls/{item.state().pull_requests[-1].number}", state="closed")
    item.step()
    rejected = told(explain)
    item.say("/cogworks restart")
    item.step()
    restarted = [told(command) for command in (explain, status, cost)]
    item.ask("DELETE", f"git/refs/heads/cogworks/ledger/{item.address.number}")
    lost = [told(command) for command in (explain, status, cost, log)]

    assert "held by command" in held
    assert "or comment: /cogworks resume <why>" in held
    assert "or let it be made again (anyone with write permission)" in rejected
    assert "or comment: /cogworks retry" in rejected
    assert "running, run 2 of the item" in restarted[0]
    assert all("before this run of the item: $0.3000" in text for text in restarted[1:])
    assert all("its ledger is gone: there is no branch" in text for text in lost)
