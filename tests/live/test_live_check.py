"""The live check's own code, before the hub; what the hub answers is asserted where GitHub's answer is known."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.hub.running import OWNER_TOKEN, RunningHub, running_hub, seeded
from tests.limits import LONG_RUN_ENDS_WITHIN_S
from tests.live.questions import QUESTIONS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with running_hub(seeded(tmp_path_factory.mktemp("live") / "hub")) as running:
        yield running


def live_check(*arguments: str, token: str = OWNER_TOKEN) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.live", *arguments],
        cwd=ROOT,
        env={**os.environ, "COGWORKS_GITHUB_TOKEN": token},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG_RUN_ENDS_WITHIN_S,
    )


def state(hub: RunningHub) -> dict[str, Any]:
    """What of the repository a live check could have left."""
    with httpx.Client(
        base_url=f"{hub.api_url}/repos/octo/demo/", headers={"Authorization": f"token {OWNER_TOKEN}"}
    ) as rest:
        paths = ("git/matching-refs/heads", "git/matching-refs/cogworks", "labels", "issues", "pulls")
        return {path: rest.get(path).json() for path in paths}


@pytest.mark.slow
def test_every_question_is_answered_and_nothing_is_left_behind(hub: RunningHub) -> None:
    before = state(hub)

    done = live_check(f"{hub.url}/octo/demo", "--scratch", "--json")

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    answers = {row["question"]: row["answer"] for row in told["answers"]}
    assert list(answers) == [question.text for question in QUESTIONS]
    assert [answer for answer in answers.values() if answer.startswith("not answered")] == []
    assert told["left_behind"] == []
    assert answers["Does createPullRequest see the ref and the commit of the same document?"].startswith(
        "yes"
    )
    assert answers["How is a stale head told?"].startswith("HTTP 200, STALE_DATA")
    assert answers["Does a read right after a write show it?"].startswith("0 of 5")
    assert state(hub) == before


@pytest.mark.slow
def test_the_table_says_question_answer_and_how(hub: RunningHub) -> None:
    done = live_check(f"{hub.url}/octo/demo", "--scratch")

    assert done.returncode == 0
    assert done.stdout.count(" = ") == len(QUESTIONS)
    assert "(createRef, createCommitOnBranch, createPullRequest)" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "token", "words"),
    [
        (["https://github.com/o/r"], "t", "confirm with --scratch"),
        (["https://github.com/o/r", "--scratch"], "", "set COGWORKS_GITHUB_TOKEN"),
        (["nonsense", "--scratch"], "t", "not a web address"),
    ],
    ids=["unconfirmed", "no-token", "no-url"],
)
def test_nothing_is_asked_without_a_token_and_a_scratch_repository(
    arguments: list[str], token: str, words: str
) -> None:
    done = live_check(*arguments, token=token)

    assert done.returncode == 2
    assert words in done.stderr


def test_a_repository_that_cannot_be_seen_is_told(hub: RunningHub) -> None:
    done = live_check(f"{hub.url}/octo/nothing", "--scratch")

    assert done.returncode == 1
    assert "octo/nothing cannot be read" in done.stderr
