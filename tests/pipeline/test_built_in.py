import pytest

from cogworks.pipeline.elements import EdgeId
from cogworks.pipeline.frontier import EdgeRef, Instance, instances, out_edges_after
from cogworks.pipeline.gates import gate_of, work_class
from cogworks.pipeline.parser import built_in_pipelines
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import NodeId, SubItemKey
from tests.pipeline.graphs import sub_items
from tests.pipeline.runs import new_run

DEFAULT = built_in_pipelines().choose()


def test_the_default_pipeline_has_the_seven_nodes_and_no_warnings() -> None:
    assert built_in_pipelines().warnings == ()
    assert [(node.id, node.scope, node.type, node.outputs) for node in DEFAULT.nodes] == [
        ("intake", "item", "llm", ("classification",)),
        ("architecture", "item", "llm", ("specification",)),
        ("interface_design", "item", "llm", ("interfaces",)),
        ("planning", "item", "llm", ("plan",)),
        ("code_generation", "sub-item", "llm", ("code",)),
        ("review", "sub-item", "llm", ("review",)),
        ("integration", "sub-item", "deterministic", ("integration",)),
    ]


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("default", "1e5513acf5547710e687a37644458d0842fa1af2386397e0d65ef88e54ecd552"),
        ("default", "37c289d3b25bd30fc8ebfc23f123a18f04ef2acd4b3d736b0d6e35df6074334c"),
        ("small", "5932b285fa04b92030eb20567809b8198d2f5334bb2832d3f10712ac6b646328"),
    ],
)
def test_a_run_of_a_built_in_pipeline_as_it_was_goes_on(name: str, before: str) -> None:
    pipeline = built_in_pipelines().pipelines[name]
    state = new_run(pipeline)
    kept = state.model_dump_json().replace(state.graph_hash, before)

    assert before in kept
    assert RunState.model_validate_json(kept).graph_hash == pipeline.graph_hash


def test_gates_of_the_default_pipeline() -> None:
    def gated(*, safety_critical: bool) -> list[str]:
        of = work_class(safety_critical=safety_critical, complexity="")
        return [node.id for node in DEFAULT.nodes if gate_of(DEFAULT, node, of) == "human-gated"]

    assert gated(safety_critical=False) == ["architecture", "interface_design"]
    assert gated(safety_critical=True) == ["architecture", "interface_design", "code_generation", "review"]


def test_review_sends_back_five_times_and_then_escalates() -> None:
    review = Instance(NodeId("review"), SubItemKey("A"))
    bad, good = {"review": {"passed": False}}, {"review": {"passed": True}}

    def after(view: dict[str, dict[str, bool]], count: int) -> tuple[str | None, str | None, list[str]]:
        counts = {EdgeRef(EdgeId("review_to_code_generation"), SubItemKey("A")): count}
        verdict = out_edges_after(DEFAULT, review, view, counts)
        return verdict.rework, verdict.overflow, [ref.edge for ref in verdict.marks]

    assert after(bad, 4) == ("review_to_code_generation", None, [])
    assert after(bad, 5) == (None, "escalate", [])
    assert after(good, 5) == (None, None, ["review_to_integration"])


def test_a_review_that_passes_and_gives_a_fix_sends_back_for_it() -> None:
    review = Instance(NodeId("review"), SubItemKey("A"))

    def goes_to(**said: bool) -> tuple[str | None, list[str]]:
        verdict = out_edges_after(DEFAULT, review, {"review": said}, {})
        return verdict.rework, [ref.edge for ref in verdict.marks]

    assert goes_to(passed=True, mending=True) == ("review_to_code_generation", [])
    assert goes_to(passed=True, mending=False) == (None, ["review_to_integration"])


def test_code_generation_starts_without_a_review() -> None:
    assert DEFAULT.required_inputs(NodeId("code_generation")) == (
        "classification",
        "specification",
        "interfaces",
        "plan",
    )


def test_each_sub_item_is_coded_reviewed_and_integrated() -> None:
    order = [f"{node}@{key}" if key else node for node, key in instances(DEFAULT, sub_items("A B:A"))]

    assert order == [
        "intake",
        "architecture",
        "interface_design",
        "planning",
        "code_generation@A",
        "review@A",
        "integration@A",
        "code_generation@B",
        "review@B",
        "integration@B",
    ]
