"""One way to try again: what may be repeated is said by what failed, and nobody really waits here."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.retrying import Again, End, Policy, doubling, retried

SLOWLY = Policy(2, pause=doubling(1.0))
PACKAGE = Path(__file__).parent.parent / "cogworks"


class Tries:
    """Fails as told, then has a result; remembers the pauses."""

    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)
        self.count = 0
        self.pauses: list[float] = []

    def __call__(self) -> str:
        self.count += 1
        if self._failures:
            raise self._failures.pop(0)
        return "done"

    def run(self) -> str:
        return retried(self, sleep=self.pauses.append)


def failing(policy: Policy = SLOWLY, **more: float) -> Again:
    return Again(policy, ValueError("the last"), wait_s=more.get("wait_s"))


def test_what_works_at_once_waits_for_nothing() -> None:
    tries = Tries()
    assert tries.run() == "done"
    assert tries.pauses == []


def test_each_pause_is_twice_the_one_before_it() -> None:
    tries = Tries(failing(), failing())
    assert tries.run() == "done"
    assert tries.pauses == [1.0, 2.0]


def test_the_error_of_the_last_try_is_raised_as_it_is() -> None:
    tries = Tries(*(failing() for _ in range(9)))
    with pytest.raises(ValueError, match="the last"):
        tries.run()
    assert (tries.count, tries.pauses) == (3, [1.0, 2.0])


@pytest.mark.parametrize("error", [RuntimeError("final"), KeyboardInterrupt()])
def test_what_does_not_ask_for_another_try_is_final(error: BaseException) -> None:
    def attempt() -> str:
        calls.append(1)
        raise error

    calls: list[int] = []
    with pytest.raises(type(error)):
        retried(attempt, sleep=lambda _: None)
    assert len(calls) == 1


def test_the_pause_that_the_other_side_asks_for_is_made() -> None:
    tries = Tries(failing(wait_s=7.0), failing())
    tries.run()
    assert tries.pauses == [7.0, 2.0]


def test_one_failure_may_allow_fewer_repeats_than_its_policy() -> None:
    tries = Tries(Again(SLOWLY, ValueError("broken"), repeats=0))
    with pytest.raises(ValueError, match="broken"):
        tries.run()
    assert tries.pauses == []


def test_a_pause_beyond_the_limit_of_all_is_not_begun() -> None:
    def ended(end: End) -> ValueError:
        ends.append(end)
        return ValueError("too long")

    ends: list[End] = []
    policy = Policy(5, pause=doubling(4.0), longest_s=10.0)
    tries = Tries(*(Again(policy, ended) for _ in range(5)))
    with pytest.raises(ValueError, match="too long"):
        tries.run()
    assert tries.pauses == [4.0]
    assert ends == [End(failures=2, wait_s=8.0, longest_s=10.0)]


def test_a_pause_that_uses_up_the_callers_time_is_not_begun() -> None:
    policy = Policy(5, pause=doubling(4.0), left_s=lambda: 4.0)
    tries = Tries(failing(policy))
    with pytest.raises(ValueError, match="the last"):
        tries.run()
    assert tries.pauses == []


def test_two_kinds_of_failures_are_counted_apart() -> None:
    limited = Policy(1, pause=doubling(60.0))
    tries = Tries(failing(), failing(limited), failing())
    assert tries.run() == "done"
    assert tries.pauses == [1.0, 60.0, 2.0]


@given(
    repeats=st.integers(0, 6), first_s=st.floats(0, 5), longest_s=st.floats(0, 40), count=st.integers(0, 9)
)
def test_no_call_tries_more_often_or_waits_longer_than_its_policy(
    repeats: int, first_s: float, longest_s: float, count: int
) -> None:
    policy = Policy(repeats, pause=doubling(first_s), longest_s=longest_s)
    tries = Tries(*(failing(policy) for _ in range(count)))
    try:
        tries.run()
    except ValueError:
        assert tries.count <= count
    assert tries.count <= repeats + 1
    assert sum(tries.pauses) <= longest_s


def test_nothing_else_drives_tries_with_the_library() -> None:
    importing: Callable[[str], object] = re.compile(r"^\s*(from|import) tenacity", re.MULTILINE).search
    users = [path.name for path in PACKAGE.rglob("*.py") if importing(path.read_text(encoding="utf-8"))]
    assert users == ["retrying.py"]
