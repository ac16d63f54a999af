"""A choice of pipelines and a question to a model, on a real hub with a model server that speaks the provider's protocol."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomli_w

from tests.end_to_end.scene import Scene, open_scene
from tests.model_server import ModelServer, replied
from tests.nodes.examples import CLASSIFICATION, output
from tests.pipeline.graphs import document, edge

# Seconds on a busy machine; usually a tenth of that.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

INTAKE = {
    "id": "intake",
    "type": "llm",
    "outputs": ["classification"],
    "evaluation": "first-matching",
    "cost_budget_usd": 1.0,
}
DESIGN = {"id": "architecture", "type": "llm", "inputs": ["classification"], "outputs": ["specification"]}
LOOK = {"id": "interface_design", "type": "llm", "inputs": ["classification"], "outputs": ["interfaces"]}
FIX = document(
    [INTAKE, DESIGN, LOOK],
    [
        edge("intake>architecture", condition={"llm": "The issue asks for a new command", "fallback": True}),
        edge("intake>interface_design"),
    ],
)
PIPELINES = {
    "default": "feature",
    "pipelines": {
        "feature": {
            "description": "Something new",
            **document([INTAKE, DESIGN], "intake>architecture")["pipelines"]["default"],
        },
        "fix": {
            "description": "Something broken",
            "shift_work": {"low-risk": "intake"},
            **FIX["pipelines"]["default"],
        },
    },
}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with open_scene(Path(tmp_path_factory.mktemp("routing"))) as opened:
        opened.write(".cogworks/pipeline.toml", tomli_w.dumps(PIPELINES))
        opened.person.set_trigger()
        yield opened


def test_an_item_chooses_its_pipeline_and_a_model_says_where_it_goes_on(scene: Scene) -> None:
    modules = {"affected_modules": [scene.git("ls-tree", "--name-only", "HEAD", "src/").splitlines()[0]]}
    classified = {**output(CLASSIFICATION), **modules, "pipeline": "fix"}
    told = {"answer": "no", "reason": "It tells of a wrong result."}
    with ModelServer() as server:
        model = {
            "COGWORKS_LLM_PROVIDER": "anthropic",
            "COGWORKS_LLM_API_KEY": "sk-test",
            "COGWORKS_LLM_BASE_URL": server.url,
        }
        server.answers(replied(json.dumps(classified)), replied(json.dumps(told)))

        first = scene.cogworks("process", "--json", **model).told
        waiting = scene.cogworks("process", "--json", **model).told
        repository_issue = scene.repository.get_issue(1)
        repository_issue.create_comment(waiting["waiting_for"][0]["paste"])
        routed = scene.cogworks("process", "--json", **model).told
        asked = [json.dumps(seen.body) for seen in server.seen]

    assert (first["outcome"], first["node"]) == ("succeeded", "intake")
    assert "- `fix`: Something broken" in asked[0]
    assert (waiting["outcome"], len(asked)) == ("waiting", 2)
    assert (routed["outcome"], routed["node"]) == ("succeeded", "intake-routing")
    assert "The issue asks for a new command" in asked[1]
    state = scene.state()
    assert (state["pipeline"], state["complexity"]) == ("fix", "low")
    assert state["marks"] == {"intake_to_architecture": "not_taken", "intake_to_interface_design": "taken"}
    kept = json.loads(scene.git("show", "cogworks/ledger/1:visits/0002-intake-routing/edges.json"))
    assert [(each["edge_id"], each["result"], each["evaluator"]["kind"]) for each in kept] == [
        ("intake_to_architecture", False, "LlmModel"),
        ("intake_to_interface_design", True, "Deterministic"),
    ]
    log = scene.cogworks("log").out
    assert "succeeded: intake_to_architecture=false(model) intake_to_interface_design=true" in " ".join(
        log.split()
    )
    assert "Shift-work boundary" in json.dumps(scene.seen())
    assert scene.cogworks("fsck").code == 0
