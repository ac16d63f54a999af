import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.pipeline.graph import Instance
from cogworks.pipeline.parser import built_in_pipelines
from cogworks.pipeline.render import View, as_json, dot, mermaid
from cogworks.vocabulary import NodeId, SubItemKey
from tests.pipeline.graphs import document, edge, loop, parse, pipeline, sub_items

SMALL = pipeline("plan *code *&review", [edge("plan>code"), edge("code>review"), loop("review>code")])


def test_mermaid_puts_the_sub_item_nodes_in_a_box() -> None:
    assert mermaid(SMALL) == (
        "flowchart TD\n"
        '  n_plan(["Plan"])\n'
        '  subgraph each["for each sub#45;work#45;item"]\n'
        '    n_code(["Code"])\n'
        '    n_review(["Review"])\n'
        "  end\n"
        "  n_plan --> n_code\n"
        "  n_code --> n_review\n"
        '  n_review -.->|"again == true, at most 2 times"| n_code\n'
    )


def test_mermaid_of_a_run_has_a_box_per_sub_item_and_marks_states() -> None:
    views: dict[Instance, View] = {
        Instance(NodeId("plan")): "done",
        Instance(NodeId("code"), SubItemKey("A")): "current",
    }

    assert mermaid(SMALL, views, sub_items("B:A A")) == (
        "flowchart TD\n"
        '  n_plan(["Plan: done"]):::done\n'
        '  subgraph s1["sub#45;work#45;item A"]\n'
        '    s1_code(["Code: current"]):::current\n'
        '    s1_review(["Review"])\n'
        "  end\n"
        '  subgraph s2["sub#45;work#45;item B"]\n'
        '    s2_code(["Code"])\n'
        '    s2_review(["Review"])\n'
        "  end\n"
        "  n_plan --> s1_code\n"
        "  n_plan --> s2_code\n"
        "  s1_code --> s1_review\n"
        "  s2_code --> s2_review\n"
        '  s1_review -.->|"again == true, at most 2 times"| s1_code\n'
        '  s2_review -.->|"again == true, at most 2 times"| s2_code\n'
        "  classDef current fill:#ddf4ff,stroke:#0969da,color:#1f2328\n"
        "  classDef done fill:#dafbe1,stroke:#1a7f37,color:#1f2328\n"
    )


@given(st.text(min_size=1, max_size=200).filter(str.strip))
def test_no_title_breaks_out_of_its_label(title: str) -> None:
    node = {"id": "end", "type": "llm", "title": title}
    lines = mermaid(pipeline([node])).splitlines()

    assert len(lines) == 2
    label = re.fullmatch(r'  n_end\(\["(.*)"\]\)', lines[1])
    assert label is not None
    assert re.fullmatch(r"(#\d+;|[\w .,:?!=/()…])*", label[1])


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("Code style:#tag", "Code style#58;#35;tag"),
        ("Now: done", "Now: done"),
        ("\u202e\u200b", "end"),
        ("** end _of_ 1. //", "#42;#42; end #95;of#95; 1#46; #47;/"),
    ],
    ids=["mermaid would eat the end of an entity", "a plain colon", "nothing to see", "Markdown"],
)
def test_a_title_is_written_so_that_mermaid_shows_it_as_it_is(title: str, label: str) -> None:
    node = {"id": "end", "type": "llm", "title": title}

    assert mermaid(pipeline([node])) == f'flowchart TD\n  n_end(["{label}"])\n'


@given(st.text(min_size=1, max_size=200).filter(str.strip))
def test_dot_labels_are_quoted(title: str) -> None:
    node = {"id": "a", "type": "llm", "title": title}
    lines = dot(pipeline([node])).split("\n")

    label = re.fullmatch(r'  "n_a" \[label=(".*"), shape=oval\]', lines[3])
    assert label is not None
    assert '"' not in json.loads(label[1]).replace('"', "")


def test_dot_draws_the_same_picture() -> None:
    views: dict[Instance, View] = {Instance(NodeId("plan")): "failed"}

    assert dot(SMALL, views) == (
        'digraph "default" {\n'
        '  node [fontname="sans-serif"]\n'
        "  rankdir=TB\n"
        '  "n_plan" [label="Plan: failed", shape=oval, style=filled, fillcolor="#ffebe9", color="#cf222e"]\n'
        '  subgraph "cluster_each" {\n'
        '    label="for each sub-work-item"\n'
        '    "n_code" [label="Code", shape=oval]\n'
        '    "n_review" [label="Review", shape=oval]\n'
        "  }\n"
        '  "n_plan" -> "n_code"\n'
        '  "n_code" -> "n_review"\n'
        '  "n_review" -> "n_code" [label="again == true, at most 2 times", style=dashed]\n'
        "}\n"
    )


def test_json_holds_the_whole_graph_and_its_hash() -> None:
    default = built_in_pipelines().choose()

    document = json.loads(json.dumps(as_json(default, {Instance(NodeId("intake")): "done"})))

    assert document["graph_hash"] == default.graph_hash
    assert [node["id"] for node in document["nodes"]] == [node.id for node in default.nodes]
    assert document["instances"] == [{"node": "intake", "sub_item": None, "state": "done"}]


def test_gates_of_a_boundary_are_told_for_each_class_or_for_the_run_at_hand() -> None:
    file = document("a b", "a>b")
    file["pipelines"]["default"]["shift_work"] = {"standard": "a", "safety-critical": "b"}
    graph = parse(file)

    assert 'label="A (human gate if safety-critical or standard)"' in dot(graph)
    assert 'label="B (human gate if safety-critical)"' in dot(graph)
    assert 'label="A (human gate)"' in dot(graph, gated=frozenset({NodeId("a")}))
    assert 'label="B"' in dot(graph, gated=frozenset({NodeId("a")}))
    assert as_json(graph, {}, frozenset({NodeId("a")}))["gated"] == ["a"]
