"""Work on the short way that shows that the item needs the whole one."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from cogworks.domain_services.answers import NotOffered
from cogworks.domain_services.checking import Interface, InterfaceMap
from cogworks.nodes.asking import MAX_LEARNT_CHARS, learnt_variables
from cogworks.nodes.code_generation import run
from cogworks.nodes.contract import Failed, Succeeded, Workspace
from cogworks.nodes.replies import ProposedFile
from cogworks.nodes.task import Conventions, Learnt, NodeTask
from cogworks.pipeline.lane_choice import MOST_FILES
from tests.fakes import FakePorts
from tests.nodes.examples import FIXED, INPUTS, change, ports, task

SHORT = Conventions(test_writer="none", lane_files=MOST_FILES)
_DEFINITION = re.compile(r"def (?P<name>\w+)(?P<takes>\([^)]*\))")


def the_task(conventions: Conventions = SHORT) -> NodeTask:
    return task(
        "code_generation",
        inputs=None,
        slug="change",
        conventions=conventions,
    ).model_copy(update={"inputs": {"classification": INPUTS["classification"]}})


def offers(world: FakePorts) -> FakePorts:
    """The world with a service that reads the names out of the files as they are."""

    def interfaces(workspace: Workspace, paths: Sequence[str]) -> InterfaceMap | NotOffered:
        return InterfaceMap(
            status="complete",
            interfaces=tuple(
                Interface(name=found["name"], kind="function", artifact=path, signature=found[0])
                for path in paths
                for found in _DEFINITION.finditer(workspace.read(path) or "")
            ),
        )

    world.service.interfaces = interfaces  # type: ignore[method-assign]
    return world


def succeeded(outcome: object) -> Succeeded:
    assert isinstance(outcome, Succeeded)
    return outcome


def also(*paths: str) -> dict[str, Any]:
    more = tuple(ProposedFile(path=path, action="create", content="x\n") for path in paths)
    return {"files": (*change().files, *more)}


def test_a_change_within_the_bounds_goes_its_way() -> None:
    world = offers(ports(change("def add(a, b):\n    return a + b\n\n\ndef helper(): ...\n")))

    outcome = succeeded(run(the_task(), world))

    assert (outcome.moves_up, len(outcome.effects)) == ("", 1)


def test_what_people_read_names_the_issue_where_no_plan_divides_it() -> None:
    world = offers(ports(change()))

    outcome = succeeded(run(the_task(), world))

    assert outcome.output["sub_item"] == "#7"
    assert "#7: writing code and tests (attempt 1)" in world.said
    assert not [line for line in world.said if "ALL" in line]


def test_a_change_of_a_signature_moves_up_with_the_change_and_publishes_nothing() -> None:
    world = offers(ports(change("def add(a, b, c=0):\n    return a + b\n")))

    outcome = succeeded(run(the_task(), world))

    assert outcome.moves_up == (
        "the change alters public interfaces, which `small` leaves as they are: `add`"
    )
    assert outcome.effects == ()
    assert outcome.summary == f"moves up to `default`: {outcome.moves_up}"
    assert "+def add(a, b, c=0):" in outcome.output["change"]
    assert outcome.output["notes"] == "One character."
    # It looked at how the file was found, and stands on the change again.
    assert world.copy.read("src/adder/adding.py") == "def add(a, b, c=0):\n    return a + b\n"


def test_a_public_name_that_is_gone_moves_up() -> None:
    world = offers(ports(change("def plus(a, b):\n    return a + b\n")))

    assert "`add`" in succeeded(run(the_task(), world)).moves_up


def test_names_of_tests_are_no_interfaces() -> None:
    asked: list[str] = []
    world = offers(ports(change(FIXED)))
    read = world.service.interfaces

    def interfaces(workspace: Workspace, paths: Sequence[str]) -> InterfaceMap | NotOffered:
        asked.extend(paths)
        return read(workspace, paths)

    world.service.interfaces = interfaces  # type: ignore[method-assign]
    run(the_task(), world)

    assert set(asked) == {"src/adder/adding.py"}


def test_a_value_that_changes_is_no_interface() -> None:
    world = ports(change())
    values = iter(("LIMIT = 1", "LIMIT = 2"))

    def interfaces(workspace: Workspace, paths: Sequence[str]) -> InterfaceMap | NotOffered:
        said = Interface(name="LIMIT", kind="attribute", artifact=paths[0], signature=next(values))
        return InterfaceMap(status="complete", interfaces=(said,))

    world.service.interfaces = interfaces  # type: ignore[method-assign]

    assert succeeded(run(the_task(), world)).moves_up == ""


@pytest.mark.parametrize(
    "said",
    [
        NotOffered(service="fake", method="extract_interfaces", offered=()),
        InterfaceMap(status="incomplete", interfaces=()),
    ],
    ids=["not-offered", "incomplete"],
)
def test_where_nobody_can_tell_the_names_only_the_files_count(said: InterfaceMap | NotOffered) -> None:
    world = ports(change("def plus(a, b):\n    return a + b\n"))
    world.service.offered = said

    assert succeeded(run(the_task(), world)).moves_up == ""


@pytest.mark.parametrize(("more", "moves"), [(MOST_FILES - 2, False), (MOST_FILES - 1, True)])
def test_a_change_of_more_files_than_the_lane_allows_moves_up(more: int, moves: bool) -> None:
    world = offers(ports(change(**also(*(f"docs/page-{number}.md" for number in range(more))))))

    outcome = succeeded(run(the_task(), world))

    said = f"the change touches {MOST_FILES + 1} files, and `small` is for at most {MOST_FILES}"
    assert outcome.moves_up == (said if moves else "")


def test_what_the_coder_may_not_have_moves_up_instead_of_failing() -> None:
    world = ports(change(missing_capability="add() needs a third parameter."))

    outcome = succeeded(run(the_task(), world))

    assert outcome.moves_up == ("the work needs what `small` leaves as it is: add() needs a third parameter")
    assert (outcome.effects, outcome.output["change"]) == ((), "")


def test_on_the_whole_way_the_same_answers_end_as_before() -> None:
    whole = Conventions(test_writer="none")
    changed = offers(ports(change("def plus(a, b):\n    return a + b\n")))
    asked = ports(change(missing_capability="add() needs a third parameter."))

    assert succeeded(run(the_task(whole), changed)).moves_up == ""
    assert isinstance(run(the_task(whole), asked), Failed)


def test_a_protected_path_needs_a_person_on_every_way() -> None:
    world = ports(change(**also(".github/workflows/new.yml")))

    outcome = run(the_task(), world)

    assert isinstance(outcome, Failed)
    assert outcome.category == "refused_change"


def test_a_prompt_is_told_of_a_change_that_is_not_too_long() -> None:
    short = learnt_variables(Learnt(why="w", output={"notes": "n", "change": "+a"}))
    long = learnt_variables(Learnt(why="w", output={"change": "+" * (MAX_LEARNT_CHARS + 1)}))

    assert short == {"why": "w", "notes": "n", "change": "+a"}
    assert long == {"why": "w", "notes": "", "change": ""}
