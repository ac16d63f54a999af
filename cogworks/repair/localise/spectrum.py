"""How suspicious lines are, judged by which tests execute them."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from cogworks.domain_services.exploring import TestCoverage

Spectrum = Mapping[str, Mapping[int, float]]
"""Artifact -> line -> Ochiai's coefficient, 0 to 1; lines that no failing test executes are left out."""


def ochiai(*, failing_on: int, failing_off: int, passing_on: int) -> float:
    """Ochiai's coefficient of an element, 0 to 1; 0 where it says nothing.

    Source: Abreu et al., "An Evaluation of Similarity Coefficients for Software Fault Localization", PRDC 2006.

    Args:
        failing_on: failing tests that execute the element.
        failing_off: failing tests that do not.
        passing_on: passing tests that execute it.
    """
    root = math.sqrt((failing_on + failing_off) * (failing_on + passing_on))
    return failing_on / root if root else 0.0


def spectrum_of(
    tests: Sequence[TestCoverage],
    failing: Collection[str],
    *,
    is_suspect: Callable[[str], bool] = lambda _: True,
) -> Spectrum:
    """The coefficient of every line that a failing test executes.

    Args:
        failing: ids of the tests that fail; every other test of `tests` counts as passing.
        is_suspect: whether a fault may be in this artifact; tests, fixtures and vendored files are not.
    """
    bad = _hits(tests, is_suspect, lambda test: test in failing)
    good = _hits(tests, is_suspect, lambda test: test not in failing)
    all_failing = sum(1 for each in tests if each.test in failing)
    scores: dict[str, dict[int, float]] = {}
    for (artifact, line), hits in sorted(bad.items()):
        score = ochiai(failing_on=hits, failing_off=all_failing - hits, passing_on=good[artifact, line])
        scores.setdefault(artifact, {})[line] = score
    return scores


def _hits(
    tests: Sequence[TestCoverage], is_suspect: Callable[[str], bool], counts: Callable[[str], bool]
) -> Counter[tuple[str, int]]:
    found: Counter[tuple[str, int]] = Counter()
    for each in tests:
        if counts(each.test):
            found.update(
                {
                    (artifact, line)
                    for artifact, stretches in each.lines.items()
                    if is_suspect(artifact)
                    for first, last in stretches
                    for line in range(first, last + 1)
                }
            )
    return found
