"""Which hunks of a release turn which failing test green: smallest sets, found by trying."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

Hunks = frozenset[int]
"""Numbers of hunks."""
Passing = Callable[[Hunks, Sequence[str]], frozenset[str]]
"""Those of the tests that pass on the older release with these hunks."""


class Joined(NamedTuple):
    """Hunks and the tests they turn green."""

    bugs: tuple[tuple[tuple[Hunks, tuple[str, ...]], ...], ...]
    """Each in pieces, in order."""
    left_out: tuple[tuple[Hunks, tuple[str, ...]], ...]


def smallest_sets(hunks: Hunks, tests: Collection[str], passing: Passing) -> dict[str, Hunks]:
    """For each test a set of hunks with which it passes; tests of one set need every hunk of it.

    A hunk is needed when the test fails without it, all others applied. Where what is needed is not enough, because
    either of two hunks would do, hunks are taken away one after the other while the test still passes.

    Args:
        tests: fail with no hunk and pass with all of these.
    """
    everything = frozenset(hunks)
    needed: dict[str, set[int]] = {test: set() for test in tests}
    _find_needed(sorted(hunks), sorted(tests), everything, passing, needed)
    found: dict[str, Hunks] = {}
    for enough, group in _grouped({test: frozenset(each) for test, each in needed.items()}).items():
        good = passing(enough, group) if enough else frozenset()
        if good:
            found |= dict.fromkeys(good, _lessened(enough, sorted(good), passing))
        left = [test for test in group if test not in good]
        while left:
            less = _lessened(everything, left[:1], passing)
            same = {left[0], *passing(less, left)}
            found |= dict.fromkeys(same, less)
            left = [test for test in left if test not in same]
    return found


def _find_needed(
    chunk: Sequence[int],
    tests: Sequence[str],
    everything: Hunks,
    passing: Passing,
    needed: Mapping[str, set[int]],
) -> None:
    """Halves without which every test passes hold nothing that is needed, and are not looked into."""
    passed = passing(everything - {*chunk}, tests)
    failed = [test for test in tests if test not in passed]
    if len(chunk) == 1:
        for test in failed:
            needed[test].add(chunk[0])
    elif failed:
        half = len(chunk) // 2
        for part in (chunk[:half], chunk[half:]):
            _find_needed(part, failed, everything, passing, needed)


def _lessened(hunks: Hunks, tests: Sequence[str], passing: Passing) -> Hunks:
    """As few of the hunks as these tests need together: halves are tried first, then quarters, down to single ones."""
    left = sorted(hunks)
    size = len(left) // 2
    while size:
        start = 0
        while start < len(left) and len(left) > 1:
            less = left[:start] + left[start + size :]
            if less and passing(frozenset(less), tests).issuperset(tests):
                left = less
            else:
                start += size
        size = size // 2
    return frozenset(left)


def _grouped(sets: Mapping[str, Hunks]) -> dict[Hunks, list[str]]:
    groups: dict[Hunks, list[str]] = {}
    for test, hunks in sets.items():
        groups.setdefault(hunks, []).append(test)
    return groups


def joined(sets: Mapping[str, Hunks], fits: Callable[[Hunks], bool]) -> Joined:
    """The sets as bugs that have no hunk in common, the smaller sets first.

    Sets that share a hunk belong to one bug, each a piece of it: what it adds to those before it. One that would make
    a bug larger than fits is left out.
    """
    bugs: list[list[tuple[Hunks, tuple[str, ...]]]] = []
    left_out: list[tuple[Hunks, tuple[str, ...]]] = []
    for hunks, tests in sorted(_grouped(sets).items(), key=lambda each: (len(each[0]), sorted(each[0]))):
        touching = [bug for bug in bugs if any(hunks & piece for piece, _ in bug)]
        before = [piece for bug in touching for piece in bug]
        if not fits(hunks.union(*(piece for piece, _ in before))):
            left_out.append((hunks, tuple(tests)))
            continue
        added = hunks.difference(*(piece for piece, _ in before))
        if added:
            before.append((added, tuple(tests)))
        else:
            # It needs what is there already, from pieces that were bugs of their own.
            before[-1] = (before[-1][0], (*before[-1][1], *tests))
        bugs = [*(bug for bug in bugs if bug not in touching), before]
    return Joined(tuple(tuple(bug) for bug in bugs), tuple(left_out))
