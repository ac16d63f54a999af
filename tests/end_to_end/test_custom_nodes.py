"""The example of the documentation, on a real hub from the issue to the end: nodes that a repository wrote."""

import tomllib
from pathlib import Path

import pytest

from tests.end_to_end.scene import open_scene

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),  # seconds on a busy machine; usually a tenth of that
]
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "custom-nodes"
CASSETTES = Path(__file__).with_name("cassettes") / "custom_nodes"


def test_an_issue_is_worked_on_by_the_repositorys_own_nodes(tmp_path: Path) -> None:
    with open_scene(tmp_path) as scene:
        for path in sorted(EXAMPLE.rglob("*.*")):
            if path.is_file() and path.name != "config.toml":
                scene.write(path.relative_to(EXAMPLE).as_posix(), path.read_text())
        scene.person.set_trigger()

        ended = scene.cogworks("run", COGWORKS_CASSETTE_DIR=str(CASSETTES))

        assert ended.code == 0, ended.err
        nodes = [visit[0] for visit in scene.visits()]
        assert nodes == ["triage", "label", "note", "check", "follow_ups", "tell"]
        assert scene.state()["status"] == "done"
        seen = scene.seen()
        [pull] = seen["pullRequests"]["nodes"]
        note = tomllib.loads((CASSETTES / "note-1.toml").read_text())["reply"]["answer"]["files"][0]
        assert (pull["headRefName"], pull["title"]) == ("cogworks/1/note", "Durations in ISO 8601")
        assert scene.file(note["path"], branch="cogworks/1/note") == note["content"]
        issues = {issue["title"]: issue for issue in seen["issues"]["nodes"]}
        spawned = issues["Tell users which durations are refused"]
        assert spawned["body"].endswith("was written.\n\nFollow-up of #1.")
        assert [label["name"] for label in spawned["labels"]["nodes"]] == ["documentation"]
        work_item = next(issue for issue in seen["issues"]["nodes"] if issue["number"] == 1)
        assert "documentation" in [label["name"] for label in work_item["labels"]["nodes"]]
        comments = [comment["body"] for comment in work_item["comments"]["nodes"]]
        assert sum("A note for users is on its way." in body for body in comments) == 1
