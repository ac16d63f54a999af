"""A program of the operator as the model of a whole step, on a real hub: the script of the documentation and what it starts."""

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.scene import Scene, open_scene
from tests.nodes.examples import CLASSIFICATION, output

# Seconds on a busy machine; usually a tenth of that.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "models" / "ask.py"
CONFIG = """
[llm]
model = "a-model-of-ours"
provider = "command"
[llm.prices."a-model-of-ours"]
input = 0
output = 0
cache_write = 0
cache_read = 0
"""
PROGRAM = """
import os, pathlib, sys, time
here = pathlib.Path(__file__).parent
asked = len(list(here.glob("prompt-*")))
(here / f"prompt-{asked}").write_text(sys.stdin.read(), "utf-8")
answer = here / f"answer-{asked}"
# Longer than it takes until those who wait are told.
time.sleep(0 if asked else 3)
if not answer.exists():
    sys.exit("no more questions this hour, says the subscription")
print("Here it is:", "```json", answer.read_text("utf-8"), "```", sep="\\n")
"""
"""Answers as such programs do, or says why it does not."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with open_scene(Path(tmp_path_factory.mktemp("own-model"))) as opened:
        opened.write(".cogworks/config.toml", CONFIG)
        opened.person.set_trigger()
        yield opened


def test_the_script_of_the_documentation_asks_a_program_for_the_whole_of_intake(
    scene: Scene, tmp_path: Path
) -> None:
    program = tmp_path / "model.py"
    program.write_text(PROGRAM)
    modules = {"affected_modules": [scene.git("ls-tree", "--name-only", "HEAD", "src/").splitlines()[0]]}
    classified = {**output(CLASSIFICATION), **modules}
    (tmp_path / "answer-1").write_text(json.dumps({**classified, "complexity": "enormous"}), "utf-8")
    (tmp_path / "answer-2").write_text(json.dumps(classified), "utf-8")
    own = {
        "COGWORKS_LLM_PROVIDER": "",
        "COGWORKS_LLM_COMMAND": shlex.join([sys.executable, str(SCRIPT), sys.executable, str(program)]),
    }

    refused = scene.cogworks("process", "--json", **own)
    done = scene.cogworks("process", "--json", **own)

    assert refused.code == 75, refused
    assert "no more questions this hour, says the subscription" in refused.told["message"]
    assert "waiting for a-model-of-ours: 2 s of at most" in refused.err
    assert (done.code, done.told["outcome"], done.told["node"]) == (0, "succeeded", "intake"), done
    prompts = [(tmp_path / f"prompt-{each}").read_text("utf-8") for each in range(3)]
    assert scene.repository.get_issue(1).title in prompts[0]
    assert prompts[1] == prompts[0]
    assert "enormous" in prompts[2]
    [visit] = [each for each in scene.state()["visits"] if each["status"] == "succeeded"]
    assert (visit["spend"]["model_calls"], visit["spend"]["cost_usd"]) == (2, 0.0)
    assert visit["spend"]["input_tokens"] > 2 * len(prompts[1]) // 4
    assert scene.cogworks("fsck").code == 0
