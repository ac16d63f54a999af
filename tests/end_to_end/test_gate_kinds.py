"""However people let a gate pass, code is built on what they let pass, and everything merges in the end."""

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cogworks.demo.facts import DEFAULT_BRANCH, FULL_NAME
from cogworks.demo.showing import judge
from tests.end_to_end.scene import Scene, open_scene
from tests.exhaustive import of_today

pytestmark = [
    pytest.mark.slow,  # plays the whole sample item
    pytest.mark.timeout(300),  # seconds on a busy machine; usually a tenth of that
]

PIPELINE = Path(__file__).parents[2] / "cogworks" / "pipeline" / "default_pipeline.toml"
Wait = Mapping[str, Any]


def approve_by_command(scene: Scene, wait: Wait) -> None:
    scene.repository.get_issue(1).create_comment(wait["paste"])


def approve_in_a_review(scene: Scene, wait: Wait) -> None:
    scene.repository.get_pull(int(wait["number"])).create_review(event="APPROVE")


def nobody_is_asked(scene: Scene, wait: Wait) -> None:
    raise AssertionError(f"{wait} is waited for")


def merge(scene: Scene, wait: Wait) -> None:
    # A merged specification would be a file that the recorded prompts do not show.
    if wait["kind"] == "review":
        approve_in_a_review(scene, wait)
    else:
        scene.person.merge(int(wait["number"]))


HUMAN, AUTO = "human-gated", "auto-proceed"


WAYS = [
    pytest.param((HUMAN, HUMAN), merge, "merge", id="merge"),
    pytest.param((HUMAN, HUMAN), approve_by_command, "merge", id="command"),
    pytest.param((HUMAN, HUMAN), approve_in_a_review, "merge", id="review"),
    pytest.param((AUTO, AUTO), nobody_is_asked, "merge", id="auto-proceed"),
    pytest.param((HUMAN, AUTO), merge, "merge", id="merge-then-auto-proceed"),
    pytest.param((AUTO, HUMAN), approve_by_command, "merge", id="auto-proceed-then-command"),
    pytest.param((HUMAN, HUMAN), approve_by_command, "squash", id="command-then-squash"),
    pytest.param((HUMAN, HUMAN), approve_by_command, "rebase", id="command-then-rebase"),
]
"""Half of them a day."""


@pytest.mark.parametrize(
    ("gates", "passed_by", "method"),
    of_today(WAYS, days=2),
)
def test_code_builds_on_what_was_passed_and_all_pull_requests_merge_in_order(
    tmp_path: Path, gates: tuple[str, str], passed_by: Callable[[Scene, Wait], None], method: str
) -> None:
    with open_scene(tmp_path / "scene") as scene:
        set_gates(scene, gates)
        scene.person.set_trigger()
        report = scene.cogworks("run", "--json")
        while report.code == 0 and report.told["outcome"] == "waiting":
            for wait in report.told["waiting_for"]:
                passed_by(scene, wait)
            report = scene.cogworks("run", "--json")
        # The recorded replies answer exact prompts, so these held the specification and the interfaces, whole.
        assert (report.code, report.told["outcome"]) == (0, "done"), report.err

        merge_in_order(scene, method)

        assert does_what_was_asked(scene)
        issue, *sub_issues = scene.seen()["issues"]["nodes"]
        assert [each["state"] for each in (issue, *sub_issues)] == ["CLOSED"] * 3
        assert "### cogworks · done: every pull request is merged\n" in issue["comments"]["nodes"][0]["body"]


def set_gates(scene: Scene, gates: tuple[str, str]) -> None:
    ways = iter(gates)
    text = re.sub(r'gate = "human-gated"', lambda _: f'gate = "{next(ways)}"', PIPELINE.read_text("utf-8"))
    scene.write(".cogworks/pipeline.toml", text)


def merge_in_order(scene: Scene, method: str) -> None:
    """As people would: the oldest first, each as soon as it goes to the default branch; code by a merge commit."""
    for seen in scene.person.pull_requests():
        pull = scene.repository.get_pull(seen.number)
        assert pull.base.ref == DEFAULT_BRANCH
        if pull.state == "closed" and not pull.merged:
            assert seen.head.endswith("/spec")
        elif not pull.merged:
            pull.merge(merge_method="merge" if "/swi-" in seen.head else method)
        assert scene.cogworks("process").code == 0


def does_what_was_asked(scene: Scene) -> bool:
    with tempfile.TemporaryDirectory() as directory:
        return judge(
            f"{scene.stage.url}/{FULL_NAME}.git",
            scene.stage.person_token,
            base="cogworks/1/spec",
            head=DEFAULT_BRANCH,
            directory=Path(directory),
            search_path=scene.environment()["PATH"],
        ).is_good
