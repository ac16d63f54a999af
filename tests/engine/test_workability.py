from collections.abc import Mapping
from pathlib import Path

import pytest
import tomli_w

from cogworks.engine.workability import refuse_unworkable
from cogworks.errors import ConfigurationError
from cogworks.pipeline.parser import built_in_pipelines, parse_pipelines
from tests.nodes.declared import files
from tests.pipeline.graphs import document

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "custom-nodes" / ".cogworks"
LLM = {"id": "note", "type": "llm", "prompt": "note", "schema": "note", "inputs": ["plan"]}
CALL = {"id": "call", "type": "deterministic", "inputs": ["plan"]}
SPAWN = {"id": "due", "type": "spawning", "prompt": "note", "inputs": ["plan"]}


def problems(node: Mapping[str, object], **brought: str) -> list[str]:
    """What is wrong with the second node, without its place."""
    tables: list[Mapping[str, object]] = [{"id": "planning", "type": "llm", "outputs": ["plan"]}, node]
    text = tomli_w.dumps(document(tables, f"planning>{node['id']}"))
    try:
        refuse_unworkable(parse_pipelines(text, source="p.toml"), files(**brought), own_labels=("go",))
    except ConfigurationError as error:
        place = f"pipelines.default.nodes[1] ({node['id']}): "
        return [problem.removeprefix(place) for problem in error.problems]
    return []


def test_the_built_in_pipeline_and_the_example_can_do_their_work() -> None:
    refuse_unworkable(built_in_pipelines(), {})
    brought = {
        path.relative_to(EXAMPLE).as_posix(): path.read_text()
        for path in EXAMPLE.rglob("*.*")
        if path.is_file()
    }
    refuse_unworkable(parse_pipelines(brought["pipeline.toml"], source="p.toml"), brought)


@pytest.mark.parametrize(
    "node", [LLM, SPAWN, {**CALL, "call": "validate_paths"}], ids=["llm", "spawning", "call"]
)
def test_a_sound_node_has_no_problem(node: dict[str, object]) -> None:
    assert problems(node) == []


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({"id": "reviev", "type": "llm"}, ["no built-in node is called 'reviev'; did you mean 'review'?"]),
        (
            {**LLM, "prompt": "nite"},
            ["`prompts/nite.md.j2`; did you mean 'note'?".replace("`prompts", ".cogworks/prompts")],
        ),
        ({**LLM, "schema": "nite"}, [".cogworks/schemas/nite.json`; did you mean 'note'?"]),
        ({"id": "note", "type": "llm", "prompt": "note", "inputs": ["plan"]}, ["`schema` is missing"]),
        ({**LLM, "inputs": []}, ["uses `inputs.plan`, which is not among the node's `inputs`"]),
        ({**LLM, "validation": "domain-service"}, ["but the node writes no files"]),
        ({"id": "intake", "type": "llm", "combined": True}, ["`combined` is for the built-in node `review`"]),
        ({**LLM, "combined": True}, ["`combined` is for the built-in node `review`"]),
        (
            {"id": "review", "type": "llm", "validation": "domain-service"},
            ["`validation` is for nodes with a `prompt`"],
        ),
        ({**LLM, "slug": "n", "produces_code": True}, ["the field `files` must be declared and required"]),
        (
            {**LLM, "outputs": ["a", "b"]},
            ["field `a` must be declared and required", "field `b` must be declared and required"],
        ),
        ({**CALL, "call": "set_lables"}, ["no built-in procedure; did you mean 'set_labels'?"]),
        ({**CALL, "call": "set_labels"}, ["`labels` is missing"]),
        (
            {**CALL, "call": "set_labels", "labels": ["Go"]},
            ["`labels` holds 'Go', by which work items are steered"],
        ),
        ({**CALL, "call": "integration", "labels": ["x"]}, ["`labels` is for"]),
        ({**CALL, "call": "open_pull_request"}, ["`slug` is missing"]),
        (
            {**CALL, "method": "domain_service", "call": "simulat"},
            ["no operation of a domain service; did you mean 'simulate'?"],
        ),
        ({**SPAWN, "labels": ["cogworks:run"]}, ["`labels` holds 'cogworks:run'"]),
        ({**SPAWN, "issue_template": "body"}, ["`issue_template` is 'body', but there is no file"]),
        ({**SPAWN, "schema": "note"}, ["the field `issues` must be declared and required"]),
    ],
)
def test_what_keeps_a_node_from_its_work_is_told_with_what_to_do(
    node: dict[str, object], words: list[str]
) -> None:
    found = problems(node)

    assert len(found) == len(words)
    assert all(word in problem for word, problem in zip(words, found, strict=True)), found


@pytest.mark.parametrize(
    ("prompt", "word"),
    [
        ("no border\n", "has 0 lines '--- user ---'"),
        ("S\n--- user ---\n{{ item.body }}\n", "line 3: writes a value as it is; end it with `| untrusted"),
        ("S\n--- user ---\n{% for item in inputs.plan %}{{ item.number }}{% endfor %}\n", "another meaning"),
        ("S\n--- user ---\n{{ inputs.plan | untrusted('p') | upper }}\n", "writes a value as it is"),
        ("S\n--- user ---\n{{ isue.title | untrusted('t') }}\n", "uses `isue`, which it is not given"),
        ("S\n--- user ---\n{% import '_rules.md.j2' as rules %}\n", "`include` only"),
        ("S\n--- user ---\n{% if %}\n", "line 3: "),
        ("S\n--- user ---\n{{ item.body | untrustd }}\n", "No filter named 'untrustd'"),
    ],
)
def test_an_unfit_prompt_is_told_with_its_line(prompt: str, word: str) -> None:
    found = problems(LLM, prompts__note=prompt)

    assert found
    assert word in found[0]
    assert found[0].startswith("`.cogworks/prompts/note.md.j2`: ")


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ("{", "is not JSON"),
        ("[]", "must be an object"),
        ('{"type": "object", "properties": 1}', "is no JSON Schema"),
        ('{"type": "object", "properties": {"a": {"type": "object"}}}', "free-form object"),
        (
            '{"type": "object", "properties": {"a": {"$ref": "http://x/y"}}}',
            "is not one of this schema's `$defs`",
        ),
    ],
)
def test_an_unfit_schema_is_told(schema: str, word: str) -> None:
    found = problems(LLM, schemas__note=schema)

    assert any(word in problem for problem in found), found


def test_all_problems_are_reported_at_once() -> None:
    found = problems({**LLM, "schema": "nite", "validation": "domain-service"}, prompts__note="x")

    assert len(found) == 3
