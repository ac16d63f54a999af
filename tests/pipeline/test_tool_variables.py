from typing import Any

import pytest

from cogworks.pipeline.tool_variables import tool_problems
from tests.pipeline.graphs import pipeline

GRAPH = pipeline([{"id": "code", "type": "llm", "tool_profile": "generator"}])


def found(inputs: dict[str, Any]) -> tuple[str, ...]:
    return tool_problems(GRAPH, GRAPH.nodes[0], inputs)


@pytest.mark.parametrize(
    "inputs",
    [{"classification": {"affected_modules": ["src"]}}, {"affected_modules": "src"}],
    ids=["field", "slot"],
)
def test_a_variable_with_a_value_lets_the_node_start(inputs: dict[str, Any]) -> None:
    assert found(inputs) == ()


@pytest.mark.parametrize(
    ("inputs", "word"),
    [
        ({}, "in none of its inputs"),
        ({"classification": {"affected_modules": []}}, "is empty"),
        ({"classification": {"affected_modules": [" "]}}, "is empty"),
    ],
    ids=["unknown", "empty-list", "blank"],
)
def test_a_variable_without_one_is_named_with_its_tool(inputs: dict[str, Any], word: str) -> None:
    problems = found(inputs)

    assert len(problems) == 3
    assert problems[0].startswith(
        "tool profile 'generator': `fs.write.allowed_write_paths` needs {{affected_modules}}"
    )
    assert word in problems[0]


def test_nodes_that_ask_no_model_have_no_tools() -> None:
    graph = pipeline([{"id": "ship", "type": "deterministic", "tool_profile": "generator"}])

    assert tool_problems(graph, graph.nodes[0], {}) == ()
