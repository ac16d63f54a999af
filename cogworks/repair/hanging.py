"""How long one test may take, and which do not come to their end: each is named at once."""

from collections.abc import Callable

from cogworks.domain_services.messages import TestReport

FIRST_S = 60.0
"""Until it is known how long the tests take that pass."""
_LEAST_S = 10.0
_MOST_S = 300.0
_TIMES = 10
"""Of the slowest that passed: another machine's load, and the lines that coverage counts."""


class TestPace:
    """The limit of one test: as given, or derived from the slowest test of the whole suite that passed."""

    __test__ = False

    def __init__(self, given_s: float = 0.0, *, warn: Callable[[str], None] = lambda _: None) -> None:
        """Args:
        given_s: 0: none was given.
        warn: is told of each test that hangs, once.
        """
        self._given_s = given_s
        self._derived_s = FIRST_S
        self._warn = warn
        self._told: set[str] = set()

    @property
    def limit_s(self) -> float:
        return self._given_s or self._derived_s

    def learn(self, report: TestReport, *, is_whole: bool) -> None:
        """Take a run in that had the limit as it is.

        Args:
            is_whole: whether it was the whole suite.
        """
        for test in (each for each in report.hung if each not in self._told):
            self._told.add(test)
            self._warn(
                f"{test} hangs: it was ended after {self.limit_s:g} s. `--test-timeout SECONDS` sets another limit."
            )
        if is_whole and report.slowest_s:
            self._derived_s = derived_s(report.slowest_s)


def derived_s(slowest_s: float) -> float:
    """The limit where the slowest test that passed took so long."""
    return min(_MOST_S, max(_LEAST_S, round(_TIMES * slowest_s, 1)))
