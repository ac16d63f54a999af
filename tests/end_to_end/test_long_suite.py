"""A base whose suite takes longer than one run may, on a real hub: killed in the middle, and gone on with by the next step."""

import json
import signal
from pathlib import Path

import pytest

from cogworks.demo.facts import sample_files
from tests.end_to_end.scene import open_scene
from tests.end_to_end.test_broken_bases import CONFIG, PROJECT
from tests.end_to_end.test_example_pipelines import classified
from tests.model_server import ModelServer, replied

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),  # seconds on a busy machine; usually a third of that
]
FILES = [f"tests/test_slow_{n}.py" for n in range(6)]
SLEEPS = "import time\n\n\ndef test_sleeps():\n    time.sleep(3)\n"
"""Six of them are twice the limit; the first comes to its end within it, however long the start takes on a busy machine."""


def test_a_step_that_is_killed_in_the_middle_of_a_long_suite_is_gone_on_with_and_no_file_runs_twice(
    tmp_path: Path,
) -> None:
    with open_scene(tmp_path) as scene, ModelServer() as server:
        scene.write("pyproject.toml", PROJECT)
        scene.write(CONFIG, f"{scene.file(CONFIG) or ''}\n[tests]\ntimeout_s = 10\n")
        for path in FILES:
            scene.write(path, SLEEPS)
        model = {
            "COGWORKS_LLM_PROVIDER": "anthropic",
            "COGWORKS_LLM_API_KEY": "a-key-of-these-tests",
            "COGWORKS_LLM_BASE_URL": server.url,
        }
        scene.person.set_trigger()

        scene.interrupted("process", until=lambda line: " files are left" in line, by=signal.SIGKILL, **model)

        kept = json.loads(scene.git("show", "cogworks/ledger/1:visits/0001-intake/baseline-so-far.json"))
        done = {case["id"].split("::")[0] for case in kept["report"]["cases"]}
        left = set(kept["report"]["left"])
        assert done
        assert left
        assert not done & left
        assert {*FILES} <= done | left
        assert server.seen == []

        server.answers(replied(json.dumps(classified())))
        again = scene.cogworks("process", "--take-over", **model)

        assert again.code == 0, again.err
        assert "  baseline: going on where an earlier step was: " in again.err
        assert "  baseline: running the test suite: " in again.err
        state = scene.state()
        [visit] = state["visits"]
        assert (visit["node"], visit["status"], visit["attempt"]) == ("intake", "succeeded", 2)
        base = json.loads(scene.git("show", f"cogworks/ledger/1:{state['base']['path']}"))
        own = sum(
            text.count("def test_") for path, text in sample_files().items() if path.startswith("tests/")
        )
        assert base["passed"] >= len(FILES) + min(own, 1)
        assert base["runs"] >= 2
        assert base["slowest"]
        assert f"run in {base['runs']} parts" in state["base"]["line"]
