"""Division: what is proposed, what people read of it, and the issues that come of an approved proposal."""

import pytest

from cogworks.forge.effects import CreateSubIssue, LinkDependency, PostComment, SetLabels
from cogworks.nodes import division as node
from cogworks.nodes import parting
from cogworks.nodes.contract import Failed, Succeeded
from cogworks.nodes.division import MOST, statements_of
from cogworks.nodes.parting import MOST_CHARS
from cogworks.nodes.replies import Division
from cogworks.nodes.task import Conventions
from cogworks.pipeline.state import PartIssue
from cogworks.vocabulary import IssueNumber, SubItemKey
from tests.nodes.dividing import BODY, EXPORT, LARGE, division, part
from tests.nodes.examples import KEY, ports, task


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("", ()),
        (
            "One. Two!\nThree (e.g. this)? `four` is code.",
            ("One.", "Two!", "Three (e.g. this)? `four` is code."),
        ),
        ("# A heading\n\nText.\n---\n", ("Text.",)),
        ("- a\n- [x] b\n  goes on\n2) c", ("a", "b goes on", "c")),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ("| a | b |", "| 1 | 2 |")),
        ("Do:\n```py\na. B\n\n# c\n```\nDone.", ("Do:", "```py\na. B\n\n# c\n```", "Done.")),
        ("~~~\nnever closed. It is", ("~~~\nnever closed. It is",)),
        ("<!-- a template\nsays this -->\r\nText.", ("Text.",)),
        ("Version 1.2 of `a.b`. Next", ("Version 1.2 of `a.b`.", "Next")),
    ],
    ids=["empty", "sentences", "headings", "items", "table", "code", "open-fence", "comment", "dots"],
)
def test_the_statements_of_a_body(body: str, found: tuple[str, ...]) -> None:
    assert statements_of(body) == found


def test_where_sentences_are_too_many_paragraphs_are_the_statements() -> None:
    paragraph = "It is so. " * 4

    assert len(statements_of("\n\n".join([paragraph] * 30))) == 120
    assert statements_of("\n\n".join([paragraph] * 60)) == (paragraph.strip(),) * 60
    assert MOST == 150


def test_a_proposal_is_put_to_people_in_a_comment_with_its_table_and_every_text() -> None:
    world = ports(division(EXPORT, part()))

    outcome = node.run(task("division", item=LARGE), world)

    assert isinstance(outcome, Succeeded)
    assert [each["key"] for each in outcome.output["parts"]] == ["A", "B"]  # what is needed first comes first
    (comment,) = outcome.effects
    assert isinstance(comment, PostComment)
    assert (comment.number, comment.topic, comment.visit_key) == (7, "node-division", KEY)
    assert "| A | Part A works | – | 3–4, 7 |" in comment.body
    assert "| B | Part B works | A | 5–7 |" in comment.body
    assert "`/cogworks reject division <why>`" in comment.body
    assert (
        "<details><summary>B: Part B works</summary>\n\nWhat is wanted of B.\n\n### Done when\n\n- [ ] B can be called."
        in comment.body
    )
    assert "1. asks for nothing: We keep our hours by hand." in comment.body
    assert "7. A, B: The README tells of both." in comment.body


def test_the_model_sees_the_statements_with_their_numbers() -> None:
    world = ports(division())

    node.run(task("division", item=LARGE), world)

    assert '"4": "It takes `--week 2026-W05`."' in world.model.asked[0]
    assert "The proposal before" not in world.model.asked[0]


def test_a_second_proposal_knows_the_first_and_says_that_it_replaces_it() -> None:
    world = ports(division())
    before = division().model_dump(mode="json")

    outcome = node.run(task("division", item=LARGE, ordinal=2, earlier={"division": before}), world)

    assert "The proposal before, which people did not want so" in world.model.asked[0]
    assert isinstance(outcome, Succeeded)
    (comment,) = outcome.effects
    assert isinstance(comment, PostComment)
    assert "The one before is replaced by it." in comment.body


def test_a_proposal_with_a_hole_is_corrected_by_the_model() -> None:
    world = ports(division(background=()), division())

    assert isinstance(node.run(task("division", item=LARGE), world), Succeeded)
    assert "statement 1 is in no part" in world.model.asked[1]


def test_an_issue_that_is_one_change_is_not_divided() -> None:
    reply = Division(parts=(), indivisible="A format is changed everywhere at once", rationale="-")

    outcome = node.run(task("division", item=LARGE), ports(reply))

    assert isinstance(outcome, Failed)
    assert outcome.category == "escalated"
    assert outcome.reason.startswith("#7 was not divided: A format is changed everywhere at once. To have it")


def test_texts_that_no_comment_holds_are_in_the_ledger_only() -> None:
    long = division(part(body="long " * MOST_CHARS), EXPORT)

    outcome = node.run(task("division", item=LARGE), ports(long))

    assert isinstance(outcome, Succeeded)
    (comment,) = outcome.effects
    assert isinstance(comment, PostComment)
    assert len(comment.body) < MOST_CHARS
    assert "too long for a comment" in comment.body
    assert "| A | Part A works" in comment.body


def test_words_of_the_model_call_nobody_and_close_nothing() -> None:
    nasty = part(title="Closes #3 @ann | x", body="Fixes #4, says @bob.")

    outcome = node.run(task("division", item=LARGE), ports(division(nasty, EXPORT)))

    assert isinstance(outcome, Succeeded)
    (comment,) = outcome.effects
    assert isinstance(comment, PostComment)
    for word in ("@ann", "@bob", "Closes #3", "Fixes #4"):
        assert word not in comment.body


APPROVED = {"division": division().model_dump(mode="json")}


def test_an_approved_proposal_becomes_issues_below_this_one_and_links_between_them() -> None:
    outcome = parting.create(task("parts", item=LARGE, inputs=APPROVED, made_by={"division": KEY}), ports())

    assert isinstance(outcome, Succeeded)
    first, second, link = outcome.effects
    assert isinstance(first, CreateSubIssue)
    assert isinstance(second, CreateSubIssue)
    assert (first.key, first.title, first.labels, first.visit_key) == ("A", "Part A works", (), KEY)
    assert (
        first.body
        == "One of the parts of #7.\n\nWhat is wanted of A.\n\n### Done when\n\n- [ ] A can be called."
    )
    assert second.body.startswith(
        "One of the parts of #7. It needs *Part A works* first, and waits until that is closed.\n\n"
    )
    assert link == LinkDependency(blocked=SubItemKey("B"), blocking=SubItemKey("A"))
    assert outcome.output["parts"][1] == {"key": "B", "title": "Part B works", "depends_on": ["A"]}


def test_parts_of_safety_critical_work_are_safety_critical() -> None:
    critical = Conventions(safety_critical="cogworks:safety-critical")

    outcome = parting.create(
        task("parts", inputs=APPROVED, made_by={"division": KEY}, conventions=critical), ports()
    )

    assert isinstance(outcome, Succeeded)
    created = [each for each in outcome.effects if isinstance(each, CreateSubIssue)]
    assert [each.labels for each in created] == [("cogworks:safety-critical",)] * 2


def test_each_issue_is_started_by_the_trigger_label_as_the_repository_calls_it() -> None:
    made = PartIssue(key=SubItemKey("A"), title="a", number=IssueNumber(21), node_id="I_21")

    outcome = parting.start(task("start", parts=(made,), conventions=Conventions(trigger="go")), ports())

    assert isinstance(outcome, Succeeded)
    assert outcome.effects == (SetLabels(number=IssueNumber(21), add=("go",)),)
    assert outcome.summary == "started: #21"


def test_the_example_is_what_it_says() -> None:
    assert len(statements_of(BODY)) == 7
