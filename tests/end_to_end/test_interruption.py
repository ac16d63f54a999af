"""Ctrl-C in the middle of a step: the lease is given back, and the operator is told how to go on."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.scene import Scene, copy_of, open_scene

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),  # seconds on a busy machine; usually a tenth of that
]


@pytest.fixture(scope="module")
def before_coding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The item right before its first visit of Code Generation, whose steps take a while."""
    home = tmp_path_factory.mktemp("interruption") / "scene"
    with open_scene(home) as scene:
        scene.person.set_trigger()
        for _ in range(2):
            scene.pass_gates(scene.cogworks("run", "--json").told)
        while scene.visits()[-1][0] != "planning":
            assert scene.cogworks("process").code == 0
    return home


@pytest.fixture
def scene(before_coding: Path, tmp_path: Path) -> Iterator[Scene]:
    with open_scene(copy_of(before_coding, tmp_path / "scene")) as opened:
        yield opened


def _is_working(line: str) -> bool:
    return "started" not in line


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminated"])
def test_an_interrupted_step_gives_its_lease_back_and_says_how_to_go_on(
    scene: Scene, by: signal.Signals
) -> None:
    ended = scene.interrupted("process", "--json", until=_is_working, by=by)

    assert (ended.code, ended.told["outcome"]) == (130, "interrupted"), ended
    assert f"Go on with: cogworks run {scene.issue_url}" in ended.told["message"]
    assert "Traceback" not in ended.err
    assert scene.state()["leases"] == []

    again = scene.cogworks("process", "--json").told

    assert (again["outcome"], again["node"]) == ("succeeded", "code_generation@A")


def test_an_interrupted_run_says_it_once(scene: Scene) -> None:
    ended = scene.interrupted("run", until=_is_working, by=signal.SIGINT)

    assert (ended.code, ended.out) == (130, "")
    assert ended.err.count("Go on with: cogworks run") == 1
    assert "Traceback" not in ended.err
    assert scene.state()["leases"] == []
