"""A base whose tests cannot all be loaded, on a real hub: nothing is paid for, or what was not run is said first."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cogworks.demo.facts import TRIGGER, sample_files
from tests.end_to_end.scene import Ended, Scene, open_scene
from tests.end_to_end.test_example_pipelines import (
    FOLDER,
    HOURS,
    IMPLEMENTED,
    PASSED,
    PLAN,
    SPECIFICATION,
    classified,
    text_of,
    written,
)
from tests.model_server import ModelServer, replied

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),  # seconds on a busy machine; usually a tenth of that
]

CONFIG = ".cogworks/config.toml"
UNLOADED = "tests/test_arithmetic.py"
FIRST_NODE = "intake"
ARITHMETIC = "src/hourglass/arithmetic.py"
INIT = "src/hourglass/__init__.py"


def without(text: str, *functions: str) -> str:
    """A module's text without these functions, and without their names where it exports them."""
    lines, is_kept = [], True
    for line in text.splitlines(keepends=True):
        if not line.startswith((" ", "\n", ")")):
            is_kept = not line.startswith(tuple(f"def {name}(" for name in functions))
        if is_kept and line.strip().strip('",') not in functions:
            lines.append(line)
    return "".join(lines)


def deleting() -> dict[str, Any]:
    """What is asked for, and two functions less."""
    gone = ("clamp", "mean")
    more = [
        {"path": path, "action": "modify", "content": text}
        for path in (ARITHMETIC, INIT)
        for text in [without(sample_files()[path], *gone).replace("clamp, mean, ", "")]
    ]
    beyond = [{"path": each["path"], "reason": "Nobody uses these two any more."} for each in more]
    return {**IMPLEMENTED, "files": [*IMPLEMENTED["files"], *more], "beyond_plan": beyond}


@contextmanager
def item(directory: Path, *, config: str = "") -> Iterator[tuple[Scene, ModelServer]]:
    """The sample item where one of the test files needs a package that nothing declares."""
    with open_scene(directory) as scene, ModelServer() as server:
        text = text_of("bugfix")
        for path in sorted([*FOLDER.glob("prompts/*"), *FOLDER.glob("schemas/*")]):
            if path.stem.removesuffix(".md") in text or path.stem.startswith("_"):
                scene.write(f".cogworks/{path.relative_to(FOLDER).as_posix()}", path.read_text("utf-8"))
        scene.write(".cogworks/pipeline.toml", text)
        scene.write(UNLOADED, f"import undeclared\n{scene.file(UNLOADED)}")
        scene.write(CONFIG, f"{scene.file(CONFIG)}\n{config}")
        scene.person.set_trigger()
        yield scene, server


def run(scene: Scene, server: ModelServer, *replies: Mapping[str, Any]) -> Ended:
    server.answers(*(replied(json.dumps(reply)) for reply in replies))
    model = {
        "COGWORKS_LLM_PROVIDER": "anthropic",
        "COGWORKS_LLM_API_KEY": "a-key-of-these-tests",
        "COGWORKS_LLM_BASE_URL": server.url,
    }
    return scene.cogworks("run", **model)


FIRST = "Not proven for `tests/test_arithmetic.py`, which could not be loaded: `ModuleNotFoundError: No module named 'undeclared'`."


def test_a_base_that_cannot_be_loaded_stops_the_item_before_its_first_model_call(tmp_path: Path) -> None:
    with item(tmp_path) as (scene, server):
        ended = run(scene, server)

        assert ended.code == 1
        assert server.seen == []
        [(node, _, _, status, summary)] = scene.visits()
        assert (node, status) == (FIRST_NODE, "failed")
        assert summary.splitlines()[0] == (
            "baseline: `tests/test_arithmetic.py` cannot be loaded: `ModuleNotFoundError: No module named "
            "'undeclared'` (at `tests/test_arithmetic.py:1`). This is so before any change. Tests that cannot be loaded "
            "guard nothing, so the model was not asked."
        )
        assert 'under `[environment]`: `packages = ["undeclared"]`' in summary
        assert summary in ended.out + ended.err
        assert summary.splitlines()[0] in comment_of(scene)
        assert scene.state()["visits"][-1]["spend"]["input_tokens"] == 0
        assert scene.seen()["pullRequests"]["nodes"] == []

        scene.write(UNLOADED, sample_files()[UNLOADED])
        scene.repository.get_issue(1).remove_from_labels(TRIGGER)
        scene.person.set_trigger()
        replies = (classified(), SPECIFICATION, PLAN, written(HOURS), IMPLEMENTED, PASSED, PASSED, PASSED)
        mended = run(scene, server, *replies)

        assert mended.code == 0, mended.err
        [pull] = scene.seen()["pullRequests"]["nodes"]
        assert "No test that passed before fails, is skipped or is gone." in pull["body"]


def test_where_it_is_allowed_everything_begins_with_what_could_not_be_run(tmp_path: Path) -> None:
    with item(tmp_path, config='[tests]\nbaseline = "allow-failing"\n') as (scene, server):
        replies = (classified(), SPECIFICATION, PLAN, written(HOURS), deleting(), PASSED, PASSED, PASSED)
        ended = run(scene, server, *replies)

        assert ended.code == 0, ended.err
        [pull] = scene.seen()["pullRequests"]["nodes"]
        assert pull["body"].splitlines()[0] == f"> {FIRST}"
        assert "No test that passed before" not in pull["body"]
        assert "No test that could be run and passed before fails" in pull["body"]
        assert f"code_generation@A: {FIRST}" in ended.err
        assert f"integration@A: {FIRST}" in ended.out + ended.err
        assert comment_of(scene).index(FIRST) < comment_of(scene).index("mermaid")


def test_nothing_but_the_handed_over_tests_is_run_where_no_baseline_is_wanted(tmp_path: Path) -> None:
    with item(tmp_path, config='[tests]\nbaseline = "none"\n') as (scene, server):
        replies = (classified(), SPECIFICATION, PLAN, written(HOURS), deleting(), PASSED, PASSED, PASSED)
        ended = run(scene, server, *replies)

        assert ended.code == 0, ended.err
        [pull] = scene.seen()["pullRequests"]["nodes"]
        assert pull["body"].startswith(
            '> Not proven against the tests that were there before: `[tests] baseline = "none"`'
        )
        assert "1 test passes, 1 of them new." in pull["body"]
        assert "No test that passed before" not in pull["body"]


def comment_of(scene: Scene) -> str:
    """The status comment."""
    [issue, *_] = scene.seen()["issues"]["nodes"]
    [body] = [each["body"] for each in issue["comments"]["nodes"] if "### cogworks" in each["body"]]
    return str(body)
