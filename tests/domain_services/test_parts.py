"""A run of tests in parts: asked for until nothing is left, and one report in the end."""

from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.checking import Parts
from cogworks.domain_services.messages import Repository, Request, Response, TestCase, TestReport
from cogworks.domain_services.parts import NO_PROGRESS, beside, in_parts, joined, slowest
from cogworks.domain_services.roots import lies_in, own_results
from cogworks.services.python.roots import answered_in_root


def ran(*files: str, left: Sequence[str] = (), **more: object) -> TestReport:
    cases = tuple(TestCase(id=f"{file}::it", outcome="passed") for file in files)
    return TestReport(cases=cases, left=tuple(left)).model_copy(update=more)


@given(st.integers(1, 12), st.integers(1, 5))
def test_every_file_runs_once_however_many_there_is_time_for(number: int, at_once: int) -> None:
    files = [f"test_{n}.py" for n in range(number)]
    asked: list[tuple[tuple[str, ...], Parts]] = []

    def ask(tests: Sequence[str], parts: Parts) -> TestReport:
        asked.append((tuple(tests), parts))
        wanted = list(tests) or files
        return ran(*wanted[:at_once], left=wanted[at_once:])

    whole = joined(list(in_parts(ask)))

    assert [case.id for case in whole.cases] == [f"{file}::it" for file in files]
    assert whole.passed
    assert [parts for _, parts in asked] == ["if_long", *["rest"] * (len(asked) - 1)]


def test_who_names_the_same_again_is_not_asked_for_ever() -> None:
    first, second = in_parts(lambda *_: ran(left=["a.py"]))

    assert (first.left, first.timed_out) == (("a.py",), False)
    assert (second.left, second.timed_out, second.remedies) == ((), True, (NO_PROGRESS,))


def test_a_run_that_ends_in_the_middle_of_a_file_is_not_gone_on_with() -> None:
    [only] = in_parts(lambda *_: ran("a.py", left=["b.py"], timed_out=True))

    assert only.left == ("b.py",)
    assert not only.passed


def test_parts_are_one_report_that_says_how_many_there_were() -> None:
    one = ran("a.py", left=["b.py"], commands=("pytest",), seconds={"a.py": 2.0}, remedies=("Do.",))
    two = ran("b.py", commands=("pytest b.py",), seconds={"b.py": 3.0}, remedies=("Do.",))

    whole = joined([one, two])

    assert whole.commands == ("pytest", "… in 2 runs, each of what the one before it had left")
    assert (whole.left, whole.remedies, whole.seconds) == ((), ("Do.",), {"a.py": 2.0, "b.py": 3.0})
    assert joined([one]) == one
    assert slowest(whole) == (("b.py", 3.0), ("a.py", 2.0))


def test_of_several_services_each_tells_what_it_has_left() -> None:
    found = beside([ran("a.py", left=["b.py"]), ran("x.go", left=["y.go"], seconds={"x.go": 1.0})])

    assert (found.left, found.seconds) == (("b.py", "y.go"), {"x.go": 1.0})


def test_what_is_left_in_another_s_folder_is_that_one_s_to_run() -> None:
    report = ran(left=["api/a.py", "web/b.py::it"], seconds={"api/a.py": 1.0, "web/b.py": 2.0})

    found = own_results(report, lambda path: lies_in(path, "api"))

    assert (found.left, found.seconds) == (("api/a.py",), {"api/a.py": 1.0})


def test_what_a_service_of_a_root_has_left_has_the_paths_of_the_repository(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    report = ran("a.py", left=["b.py", "c.py::it"], seconds={"a.py": 1.0})
    request = Request(
        request_id="1",
        method="simulate",
        repository=Repository(path=str(tmp_path), root="api"),
        params={"tests": ["api/a.py", "api/b.py", "api/c.py::it"]},
    )

    response = answered_in_root(
        request,
        tmp_path,
        lambda *_: Response(request_id="1", status="failure", result=report.model_dump(mode="json")),
    )

    assert response.result["left"] == ["api/b.py", "api/c.py::it"]
    assert response.result["seconds"] == {"api/a.py": 1.0}
