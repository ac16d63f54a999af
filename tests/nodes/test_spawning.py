import json
from collections.abc import Mapping
from typing import Any

from cogworks.codebase.scripts import ScriptRun
from cogworks.forge.effects import CreateIssue
from cogworks.nodes.contract import Outcome, Succeeded
from cogworks.nodes.registry import procedure_for
from cogworks.nodes.task import Conventions
from cogworks.pipeline.graph import Node
from tests.nodes.declared import Desk, declared, desk, files
from tests.nodes.examples import KEY, task

ENTRY = {"title": "Tell users", "body": "They wait.", "labels": ["docs"]}


def spawning(**more: object) -> Node:
    """A node that asks with the prompt of the repository."""
    return declared(False, type="spawning", prompt="note", inputs=["plan"], **more)


def run(node: Node, at: Desk, brought: Mapping[str, str] | None = None, **changes: Any) -> Outcome:
    procedure = procedure_for(node, files() if brought is None else brought, {})
    assert procedure is not None
    return procedure(task("note", inputs={"plan": {}}, **changes), at)


def issues(outcome: Outcome) -> list[CreateIssue]:
    """What is to be published: issues and nothing else."""
    assert isinstance(outcome, Succeeded)
    found = [effect for effect in outcome.effects if isinstance(effect, CreateIssue)]
    assert len(found) == len(outcome.effects)
    return found


def test_what_the_model_decides_becomes_issues_that_refer_to_the_work_item() -> None:
    outcome = run(spawning(labels=["later"]), desk({"issues": [ENTRY]}))

    assert outcome == Succeeded(
        output={"issues": [ENTRY]},
        effects=(
            CreateIssue(
                key="issue-1",
                title="Tell users",
                body="They wait.\n\nFollow-up of #7.",
                labels=("later", "docs"),
                visit_key=KEY,
            ),
        ),
        summary="1 follow-up issue(s) to create",
    )


def test_no_issue_ever_carries_a_label_that_steers_work_items() -> None:
    entry = {**ENTRY, "labels": ["CogWorks:Run", "Go", "docs"]}
    at = desk({"issues": [entry]})

    outcome = run(spawning(), at, conventions=Conventions(own_labels=("go",)))

    assert issues(outcome)[0].labels == ("docs",)
    assert "is not labelled CogWorks:Run, Go" in at.said[-1]


def test_a_template_renders_each_body_and_the_link_can_be_left_out() -> None:
    brought = files(prompts__body="{{ issue.body }} (from {{ item.title }})\n")

    outcome = run(
        spawning(issue_template="body", link=False),
        desk({"issues": [ENTRY]}, brought=brought),
        brought,
    )

    assert issues(outcome)[0].body == "They wait. (from add() subtracts)"


def test_no_usable_answer_holds_nothing_up() -> None:
    outcome = run(spawning(), desk({}, {}, {}))

    assert isinstance(outcome, Succeeded)
    assert (outcome.output["issues"], outcome.effects) == ([], ())
    assert "no reply of claude-sonnet-5-5 fitted its schema" in outcome.output["problem"]


def test_a_script_of_a_built_in_pipeline_may_decide_instead() -> None:
    node = declared(built_in=True, type="spawning", method="script", call="due", inputs=["plan"])
    at = desk(script_run=ScriptRun(exit_code=0, stdout=json.dumps({"issues": [ENTRY]}), stderr=""))

    assert [issue.title for issue in issues(run(node, at))] == ["Tell users"]
    assert at.scripts[0][0] == "due"
