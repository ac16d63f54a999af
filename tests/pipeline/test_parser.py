import copy
from typing import Any

import pytest
import tomli_w

from cogworks.errors import ConfigurationError, UsageError
from cogworks.pipeline.elements import EdgeId
from cogworks.pipeline.graph import (
    AllOf,
    Edge,
    ExpressionCondition,
    ModelCondition,
    Node,
    PipelineConfiguration,
    Rework,
    Settings,
)
from cogworks.pipeline.parser import parse_pipelines
from cogworks.vocabulary import NodeId
from tests.pipeline.graphs import SOURCE, document, edge, parse

WHOLE_FORM = """
[settings]
max_concurrent_llm_calls = 4

[pipelines.feature]
start = "code"
[pipelines.feature.settings]
default_timeout_seconds = 1800
max_node_retries = 3
cost_budget_usd = 10.0

[[pipelines.feature.nodes]]
id = "code"
type = "llm"
outputs = ["code"]
inputs = ["review"]
produces_code = true
slug = "swi"
timeout_seconds = 60
cost_budget_usd = 2
max_retries = 1
validation = "domain-service"

[[pipelines.feature.nodes]]
id = "review"
type = "llm"
inputs = ["code"]
outputs = ["review"]
gate = "human-gated"
evaluation = "first-matching"

[[pipelines.feature.nodes]]
id = "follow_up"
type = "spawning"
title = "File what is left"
prompt = ".cogworks/prompts/left.md.j2"
schema = ".cogworks/schemas/left.json"
issue_template = ".cogworks/templates/left.md"
labels = ["follow-up"]
link = false

[[pipelines.feature.edges]]
source = "code"
target = "review"

[[pipelines.feature.edges]]
id = "again"
source = "review"
target = "code"
condition = { all = [ { expr = "review.passed==false" },
                      { llm = "Findings concern implementation, not architecture", fallback = true } ] }
rework = { max_traversals = 3, preserve = ["review"], overflow = "take-edge", overflow_edge = "on" }

[[pipelines.feature.edges]]
id = "on"
source = "review"
target = "follow_up"
"""


def _problems(text: str) -> tuple[str, ...]:
    with pytest.raises(ConfigurationError) as refused:
        parse_pipelines(text, source=SOURCE)
    assert refused.value.source == SOURCE
    return refused.value.problems


def _problems_of(content: dict[str, Any]) -> tuple[str, ...]:
    return _problems(tomli_w.dumps(content))


def test_the_whole_form_is_read() -> None:
    found = parse_pipelines(WHOLE_FORM, source=SOURCE).choose()

    assert found.settings == Settings(
        default_timeout_seconds=1800, max_node_retries=3, cost_budget_usd=10.0, max_concurrent_llm_calls=4
    )
    assert found.nodes == (
        Node(
            id=NodeId("code"),
            type="llm",
            title="Code",
            inputs=("review",),
            outputs=("code",),
            produces_code=True,
            slug="swi",
            timeout_seconds=60,
            cost_budget_usd=2.0,
            max_retries=1,
            validation="domain-service",
        ),
        Node(
            id=NodeId("review"),
            type="llm",
            title="Review",
            inputs=("code",),
            outputs=("review",),
            gate="human-gated",
            evaluation="first-matching",
        ),
        Node(
            id=NodeId("follow_up"),
            type="spawning",
            title="File what is left",
            prompt=".cogworks/prompts/left.md.j2",
            output_schema=".cogworks/schemas/left.json",
            issue_template=".cogworks/templates/left.md",
            labels=("follow-up",),
            link=False,
        ),
    )
    question = ModelCondition(question="Findings concern implementation, not architecture", fallback=True)
    assert found.edges == (
        Edge(id=EdgeId("code_to_review"), source=NodeId("code"), target=NodeId("review")),
        Edge(
            id=EdgeId("again"),
            source=NodeId("review"),
            target=NodeId("code"),
            condition=AllOf(conditions=(ExpressionCondition(expr="review.passed == false"), question)),
            rework=Rework(
                max_traversals=3,
                preserve=("review",),
                overflow="take-edge",
                overflow_edge=EdgeId("on"),
            ),
        ),
        Edge(id=EdgeId("on"), source=NodeId("review"), target=NodeId("follow_up")),
    )
    assert (found.timeout_seconds(NodeId("code")), found.timeout_seconds(NodeId("review"))) == (60, 1800)
    assert (found.max_retries(NodeId("code")), found.max_retries(NodeId("review"))) == (1, 3)
    assert (found.cost_budget_usd(NodeId("code")), found.cost_budget_usd(NodeId("review"))) == (2.0, None)
    assert found.required_inputs(NodeId("code")) == ()
    assert found.required_inputs(NodeId("review")) == ("code",)


def test_all_problems_are_reported_at_once_with_table_and_key() -> None:
    text = """
surprise = 1
[pipelines.default]
start = "a"
[[pipelines.default.nodes]]
id = "a"
type = "lmm"
gate = "human"
timeout_seconds = 0
evalution = "first-matching"
[[pipelines.default.nodes]]
id = "B"
type = "llm"
inputs = ["x", 3, "x"]
[[pipelines.default.edges]]
source = "a"
target = "c"
condition = { expr = "a ==" }
rework = { max_traversals = 99 }
"""
    assert _problems(text) == (
        (
            "pipelines.default.nodes[0] (a): `type` is 'lmm', wanted one of llm, deterministic, spawning; "
            "did you mean 'llm'?"
        ),
        (
            "pipelines.default.nodes[0] (a): `gate` is 'human', wanted one of auto-proceed, human-gated; "
            "did you mean 'human-gated'?"
        ),
        "pipelines.default.nodes[0] (a): `timeout_seconds` is 0, wanted a whole number from 1 to 604800",
        "pipelines.default.nodes[0] (a): unknown key 'evalution'; did you mean 'evaluation'?",
        "pipelines.default.nodes[1]: `id` is 'B', wanted snake_case, at most 36 characters",
        (
            "pipelines.default.nodes[1] (B): `inputs` holds 3, wanted snake_case, at most 40 characters, "
            "not 'retry_count'"
        ),
        "pipelines.default.nodes[1] (B): `inputs` holds 'x' more than once",
        "pipelines.default.edges[0] (a_to_c).condition: `expr` is 'a ==': column 5: expected a value, found the end",
        "pipelines.default.edges[0] (a_to_c).rework: `max_traversals` is 99, wanted a whole number from 1 to 20",
        "pipelines.default: edge 'a_to_c': `target` is 'c', which is not a node",
        "pipelines.default: node 'B' has no edges; connect it or remove it",
        "unknown key 'surprise'",
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("= 3", "is not TOML: "),
        ("a = " + "[" * 5_000, "is nested too deeply to be read as TOML"),
        ("a = " + "9" * 5_000, "holds a number of thousands of digits (at line 1)"),
        ("#" * 1_000_001, "has 1000001 characters, at most 1000000 are allowed"),
        ("", "declares no pipelines; add [pipelines.<name>] or remove the file to use the built-in one"),
        ("pipelines = 3", "pipelines"),
        ("[pipelines.x]", "pipelines.x: `start` is missing"),
        ("[pipelines.'Über Plan']\nstart='a'", "pipelines: 'Über Plan' is not a name of small letters"),
    ],
    ids=["syntax", "depth", "digits", "length", "empty", "wrong-type", "no-start", "name"],
)
def test_a_file_that_is_no_pipeline_file_is_one_clear_error(text: str, problem: str) -> None:
    assert any(problem in found for found in _problems(text))


def test_a_key_of_another_node_type_is_refused() -> None:
    nodes: list[dict[str, object]] = [
        {"id": "a", "type": "deterministic", "method": "script", "call": "x.sh", "prompt": "p.md.j2"},
        {"id": "b", "type": "spawning"},
        {"id": "c", "type": "llm", "labels": ["x"]},
    ]
    assert _problems_of(document(nodes, "a>b b>c")) == (
        (
            "pipelines.default.nodes[0] (a): `prompt` is for llm and spawning nodes only, and this one is deterministic; "
            "remove it"
        ),
        (
            "pipelines.default.nodes[0] (a): `method` is 'script', which only built-in pipelines may use; "
            "call a domain service instead"
        ),
        "pipelines.default.nodes[1] (b): `prompt` is missing",
        "pipelines.default.nodes[2] (c): `labels` is for deterministic and spawning nodes only, and this one is llm; remove it",
    )


def test_built_in_files_may_run_scripts() -> None:
    node = {"id": "a", "type": "deterministic", "method": "script", "call": "scripts/a"}
    text = tomli_w.dumps(document([node]))

    assert parse_pipelines(text, source=SOURCE, built_in=True).choose().node(NodeId("a")).call == "scripts/a"


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ({}, ": has none of `expr`, `llm`, `all`, `any`, `not`; wanted exactly one"),
        (
            {"expr": "a", "llm": "b"},
            ": has expr and llm of `expr`, `llm`, `all`, `any`, `not`; wanted exactly one",
        ),
        ({"llm": "is it?"}, ": `fallback` is missing"),
        ({"expr": "a", "fallback": True}, ": unknown key 'fallback'"),
        ({"all": []}, ": `all` is empty, wanted at least one condition"),
        ({"all": "a"}, ": `all` is 'a', wanted a list of tables"),
        (
            {"any": [{"not": {"expr": "a =="}}]},
            ".any[0].not: `expr` is 'a ==': column 5: expected a value, found the end",
        ),
    ],
)
def test_a_wrong_condition_is_found_at_any_depth(condition: dict[str, Any], problem: str) -> None:
    content = document("a b", [edge("a>b", condition=condition)])

    assert _problems_of(content) == (f"pipelines.default.edges[0] (a_to_b).condition{problem}",)


def test_conditions_are_not_nested_for_ever() -> None:
    condition: dict[str, Any] = {"expr": "a"}
    for _ in range(8):
        condition = {"not": condition}

    assert (
        "nested deeper than 8 levels" in _problems_of(document("a b", [edge("a>b", condition=condition)]))[0]
    )


def test_keys_that_nothing_would_obey_are_refused_with_what_to_do_instead() -> None:
    node = {"id": "a", "type": "llm", "tool_profile": "x", "tool_overrides": {}, "alignment": {"llm": True}}
    back = {"max_traversals": 1, "semantics": "retry", "counter": "retry"}
    content = document(
        [node, {"id": "b", "type": "llm", "evaluation": "first-matching"}],
        [edge("a>b"), edge("b>a", rework=back)],
    )
    content["tool_profiles"] = {"x": {"tools": ["fs.read"]}}
    content["pipelines"]["default"] |= {"tool_profiles": {}, "default_tool_profile": "x"}

    profiles = (
        "is not obeyed: cogworks 0.2 is to bring tool profiles for nodes; remove it. "
        "What Code Generation may do is limited by `.cogworks/policies/coding.toml`"
    )
    first, last = "pipelines.default.nodes[0] (a): ", "pipelines.default.edges[1] (b_to_a).rework: "
    assert sorted(_problems_of(content)) == sorted(
        [
            f"{first}`tool_profile` {profiles}",
            f"{first}`tool_overrides` {profiles}",
            (
                f"{first}`alignment` is not obeyed: cogworks 0.2 is to compare a node's output with what was asked; remove "
                "it. Until then a human gate or Review does"
            ),
            f"{last}`semantics` says nothing that `preserve` does not say: a retry preserves nothing; remove it",
            f"{last}`counter` says nothing: every loop counts its own traversals up to `max_traversals`; remove it",
            f"pipelines.default: `tool_profiles` {profiles}",
            f"pipelines.default: `default_tool_profile` {profiles}",
            f"`tool_profiles` {profiles}",
        ]
    )


def test_retries_are_for_nodes_that_ask_a_model() -> None:
    assert _problems_of(document([{"id": "a", "type": "deterministic", "max_retries": 1}])) == (
        (
            "pipelines.default.nodes[0] (a): `max_retries` is for llm and spawning nodes only, and this one is "
            "deterministic; remove it"
        ),
    )


def _two_pipelines(**more: str) -> dict[str, Any]:
    single = document("a")["pipelines"]["default"]
    return {**more, "pipelines": {"feature": single, "hotfix": single}}


def _parsed(content: dict[str, Any]) -> PipelineConfiguration:
    return parse_pipelines(tomli_w.dumps(content), source=SOURCE)


def test_a_run_begins_with_the_default_pipeline_and_may_choose_another() -> None:
    found = _parsed(_two_pipelines(default="hotfix"))

    assert found.choose().name == "hotfix"
    assert found.choose("feature").name == "feature"
    with pytest.raises(UsageError, match=r"has no pipeline 'bugfix'; it has 'feature', 'hotfix'"):
        found.choose("bugfix")


def test_several_pipelines_need_a_default() -> None:
    assert _problems_of(_two_pipelines()) == (
        "`default` is missing; name the one of feature, hotfix a run begins with",
    )
    assert _problems_of(_two_pipelines(default="hotfixx")) == (
        "`default` is 'hotfixx', which is not a pipeline; did you mean 'hotfix'?",
    )


def test_the_hash_ignores_formatting_key_order_titles_and_names() -> None:
    content = document("a b", [edge("a>b", condition={"expr": "x==1"})])
    turned = copy.deepcopy(content)
    single = turned["pipelines"].pop("default")
    single["nodes"] = [dict(reversed(node.items())) for node in single["nodes"]]
    single["nodes"][0]["title"] = "Another title"
    single["edges"][0]["condition"] = {"expr": "( x == 1 )"}
    single["nodes"][0]["gate"] = "auto-proceed"
    turned["pipelines"]["renamed"] = dict(reversed(single.items()))

    assert parse(turned).graph_hash == parse(content).graph_hash


@pytest.mark.parametrize("key", ["order", "gate", "condition", "setting"])
def test_the_hash_changes_with_what_a_run_does(key: str) -> None:
    content = document("a b c", "a>b b>c")
    changed = copy.deepcopy(content)
    single = changed["pipelines"]["default"]
    match key:
        case "order":
            single["nodes"].reverse()
        case "gate":
            single["nodes"][1]["gate"] = "human-gated"
        case "condition":
            single["edges"][0]["condition"] = {"expr": "x"}
        case _:
            single["settings"] = {"max_node_retries": 1}

    assert parse(changed).graph_hash != parse(content).graph_hash


@pytest.mark.parametrize("name", ["failed", "inputs", "sub_work_item"])
def test_a_name_that_the_program_uses_itself_is_no_name_for_a_node(name: str) -> None:
    text = (
        f'[pipelines.default]\nstart = "{name}"\n[[pipelines.default.nodes]]\nid = "{name}"\ntype = "llm"\n'
    )

    assert _problems(text) == (
        f"pipelines.default.nodes[0] ({name}): `id` is '{name}', which cogworks uses for itself; give the node another id",
    )
