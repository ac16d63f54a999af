"""A model changes files that the approved plan does not name, or belong to another part of it."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from cogworks.codegen.admitting import beyond_tests
from cogworks.codegen.handoff import Convention, Resolved
from cogworks.codegen.testgate import Claim
from cogworks.cycle.events import ExecutionComplete
from cogworks.nodes import code_generation, review
from cogworks.nodes.contract import Failed, Outcome, Succeeded
from cogworks.nodes.replies import BeyondPlan, Plan, ProposedFile, WrittenTests
from cogworks.nodes.task import Conventions
from cogworks.settings.sections import ChangeLimits
from tests.codegen.test_test_writing import FIX, implemented, log, world, written
from tests.fakes import FakePorts, MemoryWorkspace
from tests.nodes.examples import CODE, FILES, FIXED, change, output, planned, ports, task, verdict

OTHER = "src/adder/__init__.py"
README = ProposedFile(path="README.md", action="modify", content="# adder, which adds\n")
WITH_TESTS = Conventions(test_writer="none")


def elsewhere(path: str = OTHER) -> ProposedFile:
    action = "modify" if path in FILES else "create"
    return ProposedFile(path=path, action=action, content="from adder.adding import add  # evil\n")  # type: ignore[arg-type] # one of the two


def asking(*paths: str, reason: str = "It says what add() does.") -> dict[str, Any]:
    return {"beyond_plan": tuple(BeyondPlan(path=path, reason=reason) for path in paths)}


def played(place: FakePorts, **changes: Any) -> Outcome:
    return code_generation.run(task("code_generation", sub_item="A", **changes), place)


def two_items(**changes: Any) -> dict[str, Any]:
    """A plan whose second item owns the package's front."""
    plan = Plan(sub_work_items=(planned("A", **changes), planned("B", files=(OTHER,))))
    return {"plan": output(plan)}


ATTACKS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "whole-file": lambda: {"files": (*change().files, elsewhere())},
    "new-file": lambda: {"files": (*change().files, elsewhere("src/adder/spy.py"))},
    "deletion": lambda: {
        "files": (*change().files, ProposedFile(path="README.md", action="delete", content=""))
    },
    "edit": lambda: {"edits": ({"path": OTHER, "search": "import add", "replace": "import add  # evil"},)},
    "diff": lambda: {
        "unified_diff": f"--- a/{OTHER}\n+++ b/{OTHER}\n@@ -1 +1 @@\n-from adder.adding import add\n"
        "+from adder.adding import add  # evil\n"
    },
    "other-spelling": lambda: {"files": (*change().files, elsewhere("./src//adder/spy.py"))},
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_form_of_an_answer_changes_a_file_that_the_plan_does_not_list(attack: str) -> None:
    place = ports(change(**ATTACKS[attack]()), change())

    outcome = played(place, conventions=WITH_TESTS)

    assert isinstance(outcome, Succeeded), outcome.reason
    assert [file["path"] for file in outcome.output["files"]] == [
        "src/adder/adding.py",
        "tests/test_adding.py",
    ]
    problem = place.model.asked[1]
    assert "is not among the files of A, which are 'src/adder/adding.py', 'tests/test_adding.py'" in problem
    assert "give its path and the reason in `beyond_plan`" in problem
    assert "beyond_plan" not in outcome.output


def test_whoever_makes_handed_over_tests_pass_stays_within_the_plan_as_well() -> None:
    place = world(written(), implemented(FIX, elsewhere()), implemented())

    outcome = played(place)

    assert isinstance(outcome, Succeeded), outcome.reason
    assert place.copy.tree[OTHER] == FILES[OTHER]


def test_what_is_asked_for_with_a_reason_is_granted_and_told_to_reviewers() -> None:
    place = ports(change(files=(*change().files, README), **asking("README.md")))

    outcome = played(place, conventions=WITH_TESTS)

    assert isinstance(outcome, Succeeded), outcome.reason
    assert outcome.output["beyond_plan"] == [{"path": "README.md", "reason": "It says what add() does."}]
    at = ports(verdict(), verdict(), verdict(), files={**FILES, "README.md": README.content}, base=FILES)
    reviewed = review.run(task("review", sub_item="A", inputs={"code": {**CODE, **outcome.output}}), at)
    assert isinstance(reviewed, Succeeded)
    (found,) = [each for each in reviewed.output["findings"] if each["pass"] == "scope"]
    assert found["file"] == "README.md"
    assert found["explanation"].endswith("Whoever wrote the code asked for it: It says what add() does.")


def test_the_same_change_with_the_reason_is_no_repetition() -> None:
    beyond = change(files=(*change().files, README))
    place = ports(beyond, beyond.model_copy(update=asking("README.md")))

    outcome = played(place, conventions=WITH_TESTS)

    assert isinstance(outcome, Succeeded), outcome.reason
    assert place.copy.tree["README.md"] == README.content


@pytest.mark.parametrize("reason", [" ", "\n"])
def test_a_request_without_a_reason_is_none(reason: str) -> None:
    place = ports(change(files=(*change().files, README), **asking("README.md", reason=reason)), change())

    outcome = played(place, conventions=WITH_TESTS)

    assert isinstance(outcome, Succeeded), outcome.reason
    assert place.copy.tree["README.md"] == FILES["README.md"]


def test_a_file_of_another_item_is_granted_to_nobody() -> None:
    place = ports(change(files=(*change().files, elsewhere()), **asking(OTHER)), change())

    outcome = played(place, conventions=WITH_TESTS, inputs=two_items())

    assert isinstance(outcome, Succeeded), outcome.reason
    problem = place.model.asked[1]
    assert f"'{OTHER}' belongs to B, another item of the plan" in problem
    assert place.copy.tree[OTHER] == FILES[OTHER]


def test_a_file_of_an_item_that_this_one_builds_on_is_granted() -> None:
    place = ports(change(files=(*change().files, elsewhere()), **asking(OTHER)))

    outcome = played(place, conventions=WITH_TESTS, inputs=two_items(depends_on=("B",)))

    assert isinstance(outcome, Succeeded), outcome.reason
    assert [each["path"] for each in outcome.output["beyond_plan"]] == [OTHER]


@pytest.mark.parametrize(("most", "is_kept"), [(0, False), (1, False), (2, True)])
def test_only_so_many_files_are_granted(most: int, is_kept: bool) -> None:
    both = change(files=(*change().files, README, elsewhere()), **asking("README.md", OTHER))
    place = ports(both, change())
    limits = ChangeLimits(max_files_beyond_plan=most)

    outcome = played(place, conventions=WITH_TESTS.model_copy(update={"change_limits": limits}))

    assert isinstance(outcome, Succeeded), outcome.reason
    assert (place.copy.tree["README.md"] == README.content) == is_kept
    if not is_kept:
        assert (
            f"2 files beyond the plan of A are asked for, and at most {most} are granted"
            in place.model.asked[1]
        )


def test_what_earlier_visits_were_granted_stays_granted_and_counts() -> None:
    earlier = {"code": {**CODE, "beyond_plan": [{"path": "README.md", "reason": "Because."}]}}
    again = change(files=(*change().files, README))
    more = change(files=(*change().files, README, elsewhere()), **asking(OTHER))
    limits = WITH_TESTS.model_copy(update={"change_limits": ChangeLimits(max_files_beyond_plan=1)})

    kept = played(ports(again), conventions=limits, earlier=earlier)
    place = ports(more, change())
    refused = played(place, conventions=limits, earlier=earlier)

    assert isinstance(kept, Succeeded), kept.reason
    assert kept.output["beyond_plan"] == [{"path": "README.md", "reason": "Because."}]
    assert isinstance(refused, Succeeded)
    assert place.copy.tree[OTHER] == FILES[OTHER]


def test_a_coder_that_insists_is_given_up_and_nothing_of_it_is_kept() -> None:
    place = ports(*(change(files=(*change().files, elsewhere(f"src/adder/spy{n}.py"))) for n in range(3)))

    outcome = played(place, conventions=WITH_TESTS)

    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith("SCOPE_VIOLATION: code_generation: ")
    assert outcome.code == "SCOPE_VIOLATION"
    assert place.copy.tree == FILES


def test_the_log_of_the_visit_names_each_violation() -> None:
    place = ports(change(files=(*change().files, elsewhere())), change())

    played(place, conventions=WITH_TESTS)

    found = [
        entry.data
        for event in log(place)
        if isinstance(event.body, ExecutionComplete)
        for entry in event.body.result.trace
        if entry.kind == "scope_violation"
    ]
    assert [each["sub_item"] for each in found] == ["A"]
    assert OTHER in found[0]["problems"][0]


def test_an_item_that_no_plan_divides_has_no_plan_to_stay_in() -> None:
    place = ports(change(files=(*change().files, README)))

    outcome = code_generation.run(task("code_generation", conventions=WITH_TESTS), place)

    assert isinstance(outcome, Succeeded), outcome.reason
    assert place.copy.tree["README.md"] == README.content


SMUGGLED = (
    "src/adder/spy.py",
    "src/adder/prices.json",
    "spy.py",
    "docs/spy.md",
)


@pytest.mark.parametrize("path", SMUGGLED)
def test_the_writer_of_tests_brings_in_no_file_of_the_product(path: str) -> None:
    given = written()
    file = ProposedFile(path=path, action="create", content="x = 1\n")
    smuggled = given.model_copy(update={"files": (*given.files, file), "extra_paths": (path,)})
    place = world(smuggled, given, implemented())

    outcome = played(place)

    assert isinstance(outcome, Succeeded), outcome.reason
    assert path not in place.copy.tree


BELONGING = (
    ("tests/data/sums.json", "tests/custom/test_sums.py"),
    ("src/adder/testdata/sums.json", "tests/custom/test_sums.py"),
    ("src/adder/__snapshots__/sums.snap", "tests/custom/test_sums.py"),
)


@pytest.mark.parametrize(("path", "test_path"), BELONGING)
def test_the_writer_of_tests_brings_in_what_belongs_to_tests(path: str, test_path: str) -> None:
    given = written(test_path)
    file = ProposedFile(path=path, action="create", content="x = 1\n")
    whole = given.model_copy(update={"files": (*given.files, file), "extra_paths": (path,)})
    place = world(whole, implemented())

    outcome = played(place)

    assert isinstance(outcome, Succeeded), outcome.reason
    assert place.copy.tree[path] == "x = 1\n"
    assert place.copy.tree["src/adder/adding.py"] == FIXED


@pytest.mark.parametrize(
    ("there", "is_welcome"), [((), True), (("checks/sums.py",), False), (("checks/inner/sums.py",), False)]
)
def test_a_folder_of_nothing_but_tests_is_theirs_whatever_it_is_called(
    there: tuple[str, ...], is_welcome: bool
) -> None:
    paths = ("checks/test_sums.py", "checks/tools.py")
    files = tuple(ProposedFile(path=path, action="create", content="x = 1\n") for path in paths)
    reply = WrittenTests(files=files, test_path=paths[0], extra_paths=paths[1:])
    place = Resolved(paths[0], "reported", paths[0])
    claim = Claim(place, paths[1:], written_by="tests", convention=Convention(7, 1, ".py"))

    found = list(
        beyond_tests(reply, claim, planned(), MemoryWorkspace({**FILES, **dict.fromkeys(there, "")}))
    )

    assert (not found) == is_welcome, found
