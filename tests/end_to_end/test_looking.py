"""The commands that only look: what `status` and `graph` say about a real item, and that they leave it alone."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.scene import Scene, open_scene

# Seconds on a busy machine; usually a tenth of that.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """The sample item while it waits for the merge of its specification."""
    with open_scene(tmp_path_factory.mktemp("looking") / "scene") as scene:
        scene.person.set_trigger()
        assert scene.cogworks("run").code == 0
        yield scene


def test_the_graph_of_an_item_is_the_picture_in_its_status_comment(waiting: Scene) -> None:
    before = waiting.everything()

    drawn = waiting.cogworks("graph")

    assert drawn.code == 0
    assert drawn.out.rstrip() == waiting.person.mermaid()
    assert ":::waiting" in drawn.out
    assert waiting.everything() == before


def test_the_graph_of_an_item_has_other_forms(waiting: Scene) -> None:
    dot = waiting.cogworks("graph", "--format", "dot")
    told = waiting.cogworks("graph", "--json").told

    assert dot.out.startswith('digraph "default" {')
    assert told["instances"] == [
        {"node": "intake", "sub_item": None, "state": "done"},
        {"node": "architecture", "sub_item": None, "state": "waiting"},
    ]


def test_status_says_where_the_item_stands_and_what_comes_next(waiting: Scene) -> None:
    before = waiting.everything()

    told = waiting.cogworks("status", "--json").told

    assert (told["outcome"], told["pipeline"], told["requests"]) == (
        "waiting",
        "default",
        {"graphql": 1, "rest": 0, "git": 0},
    )
    assert [(row["node"], row["status"], row["visits"]) for row in told["nodes"]] == [
        ("intake", "succeeded", 1),
        ("architecture", "waiting_gate", 1),
    ]
    url = told["waiting_for"][0]["url"]
    assert url.endswith("/pull/2")
    assert told["pull_requests"] == [{"slug": "spec", "number": 2, "state": "open", "url": url}]
    assert told["next"] == (
        "wait: approve pull request #2, which is then closed unmerged, or close it to reject it: "
        f"{url} (anyone with write permission)"
    )
    assert waiting.everything() == before


def test_status_is_read_by_people_too(waiting: Scene) -> None:
    lines = waiting.cogworks("status").out.splitlines()

    assert lines[0].startswith(f"{waiting.issue_url}  ")
    assert lines[-1].startswith("next: wait: approve pull request #2")
    assert [
        "/pull/2 " in line or line.endswith("/pull/2") for line in lines if "pull request #2" in line
    ] == [True] * 2


@pytest.mark.parametrize("command", ["status", "graph"])
def test_looking_at_something_else_is_refused_in_one_object(waiting: Scene, command: str) -> None:
    refused = waiting.cogworks(command, "--json", issue_url=f"{waiting.stage.repository_url}/wiki")

    assert (refused.code, refused.told["outcome"]) == (2, "usage_error")
