"""Checks that nobody who proposes a change is shown: what it makes of inputs beside those of the tests, and what the tests would notice."""

from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from cogworks.codebase.changes import matching
from cogworks.codebase.diffmodel import Diff, Hunk, edits_of
from cogworks.domain_services.exploring import Against, Beside, BesideCall, BesideParams, Lines, Mutant
from cogworks.repair.violations import TestRules

MOST_MUTANTS = 8
_FEWEST_BESIDE = 5
"""With fewer inputs it is no wonder that none of them is treated otherwise."""
_SHOWN = 3

_Stretches = tuple[Lines, ...]


class TriesBeside(Protocol):
    """Who runs what is held back; `cogworks.repair.consulting.Consulted`."""

    def beside(self, params: BesideParams) -> Beside | None:
        """The result in the worktree as it lies there; None: unknown."""


class Among(NamedTuple):
    """The tests on which mistakes were tried."""

    tried: int = 0
    left_out: int = 0
    """For there were too many."""
    called: str = "test that reaches the change"
    """What they all are, where none is left out."""


class Touched(NamedTuple):
    """The lines of a change in the files that are no tests, before and after it."""

    before: Mapping[str, tuple[Lines, ...]]
    after: Mapping[str, tuple[Lines, ...]]
    added: Mapping[str, tuple[Lines, ...]]
    """Of those after it, without those that were there before."""


def touched_by(diff: Diff, rules: TestRules) -> Touched:
    """Where a change stands; a hunk that only adds or only removes stands between two lines on the other side."""
    files = [file for file in diff.files if matching(file.path, rules.files) is None]
    touched = [(file, _stretches(file.hunks)) for file in files]
    return Touched(
        {file.old_path: before for file, (before, _, _) in touched},
        {file.path: after for file, (_, after, _) in touched},
        {file.path: added for file, (_, _, added) in touched if added},
    )


def without(texts: Mapping[str, str | None], tests: Sequence[str], touched: Touched) -> Against:
    """The code without a change, to compare with.

    Args:
        texts: of the files of the change before it (None: not there); what is no UTF-8 in them stands for its bytes.
        tests: whose calls are varied.
    """
    files = {
        path: text if text is None else b64encode(text.encode(errors="surrogateescape"))
        for path, text in texts.items()
    }
    return Against(files=files, tests=tuple(tests), lines=dict(touched.before))


def held_back_warnings(tried: Beside, among: Among) -> tuple[str, ...]:
    """What speaks for a change that knows the inputs of its tests, or that no test guards; a sentence each.

    Args:
        tried: on the code with the change, against that without it.
        among: the tests on which mistakes were tried.
    """
    return (*_narrow(tried), *unnoticed(tried.mutants, among))


def narrow_tests(tried: Beside) -> dict[str, int]:
    """The tests whose inputs alone are treated otherwise by a change -> how many inputs beside them are not."""
    before, after = tried.against or (), tried.calls
    old = {_key(call): call.outcome for call in before}
    own: dict[str, list[bool]] = defaultdict(list)
    others: dict[str, list[bool]] = defaultdict(list)
    changed = {
        (call.test, call.symbol, call.own)
        for call in after
        if call.own == call.given and old.get(_key(call), call.outcome) != call.outcome
    }
    values = {_key(call) for call in (*before, *after) if call.is_value}
    for call in after:
        if (call.test, call.symbol, call.own) not in changed or _key(call) not in old:
            continue
        is_other = old[_key(call)] != call.outcome
        if call.own == call.given:
            own[call.test].append(is_other)
        elif _key(call) in values:
            others[call.test].append(is_other)
    return {
        test: len(others[test])
        for test in own
        if len(others[test]) >= _FEWEST_BESIDE and not any(others[test])
    }


def _narrow(tried: Beside) -> tuple[str, ...]:
    counts = narrow_tests(tried)
    if not counts:
        return ()
    names = ", ".join(sorted(counts)[:_SHOWN])
    more = f" and {len(counts) - _SHOWN} more" if len(counts) > _SHOWN else ""
    count = sum(counts.values())
    warning = (
        f"The change treats the inputs of {names}{more} otherwise and none of {count} inputs beside them: it may know these "
        "inputs instead of repairing the cause."
    )
    return (warning,)


def unnoticed(mutants: Sequence[Mutant], among: Among) -> tuple[str, ...]:
    """A sentence about the lines in which none of the mistakes is noticed; none where there is no such line."""
    by_line: dict[str, list[Mutant]] = defaultdict(list)
    for each in mutants:
        by_line[f"{each.artifact}:{each.line}"].append(each)
    blind = {
        place: on_line[0].change
        for place, on_line in by_line.items()
        if not any(each.is_noticed for each in on_line)
    }
    if not blind:
        return ()
    places = ", ".join(f"{place} ({change})" for place, change in [*blind.items()][:_SHOWN])
    more = f" and {len(blind) - _SHOWN} more" if len(blind) > _SHOWN else ""
    if among.left_out:
        seen = f"None of the {among.tried} tests that were tried notices a mistake at {places}{more}"
        return (f"{seen}; {among.left_out} others were not tried.",)
    return (f"No {among.called} notices a mistake at {places}{more}: nothing guards these lines.",)


def _key(call: BesideCall) -> tuple[str, str, str, str]:
    return call.test, call.symbol, call.own, call.given


def _stretches(hunks: Iterable[Hunk]) -> tuple[_Stretches, _Stretches, _Stretches]:
    """Where the changes stand before and after, and what is new; what only comes or goes stands between two lines on the other side."""
    before: list[Lines] = []
    after: list[Lines] = []
    added: list[Lines] = []
    shift = 0
    for hunk in hunks:
        for edit in edits_of(hunk):
            before.append(_stretch(edit.start, len(edit.removed)))
            after.append(_stretch(edit.start + shift, len(edit.added)))
            added += after[-1:] if edit.added else []
            shift += len(edit.added) - len(edit.removed)
    return tuple(before), tuple(after), tuple(added)


def _stretch(start: int, count: int) -> Lines:
    return (start + 1, start + count) if count else (max(1, start), start + 1)
