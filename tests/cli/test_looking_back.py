"""`status`, `explain`, `log` and `cost` on a real hub: what they tell, what they cost, and that they write nothing."""

from typing import Any

import pytest

from cogworks.cli.cost import cost
from cogworks.cli.explain import explain
from cogworks.cli.log import log
from cogworks.cli.status import status
from cogworks.errors import UsageError
from tests.cli.planned_item import call
from tests.end_to_end.scene import Scene

READING = [status, explain, log, cost]


def oid_after(scene: Scene, node: str, verb: str) -> str:
    commits = call(scene, log, "--json").told["commits"]
    return next(str(c["oid"]) for c in commits if (c["node"], c["verb"]) == (node, verb))


def test_reading_costs_one_request_and_writes_nothing(looked_at: Scene) -> None:
    before = looked_at.everything()

    told = [call(looked_at, command, "--json").told["requests"] for command in READING]
    past = oid_after(looked_at, "architecture", "claim")
    then = [call(looked_at, command, "--json", "--at", past).told["requests"] for command in READING]

    assert told == [{"graphql": 1, "rest": 0, "git": 0}] * 4
    # The log needs nothing but the ledger, whatever the moment.
    assert [requests["graphql"] for requests in then] == [2, 2, 1, 2]
    assert looked_at.everything() == before


def test_the_explanation_names_the_move_its_reason_and_why_not_the_others(looked_at: Scene) -> None:
    told = call(looked_at, explain, "--json").told

    assert told["outcome"] == "ready"
    assert told["node"] == "code_generation@A"
    assert told["next"] == call(looked_at, status, "--json").told["next"]
    assert "planning_to_code_generation taken" in told["because"]
    reasons = {other["node"]: (other["status"], other["reason"]) for other in told["not_now"]}
    assert reasons == {
        "intake": ("succeeded", "done in visit 1"),
        "architecture": ("succeeded", "done in visit 2, approved by octo-dev"),
        "interface_design": ("succeeded", "done in visit 3, merged by octo-dev"),
        "planning": ("succeeded", "done in visit 4"),
        "review@A": ("pending", "waits for code_generation@A"),
        "integration@A": ("pending", "waits for review@A"),
        "code_generation@B": ("pending", "waits for integration@A"),
        "review@B": ("pending", "waits for code_generation@B, integration@A"),
        "integration@B": ("pending", "waits for review@B, integration@A"),
    }
    assert {fact["name"]: fact["value"] for fact in told["facts"]}["trigger label cogworks:run"] == "set"
    assert told["unblocked_by"] == []


def test_an_item_is_explained_as_it_was_when_it_waited_for_a_person(looked_at: Scene) -> None:
    past = oid_after(looked_at, "architecture", "succeeded")

    told = call(looked_at, explain, "--json", "--at", past[:9]).told
    by_status = call(looked_at, status, "--json", "--at", past).told

    assert told["at"]["oid"] == past
    assert (told["outcome"], by_status["outcome"]) == ("waiting", "waiting")
    assert [act["act"] for act in told["unblocked_by"]] == [
        "approve pull request #2, which is then closed unmerged, or close it to reject it"
    ]
    assert [pull["state"] for pull in by_status["pull_requests"]] == ["open"]
    assert [node["node"] for node in by_status["nodes"]] == ["intake", "architecture"]


def test_a_time_shows_the_state_of_that_time(looked_at: Scene) -> None:
    commits = call(looked_at, log, "--json").told["commits"]
    planned_at = commits[0]["time"]

    now = call(looked_at, cost, "--json").told
    then = call(looked_at, cost, "--json", "--at", planned_at).told
    log_then = call(looked_at, log, "--json", "--at", planned_at).told

    assert then["requests"]["graphql"] == 2
    assert (then["total"], then["nodes"]) == (now["total"], now["nodes"])
    assert log_then["commits"] == commits


def test_the_log_tells_every_commit_from_the_root_on(looked_at: Scene) -> None:
    told = call(looked_at, log, "--json").told

    assert told["total"] == len(told["commits"])
    endings = [
        (c["node"], c["visit"], c["cost_usd"] is not None)
        for c in told["commits"]
        if c["verb"] == "succeeded"
    ]
    assert endings == [
        ("planning", 4, True),
        ("interface_design", 3, True),
        ("architecture", 2, True),
        ("intake", 1, True),
    ]
    root = told["commits"][-1]
    assert (root["node"], root["subject"]) == (None, "cogworks: ledger begin [skip ci]")
    assert told["commits"][0]["waits_for"] is None
    assert call(looked_at, log, "--json", "--limit", "2").told["commits"] == told["commits"][:2]


def test_every_call_is_shown_on_request_and_their_sum_is_that_of_the_state(looked_at: Scene) -> None:
    told = call(looked_at, cost, "--calls", "--json").told
    plain = call(looked_at, cost, "--json").told
    shown = call(looked_at, cost, "--calls").out
    calls = told["calls"]

    assert "calls" not in plain
    assert calls["calls"] == told["total"]["model_calls"] > 0
    assert round(calls["cost_usd"], 9) == told["total"]["cost_usd"]
    inputs = [
        calls[name] for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    ]
    assert (sum(inputs), calls["output_tokens"]) == (
        told["total"]["input_tokens"],
        told["total"]["output_tokens"],
    )
    assert calls["without_cache_usd"] > 0
    [whole] = calls["below"]
    assert [visit["name"][5:] for visit in whole["below"]] == [row["node"] for row in told["nodes"]]
    assert "· · · intake-1" in shown
    assert "without cache" in shown


def test_calls_of_an_earlier_moment_are_not_shown(looked_at: Scene) -> None:
    with pytest.raises(UsageError, match="Leave `--at` out"):
        call(looked_at, cost, "--calls", "--at", "2026-01-31T12:00:00Z")


def test_costs_add_up_to_what_the_state_says(looked_at: Scene) -> None:
    told = call(looked_at, cost, "--json").told
    by_status = call(looked_at, status, "--json").told

    def total(rows: list[dict[str, Any]]) -> dict[str, Any]:
        return {key: round(sum(row[key] for row in rows), 9) for key in told["total"]}

    assert total(told["nodes"]) == total(told["sub_items"]) == told["total"]
    assert told["total"]["cost_usd"] == by_status["cost_usd"] > 0
    assert told["remaining"]["cost_usd"] == round(told["budget"]["cost_usd"] - told["total"]["cost_usd"], 9)
    assert [row["node"] for row in told["nodes"]] == [
        "intake",
        "architecture",
        "interface_design",
        "planning",
    ]


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        (status, ["next: run code_generation@A (visit 5)"]),
        (explain, ["next: run code_generation@A (visit 5)", "trigger label cogworks:run    set"]),
        (log, ["planning"]),
        (cost, ["(the whole item)", "left: $"]),
    ],
    ids=["status", "explain", "log", "cost"],
)
def test_people_get_plain_lines(looked_at: Scene, command: Any, lines: list[str]) -> None:
    ended = call(looked_at, command)

    assert (ended.code, ended.err) == (0, "")
    for line in lines:
        assert line in ended.out
    assert "\x1b" not in ended.out


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("yesterday", "names no moment"),
        ("0123456789", "no commit '0123456789' on the item's ledger"),
        ("2020-01-01T00:00:00Z", "had no ledger at 2020-01-01"),
    ],
)
@pytest.mark.parametrize("command", READING, ids=lambda command: command.name)
def test_a_moment_that_is_none_is_refused(looked_at: Scene, command: Any, at: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        call(looked_at, command, "--at", at)


def test_a_commit_of_the_repository_is_no_moment_of_the_item(looked_at: Scene) -> None:
    head = looked_at.git("rev-parse", "main").strip()

    for command in READING:
        with pytest.raises(
            UsageError, match=r"not on this item's ledger|no commit '[0-9a-f]+' on the item's ledger"
        ):
            call(looked_at, command, "--at", head)


def test_an_issue_that_is_not_there_is_refused(looked_at: Scene) -> None:
    missing = f"{looked_at.issue_url}999"

    for command in READING:
        with pytest.raises(UsageError, match=r"no issue|no such issue"):
            call(Scene(looked_at.stage, looked_at.person, missing), command)


def test_an_issue_nobody_worked_on_has_an_empty_history(looked_at: Scene) -> None:
    # The sample's sub-issues are issues without a ledger of their own.
    number = looked_at.person.sub_issues()[0][0]
    other = Scene(looked_at.stage, looked_at.person, f"{looked_at.issue_url.rpartition('/')[0]}/{number}")

    assert call(other, log, "--json").told["commits"] == []
    assert "nothing has happened yet" in call(other, log).out
    assert call(other, cost, "--json").told["total"]["cost_usd"] == 0
    assert call(other, explain, "--json").told["status"] == "not started"
