"""Two runners of one item, each a process of its own, and one budget that holds a call of either but not of both."""

import json
import threading
import tomllib
from pathlib import Path

import pytest
import tomli_w

from cogworks.llm.provider import Usage
from tests.end_to_end.scene import Scene, open_scene
from tests.end_to_end.test_fan_out import CODE, finish, pipeline_file, planned, recorded, start
from tests.model_server import Answer, ModelServer, Seen, replied

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
]  # seconds on a busy machine; usually a tenth of that

PATIENCE_S = 120.0
FIRST = ("intake", "architecture", "interface_design")
DEAR = Usage(input_tokens=20_000, output_tokens=95_000)
"""95 cents of the dollar that a call may cost, and 115 000 tokens."""
LIMITS: dict[str, dict[str, float]] = {
    "dollars": {"pipeline_max_cost_dollars": 1.5, "pipeline_max_tokens": 5_000_000},
    "tokens": {"pipeline_max_cost_dollars": 100.0, "pipeline_max_tokens": 200_000},
}


def configured(scene: Scene, limits: dict[str, float]) -> None:
    path = ".cogworks/config.toml"
    config = tomllib.loads(scene.file(path) or "")
    config["llm"]["max_output_tokens"] = 100_000
    free = dict.fromkeys(("input", "cache_write", "cache_read"), 0)
    config["llm"]["prices"] = {config["llm"]["model"]: {**free, "output": 10}}
    scene.write(path, tomli_w.dumps({**config, "ledger": {"checkpoint_usd": 0.01}, "budgets": limits}))


def planned_two() -> dict[str, object]:
    first, second, _ = planned()["sub_work_items"]
    return {"sub_work_items": [first, second]}


@pytest.mark.parametrize("limits", LIMITS.values(), ids=list(LIMITS))
def test_two_processes_of_one_item_never_spend_more_than_there_is(
    tmp_path: Path, limits: dict[str, float]
) -> None:
    is_asked, may_answer = threading.Event(), threading.Event()
    code = replied(json.dumps(CODE), usage=DEAR)

    def asked(seen: Seen) -> Answer:
        if seen.path.endswith("/count_tokens"):
            return Answer(404, b"{}")
        if is_asked.is_set():
            may_answer.set()
        # The first is under way for as long as the other runner may come to ask as well.
        is_asked.set()
        may_answer.wait(PATIENCE_S)
        return code

    with ModelServer() as model, open_scene(tmp_path / "scene") as scene:
        begun = [replied(json.dumps(recorded(f"{node}-1"))) for node in FIRST]
        model.answers(*begun, replied(json.dumps(planned_two())), *[asked] * 6)
        speaks = {
            "COGWORKS_LLM_PROVIDER": "anthropic",
            "COGWORKS_LLM_API_KEY": "a-key-of-these-tests",
            "COGWORKS_LLM_BASE_URL": model.url,
        }
        scene.write(".cogworks/pipeline.toml", pipeline_file())
        scene.let_tests_come_with_the_code()
        configured(scene, limits)
        scene.person.set_trigger()
        for _ in range(4):
            ended = scene.cogworks("process", "--json", **speaks)
            assert ended.told["outcome"] == "succeeded", ended.out
        one = start(scene, "machine-one", speaks)
        assert is_asked.wait(PATIENCE_S)
        other = finish(start(scene, "machine-other", speaks))
        was_asked_twice = may_answer.is_set()
        may_answer.set()
        ended = finish(one)
        again = scene.cogworks("process", "--json", **speaks)
        state, checked = scene.state(), scene.cogworks("fsck", "--json")

    assert (ended.code, ended.told["node"]) == (0, "code_generation@A"), ended
    assert (other.code, other.told["outcome"]) == (5, "budget_reached"), other
    assert "spent or reserved, and the next call of code_generation@B needs up to" in other.told["message"]
    assert not was_asked_twice
    assert (again.code, again.told["requests"]) == (5, {"graphql": 1, "rest": 0, "git": 0}), again
    spends = [each["spend"] for each in state["visits"]] + [each["spent"] for each in state["given_back"]]
    assert 0.95 <= sum(each["cost_usd"] for each in spends) <= 1.5
    assert 115_000 <= sum(each["input_tokens"] + each["output_tokens"] for each in spends) <= 200_000
    assert (state["leases"], checked.code) == ([], 0), checked
