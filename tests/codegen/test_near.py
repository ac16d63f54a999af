"""Of a slow suite the tests that import what a change touches are run before the others."""

from collections.abc import Collection, Mapping

import pytest

from cogworks.codegen.suite import MOST_NEAR, SLOW_S, near_tests, reached
from cogworks.domain_services.checking import DependencyGraph
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.nodes.code_generation import run
from cogworks.nodes.contract import Succeeded, Workspace
from cogworks.nodes.task import Conventions
from tests.nodes.examples import FILES, change, ports, suite, task

FAR, NEAR = "tests/test_far.py", "tests/test_near.py"
GRAPH = DependencyGraph(
    modules={
        "adder.adding": "src/adder/adding.py",
        "adder": "src/adder/__init__.py",
        "near": NEAR,
        "far": FAR,
    },
    uses={"near": ("adder",), "adder": ("adder.adding",), "far": ("elsewhere",)},
)


def with_more_files(workspace: Workspace) -> TestReport:
    more = tuple(TestCase(id=f"{path}::test_it", outcome="passed") for path in (FAR, NEAR))
    found = suite(workspace)
    return found.model_copy(update={"cases": (*found.cases, *more)})


@pytest.mark.parametrize(
    ("takes_s", "near"), [(SLOW_S + 1, [(NEAR,)]), (SLOW_S - 1, [])], ids=["slow", "quick"]
)
def test_a_change_of_a_slow_suite_is_tried_by_the_tests_near_it_first_and_by_all_at_the_end(
    takes_s: float, near: list[tuple[str, ...]]
) -> None:
    place = ports(change(), files={**FILES, FAR: "", NEAR: ""}, run_tests=with_more_files)
    # Each run of the whole suite takes so long.
    place.seconds = lambda: takes_s * sum(1 for tests in place.service.ran if not tests)
    place.service.known = {"dependency_graph": GRAPH}

    outcome = run(task("code_generation", sub_item="A", conventions=Conventions(test_writer="none")), place)

    assert isinstance(outcome, Succeeded), outcome
    assert [tests for tests in place.service.ran if tests == (NEAR,)] == near
    if near:
        assert () in place.service.ran[place.service.ran.index((NEAR,)) :]


@pytest.mark.parametrize(
    ("users", "wanted"),
    [
        ({"a": ["b"], "b": ["c"], "x": ["y"]}, {"b", "c"}),
        ({"a": ["b"], "b": ["a"]}, {"a", "b"}),
        ({}, set()),
    ],
    ids=["far away", "cycle", "nothing"],
)
def test_what_uses_a_file_is_found_however_far_away(
    users: Mapping[str, Collection[str]], wanted: set[str]
) -> None:
    assert reached(["a"], users) == wanted


def test_where_nobody_can_tell_or_all_are_near_nothing_is_run_before_the_suite() -> None:
    many = [f"tests/test_{n}.py" for n in range(MOST_NEAR + 1)]
    place = ports(files=FILES)
    assert near_tests(place, place.copy, ["src/adder/adding.py"], many) == ()

    modules = {"a": "src/adder/adding.py", **{path: path for path in many}}
    place.service.known = {
        "dependency_graph": DependencyGraph(modules=modules, uses=dict.fromkeys(many, ("a",)))
    }
    assert near_tests(place, place.copy, ["src/adder/adding.py"], many) == ()
    assert near_tests(place, place.copy, ["src/adder/adding.py"], many[:2]) == tuple(sorted(many[:2]))
