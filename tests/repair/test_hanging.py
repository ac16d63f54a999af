import pytest

from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.testcommand import FIRST_S, TestPace, derived_s
from cogworks.repair.transact.gates import Gate, doubtful
from cogworks.repair.transact.measure import Measurement, measured


def report(*hung: str, slowest_s: float = 0.0) -> TestReport:
    cases = tuple(TestCase(id=each, outcome="failed") for each in hung)
    return TestReport(cases=cases, hung=hung, slowest_s=slowest_s)


@pytest.mark.parametrize(
    ("slowest_s", "limit_s"),
    [(0.001, 10), (1.5, 15), (12, 120), (40, 300)],
    ids=["least", "ten", "ten", "most"],
)
def test_the_limit_follows_from_the_slowest_test_that_passes(slowest_s: float, limit_s: float) -> None:
    assert derived_s(slowest_s) == limit_s


def test_only_the_whole_suite_says_how_long_its_tests_take() -> None:
    pace = TestPace()

    pace.learn(report(slowest_s=2), is_whole=False)
    assert pace.limit_s == FIRST_S
    pace.learn(report(), is_whole=True)
    assert pace.limit_s == FIRST_S
    pace.learn(report(slowest_s=2), is_whole=True)
    assert pace.limit_s == 20


def test_a_limit_that_is_given_stays() -> None:
    pace = TestPace(3)

    pace.learn(report(slowest_s=2), is_whole=True)

    assert pace.limit_s == 3


def test_a_test_that_hangs_is_named_once_with_the_limit_it_had() -> None:
    said: list[str] = []
    pace = TestPace(warn=said.append)

    pace.learn(report("t.py::a", slowest_s=1), is_whole=True)
    pace.learn(report("t.py::a", "t.py::b"), is_whole=False)

    assert [each.split(".")[0:2] for each in said] == [
        ["t", "py::a hangs: it was ended after 60 s"],
        ["t", "py::b hangs: it was ended after 10 s"],
    ]


def test_what_hangs_is_not_run_again_to_see_whether_it_is_flaky() -> None:
    gate = Gate(name="regression", tests=("t.py",), timeout_s=9)
    before = Measurement(passing=frozenset({"t.py::a", "t.py::b"}))
    failed = TestReport(cases=tuple(TestCase(id=f"t.py::{each}", outcome="failed") for each in "ab"))
    hung = failed.model_copy(update={"hung": ("t.py::b",)})

    def again(found: TestReport) -> tuple[str, ...]:
        return doubtful(gate, found, before=before, after=measured(found))

    assert again(failed) == ("t.py::a", "t.py::b")
    assert again(hung) == ()
