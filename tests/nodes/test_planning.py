"""Planning: sub-issues with dependencies out of a sound plan."""

import pytest

from cogworks.forge.effects import CreateSubIssue, LinkDependency
from cogworks.nodes.artifacts import InterfaceFile
from cogworks.nodes.contract import Failed, Succeeded
from cogworks.nodes.planning import run
from cogworks.nodes.replies import Plan
from cogworks.nodes.shown import shown_once
from cogworks.sight.view import FirstView, Shown
from cogworks.vocabulary import CommitOid, SubItemKey
from tests.nodes.examples import FILES, INPUTS, KEY, PLAN, SPECIFICATION, output, planned, ports, task

APPROVED = CommitOid("a" * 40)
INTERFACE = "src/adder/contracts.py"


def test_each_item_becomes_a_sub_issue_and_each_dependency_a_link() -> None:
    plan = Plan(sub_work_items=(planned("B", depends_on=("A",), interfaces=()), planned("A")))

    outcome = run(task("planning"), ports(plan))

    assert isinstance(outcome, Succeeded)
    assert outcome.output == {"sub_work_items": [output(planned("A")), output(plan.sub_work_items[0])]}
    first, second, link = outcome.effects
    assert isinstance(first, CreateSubIssue)
    assert isinstance(second, CreateSubIssue)
    assert [(each.key, each.title, each.labels, each.visit_key) for each in (first, second)] == [
        ("A", "Item A", ("cogworks:sub-work-item",), KEY),
        ("B", "Item B", ("cogworks:sub-work-item",), KEY),
    ]
    assert link == LinkDependency(blocked=SubItemKey("B"), blocking=SubItemKey("A"))


def test_a_sub_issue_says_what_is_to_be_done_and_when_it_is_done() -> None:
    outcome = run(task("planning"), ports(PLAN))

    assert isinstance(outcome, Succeeded)
    (effect,) = outcome.effects
    assert isinstance(effect, CreateSubIssue)
    assert effect.body.startswith("Part of #7. Sub-work-item A; depends on nothing.")
    assert "- [ ] add(2, 2) is 4" in effect.body
    assert "- `tests/test_adding.py`" in effect.body


def test_of_a_long_file_what_was_declared_stands_in_the_question_once() -> None:
    around = "".join(f"def other{number}():\n    return {number}\n\n\n" for number in range(100))
    text = f"{around}class Adds:\n    total = 0\n\n\n{around.replace('other', 'more')}"
    world = ports(PLAN, files={**FILES, INTERFACE: text})
    world.copy.approve(APPROVED, {INTERFACE: text})
    about = {**INPUTS["specification"], "markdown": "`Adds` adds two numbers."}

    run(task("planning", approved={"interfaces": APPROVED}, inputs={"specification": about}), world)

    [asked] = world.model.asked
    shown = asked.partition("## The approved interfaces")[2].partition("## The repository")[0]
    assert "  401| class Adds:\n" in shown
    assert "The rest of each is what the file says now" in shown
    assert asked.count("    total = 0\n") == 1


@pytest.mark.parametrize(
    ("lines", "change", "is_shown_once"),
    [
        (((1, 6), (7, 9)), "", True),
        (((1, 7),), "", False),
        ((), "", False),
        (((1, 9),), "-class Adds: ...\n+class Add: ...\n", False),
    ],
    ids=["shown", "shown in part", "not shown", "changed since"],
)
def test_what_was_declared_is_left_to_the_view_where_that_shows_all_of_it(
    lines: tuple[tuple[int, int], ...], change: str, is_shown_once: bool
) -> None:
    file = InterfaceFile(
        path="a.py",
        content="    5| class Adds: ...",
        is_whole=False,
        lines=((5, 9),),
        heads="5",
        change=change,
    )
    text = Shown(path="a.py", level="slices", tokens=9, score=1.0, lines=lines)
    view = FirstView(files=(text,), named=(), folders="", file_count=1)

    assert (shown_once([file], view) != (file,)) is is_shown_once


def test_a_plan_that_leaves_an_interface_out_is_corrected_by_the_model() -> None:
    world = ports(Plan(sub_work_items=(planned(interfaces=()),)), PLAN)

    outcome = run(task("planning"), world)

    assert isinstance(outcome, Succeeded)
    assert (
        "interface 'Adds' (src/adder/contracts.py) is implemented by no sub-work-item" in world.model.asked[1]
    )


def test_a_plan_with_too_many_items_is_escalated() -> None:
    plan = Plan(sub_work_items=tuple(planned(f"A{number}") for number in range(11)))

    outcome = run(task("planning"), ports(plan))

    assert isinstance(outcome, Failed)
    assert outcome.category == "escalated"
    assert "planning found 11 sub-work-items and the limit is 10" in outcome.reason


@pytest.mark.parametrize(
    "merged", [None, "class Adds: 'as a person changed it'\n"], ids=["as-proposed", "as-merged"]
)
def test_the_prompt_shows_the_interfaces_as_they_stand(merged: str | None) -> None:
    files = {} if merged is None else {"src/adder/contracts.py": merged}
    world = ports(PLAN, files=files)

    run(task("planning"), world)

    assert (merged or "class Adds: ...\n") in world.model.asked[0]


def test_a_pipeline_without_interface_design_is_planned_from_the_specification_alone() -> None:
    plan = Plan(sub_work_items=(planned(interfaces=()),))
    alone = task("planning").model_copy(update={"inputs": {"specification": output(SPECIFICATION)}})

    outcome = run(alone, ports(plan))

    assert isinstance(outcome, Succeeded)
    assert outcome.output == {"sub_work_items": [output(planned(interfaces=()))]}


def test_the_test_file_nearest_to_what_changes_is_in_the_question() -> None:
    tests = "from src.adder.core import add\n\n\ndef test_two_numbers():\n    assert add(2, 2) == 4\n"
    files = {**FILES, "src/adder/core.py": "def add(a, b):\n    return a + b\n", "tests/test_zeal.py": tests}
    about = {**INPUTS["specification"], "markdown": "`add` in src/adder/core.py is wrong."}
    world = ports(PLAN, files=files)

    run(task("planning", inputs={"specification": about}), world)

    assert "def test_two_numbers():" in world.model.asked[0]
