"""`cogworks poll` on a real hub, its steps in processes of their own."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.demo.facts import FULL_NAME
from tests.demo.staging import staged
from tests.engine.invoking import Ended, cogworks, environment
from tests.engine.open_items import Item, fill, record
from tests.forking import Cogworks
from tests.hub.running import RunningHub, running_hub
from tests.limits import ENDS_WITHIN_S


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    directory = tmp_path_factory.mktemp("poll") / "hub"
    items = [
        Item(),
        Item(ledger=record("succeeded")),
        Item(ledger=record("checkpoint", holder="host:9:zz")),
        Item(ledger=record("succeeded", waits_for="done")),
    ]
    fill(directory, items)
    with running_hub(directory) as running:
        yield running


@pytest.mark.slow
def test_each_item_gets_what_it_needs_and_one_that_is_broken_stops_no_other(
    hub: RunningHub, tmp_path: Path
) -> None:
    ended = cogworks("poll", f"{hub.url}/octo/demo", "--json", env=environment(hub.url, tmp_path))

    rows = {row["number"]: row for row in ended.told["items"]}
    assert [rows[n]["action"] for n in (1, 2, 3, 4)] == ["stepped", "stepped", "skipped", "skipped"]
    assert rows[1]["step"]["message"].startswith("intake: baseline: No test was found")
    assert (rows[1]["step"]["outcome"], rows[2]["step"]["outcome"]) == ("failed", "ledger_unreadable")
    assert rows[3]["reason"].startswith("host:9:zz works on architecture")
    assert (ended.exit_code, ended.told["outcome"], ended.told["requests"]["looking"]) == (1, "failed", 3)


def test_the_table_says_what_was_done_and_why(hub: RunningHub, tmp_path: Path) -> None:
    ended = cogworks("poll", "octo/demo", "--max", "0", env=environment(hub.url, tmp_path))

    assert ended.exit_code == 0, ended.stderr
    assert "--max 0 steps were taken already" in ended.stdout
    assert "every node is done" in ended.stdout
    assert "octo/demo: 4 open items, 0 steps, 3 requests to look" in ended.stdout


def test_two_ways_to_ask_that_exclude_each_other_are_refused(hub: RunningHub, tmp_path: Path) -> None:
    env = environment(hub.url, tmp_path)

    refused = [
        cogworks("poll", "octo/demo", *more, env=env).exit_code
        for more in (("--once", "--interval", "9"), ("--matrix", "--interval", "9"))
    ]

    assert refused == [2, 2]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["sigterm", "sigint"])
def test_a_signal_ends_the_sweeps_between_two_of_them(
    hub: RunningHub, tmp_path: Path, number: signal.Signals
) -> None:
    words = ["poll", "octo/demo", "--interval", "600", "--max", "0", "--json"]
    with Cogworks(words, env=environment(hub.url, tmp_path), stdout=subprocess.PIPE) as polling:
        assert polling.stdout is not None
        first = json.loads(polling.stdout.readline())
        polling.send_signal(number)
        rest = polling.stdout.read()

    assert (first["stepped"], rest, polling.returncode) == (0, "", 0)


@pytest.mark.slow
def test_an_item_at_a_gate_gets_its_next_step_when_a_person_merged(tmp_path: Path) -> None:
    with staged(tmp_path) as (stage, person):
        person.write_issue()
        person.set_trigger()
        env = environment(
            stage.url,
            tmp_path / "work",
            COGWORKS_GITHUB_TOKEN=stage.runner_token,
            GITHUB_API_URL=stage.api_url,
        )

        def sweep(*more: str) -> Ended:
            return cogworks("poll", FULL_NAME, *more, env=env)

        jobs = [json.loads(sweep("--matrix").stdout)["include"] for _ in range(2)]
        rows = [sweep("--json").told["items"][0] for _ in range(3)]
        person.approve(2)
        rows.append(sweep("--json").told["items"][0])

    assert (
        jobs[0]
        == jobs[1]
        == [{"issue": 1, "issue-url": f"{stage.repository_url}/issues/1", "node": "intake"}]
    )
    assert [(row["step"] or {}).get("node") for row in rows] == [
        "intake", "architecture", None, "interface_design",
    ]  # fmt: skip
    assert [row["reason"] for row in rows[1:]] == [
        "after intake succeeded",
        "waits for pull request #2 to be approved",
        "pull request #2 is approved",
    ]


@pytest.mark.slow
def test_a_signal_lets_the_running_step_finish_and_starts_no_other(tmp_path: Path) -> None:
    fill(tmp_path / "hub", [Item(), Item()])
    with (
        running_hub(tmp_path / "hub") as hub,
        Cogworks(
            ["poll", "octo/demo", "--json"],
            env=environment(hub.url, tmp_path / "work"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as polling,
    ):
        assert polling.stderr is not None
        for line in polling.stderr:
            if "started" in line:
                break
        polling.send_signal(signal.SIGTERM)
        printed, _ = polling.communicate(timeout=ENDS_WITHIN_S)

    told = json.loads(printed)
    assert [row["action"] for row in told["items"]] == ["stepped", "skipped"]
    assert told["items"][0]["step"]["node"] == "intake"
    assert told["items"][1]["reason"] == "new; stopped before its turn"
