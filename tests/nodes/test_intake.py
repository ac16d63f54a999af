"""Intake: what the issue asks for, and when a person has to look first."""

import pytest

from cogworks.nodes.contract import Failed, Succeeded
from cogworks.nodes.intake import run
from cogworks.nodes.replies import Classification, Scope
from tests.nodes.examples import CLASSIFICATION, FILES, ITEM, output, ports, task


def test_a_classification_is_the_output_and_changes_nothing() -> None:
    world = ports(CLASSIFICATION)

    outcome = run(task("intake"), world)

    assert outcome == Succeeded(
        output=output(CLASSIFICATION),
        effects=(),
        summary="bug fix in src/adder/adding.py; about 2 files, complexity low",
    )
    assert world.model.purposes == ["intake-1"]
    assert world.copy.tree == FILES


def test_the_prompt_shows_the_issue_and_the_file_it_names() -> None:
    world = ports(CLASSIFICATION)

    run(task("intake"), world)

    prompt = world.model.asked[0]
    assert ITEM.body in prompt
    assert "return a - b" in prompt
    assert "Your previous answer" not in prompt


def test_an_unknown_module_goes_back_with_the_names_that_resemble_it() -> None:
    wrong = CLASSIFICATION.model_copy(update={"affected_modules": ("src/adder/addin.py",)})
    world = ports(wrong, CLASSIFICATION)

    outcome = run(task("intake"), world)

    assert isinstance(outcome, Succeeded)
    assert world.model.purposes == ["intake-1", "intake-2"]
    assert "affected module 'src/adder/addin.py' is not in the repository" in world.model.asked[1]
    assert "src/adder/adding.py" in world.model.asked[1]


def test_three_unusable_answers_fail_the_node_with_the_last_problems() -> None:
    wrong = CLASSIFICATION.model_copy(update={"affected_modules": ()})

    outcome = run(task("intake"), ports(wrong, wrong, wrong))

    assert isinstance(outcome, Failed)
    assert outcome.category == "invalid_reply"
    assert "no affected module is named" in outcome.reason
    assert "remove the trigger label and set it again" in outcome.reason


@pytest.mark.parametrize(
    ("title", "body", "found"),
    [
        ("add() subtracts and that is wrong for all numbers", "  \n", "its body is empty"),
        ("Broken", "Does not work.", "its title and body have 4 words"),
    ],
    ids=["no-body", "thin-body"],
)
def test_a_thin_issue_is_escalated_before_the_model_is_asked(title: str, body: str, found: str) -> None:
    world = ports()

    outcome = run(task("intake", item=ITEM.model_copy(update={"title": title, "body": body})), world)

    assert isinstance(outcome, Failed)
    assert outcome.category == "escalated"
    assert found in outcome.reason
    assert world.model.purposes == []


def test_open_questions_are_put_to_the_author() -> None:
    asked = Classification.model_validate({**output(CLASSIFICATION), "questions": ["Which numbers?"]})

    outcome = run(task("intake"), ports(asked))

    assert isinstance(outcome, Failed)
    assert outcome.category == "escalated"
    assert "- Which numbers?" in outcome.reason


def test_too_large_an_issue_is_escalated_with_the_limits() -> None:
    huge = CLASSIFICATION.model_copy(
        update={"estimated_scope": Scope(files=400, interfaces=3, complexity="high")}
    )

    outcome = run(task("intake"), ports(huge))

    assert isinstance(outcome, Failed)
    assert outcome.category == "escalated"
    assert "about 400 files (limit 40)" in outcome.reason


@pytest.mark.parametrize(
    "quote",
    ["", "I get 0 and I expect 4", "add() subtracts", "I  expect\n4"],
    ids=["none", "body", "title", "other-blanks"],
)
def test_words_of_the_issue_may_say_what_is_right(quote: str) -> None:
    said = CLASSIFICATION.model_copy(update={"says_what_is_right": quote})
    world = ports(said)

    assert isinstance(run(task("intake"), world), Succeeded)
    assert len(world.model.asked) == 1


def test_words_that_are_not_in_the_issue_go_back() -> None:
    invented = CLASSIFICATION.model_copy(update={"says_what_is_right": "add(2, 2) has to be 4."})
    world = ports(invented, CLASSIFICATION)

    assert isinstance(run(task("intake"), world), Succeeded)
    assert (
        "`says_what_is_right` is 'add(2, 2) has to be 4.', which is not in the issue" in world.model.asked[1]
    )
