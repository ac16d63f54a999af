"""Whose business a path, a parameter or a result is where several services have a folder each."""

import pytest

from cogworks.domain_services.checking import Artifacts, SimulateParams
from cogworks.domain_services.client import ServiceClient
from cogworks.domain_services.exploring import TraceParams
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.domain_services.panel import Member
from cogworks.domain_services.roots import inner_roots, lies_in, own_params, own_results
from cogworks.domain_services.transport import Transport


def unreachable() -> Transport:
    raise AssertionError("nobody is asked")


OUTER = Member(client=ServiceClient(unreachable, name="outer"), root="packages", inner=("packages/api",))


@pytest.mark.parametrize(
    ("path", "folder", "is_in"),
    [
        ("a/b.py", "a", True),
        ("a", "a", True),
        ("ab/c.py", "a", False),
        ("x.py", "", True),
        ("a", "a/b", False),
    ],
)
def test_a_path_lies_in_a_folder_by_its_parts(path: str, folder: str, is_in: bool) -> None:
    assert lies_in(path, folder) is is_in


def test_the_innermost_folder_wins() -> None:
    assert inner_roots("", ["", "b", "a/b"]) == ("a/b", "b")
    assert inner_roots("a", ["a", "a/b", "ab"]) == ("a/b",)
    assert [OUTER.holds(path) for path in ("packages/x.py", "packages/api/x.py", "x.py")] == [
        True,
        False,
        False,
    ]


def test_of_a_report_the_results_of_other_folders_are_left_out() -> None:
    cases = tuple(
        TestCase(id=f"{file}::t", outcome="passed") for file in ("packages/a.py", "packages/api/a.py", "a.py")
    )
    errors = ("packages/api/b.py: x", "packages/b.py: x", ".: all", "the run ended\nbadly: x")

    own = own_results(TestReport(cases=cases, collection_errors=errors, timed_out=True), OUTER.holds)

    assert [case.id for case in own.cases] == ["packages/a.py::t"]
    assert own.collection_errors == errors[1:]
    assert own.timed_out


def test_parameters_keep_what_is_a_service_s_own_and_without_any_it_is_not_asked() -> None:
    both = SimulateParams(
        tests=("packages/a.py::t", "packages/api/a.py"),
        groups=(("packages/a.py::t",), ("packages/api/a.py",)),
    )
    own = own_params(both, OUTER.holds)

    assert own is not None
    assert (own.tests, own.groups) == (("packages/a.py::t",), (("packages/a.py::t",),))
    assert own_params(Artifacts(artifacts=("a.py",)), OUTER.holds) is None
    assert own_params(Artifacts(artifacts=()), OUTER.holds) == Artifacts(artifacts=())
    assert own_params(TraceParams(test="packages/api/a.py::t"), OUTER.holds) is None
