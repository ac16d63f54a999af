"""A base whose suite takes longer than one run may, on a real hub: killed in the middle, and gone on with by the next step."""

import json
import signal
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cogworks.demo.facts import sample_files
from tests.end_to_end import played
from tests.end_to_end.scene import Scene, open_scene
from tests.end_to_end.test_broken_bases import CONFIG, PROJECT
from tests.end_to_end.test_example_pipelines import classified
from tests.end_to_end.test_other_languages import lay_out
from tests.model_server import ModelServer, replied
from tests.services.command.commanding import needs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),  # seconds on a busy machine; usually a third of that
]
SLEEPS = "import time\n\n\ndef test_sleeps():\n    time.sleep(3)\n"
"""Six of them are twice the limit; the first comes to its end within it, however long the start takes on a busy machine."""
NODE_SLEEPS = (
    'import { test } from "node:test";\n\n'
    'test("sleeps", async () => { await new Promise((done) => setTimeout(done, 3000)); });\n'
)


class Long(NamedTuple):
    """A repository with a suite that takes long."""

    files: tuple[str, ...]
    """Those of its tests that sleep."""
    text: str
    """Of each."""
    own: int
    """Tests that it has besides."""
    lay_out: Callable[[Scene], None]
    reply: Mapping[str, Any]
    """What the model says of the issue."""
    stops: int
    """How often something is left before the first file is done: a suite of another language is run as a whole first."""


def python(scene: Scene) -> None:
    scene.write("pyproject.toml", PROJECT)


def javascript(scene: Scene) -> None:
    lay_out(scene, played.JAVASCRIPT)
    # One after the other, whatever this machine has of processors: together they would be done within the limit.
    scene.write(
        "package.json", '{"type": "module", "scripts": {"test": "node --test --test-concurrency=1"}}\n'
    )


PYTHON = Long(
    tuple(f"tests/test_slow_{n}.py" for n in range(6)),
    SLEEPS,
    sum(text.count("def test_") for path, text in sample_files().items() if path.startswith("tests/")),
    python,
    classified(),
    1,
)
JAVASCRIPT = Long(
    tuple(f"test/slow{n}.test.js" for n in range(6)),
    NODE_SLEEPS,
    1,
    javascript,
    played.replies_of(played.JAVASCRIPT)[0],
    2,
)


@pytest.mark.parametrize(
    "long",
    [pytest.param(PYTHON, id="python"), pytest.param(JAVASCRIPT, id="javascript", marks=needs("node"))],
)
def test_a_step_that_is_killed_in_the_middle_of_a_long_suite_is_gone_on_with_and_no_file_runs_twice(
    long: Long, tmp_path: Path
) -> None:
    with open_scene(tmp_path) as scene, ModelServer() as server:
        long.lay_out(scene)
        scene.write(CONFIG, f"{scene.file(CONFIG) or ''}\n[tests]\ntimeout_s = 10\n")
        for path in long.files:
            scene.write(path, long.text)
        model = {
            "COGWORKS_LLM_PROVIDER": "anthropic",
            "COGWORKS_LLM_API_KEY": "a-key-of-these-tests",
            "COGWORKS_LLM_BASE_URL": server.url,
        }
        scene.person.set_trigger()

        seen = count(1)
        scene.interrupted(
            "process",
            until=lambda line: " files are left" in line and next(seen) == long.stops,
            by=signal.SIGKILL,
            **model,
        )

        kept = json.loads(scene.git("show", "cogworks/ledger/1:visits/0001-intake/baseline-so-far.json"))
        done = {case["id"].split("::")[0] for case in kept["report"]["cases"]}
        left = set(kept["report"]["left"])
        assert done
        assert left
        assert not done & left
        assert {*long.files} <= done | left
        assert server.seen == []

        server.answers(replied(json.dumps(long.reply)))
        again = scene.cogworks("process", "--take-over", **model)

        assert again.code == 0, again.err
        assert "  baseline: going on where an earlier step was: " in again.err
        assert "  baseline: running the test suite: " in again.err
        state = scene.state()
        [visit] = state["visits"]
        assert (visit["node"], visit["status"], visit["attempt"]) == ("intake", "succeeded", 2)
        base = json.loads(scene.git("show", f"cogworks/ledger/1:{state['base']['path']}"))
        assert base["passed"] >= len(long.files) + min(long.own, 1)
        assert base["runs"] >= 2
        assert base["slowest"]
        assert f"run in {base['runs']} parts" in state["base"]["line"]
