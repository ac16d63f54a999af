"""What makes a repair doubtful that passes everything: it knows its tests, or no test guards it."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Protocol

from cogworks.codebase.diffmodel import Diff, undone
from cogworks.codegen.diagnosing import Diagnosis
from cogworks.codegen.repair_job import Job, Notes
from cogworks.domain_services.exploring import BesideParams
from cogworks.repair.heldback import MOST_MUTANTS, TriesBeside, held_back_warnings, touched_by
from cogworks.repair.overfitting import warnings_of
from cogworks.repair.proof import Proof
from cogworks.repair.transact.measure import is_of

_MOST_TESTS = 60
"""Of those that reach the change; each mistake that is tried runs them again."""


class Reads(Protocol):
    """Who knows the files as they lie there."""

    def text(self, path: str) -> str | None: ...


def doubts(
    changes: Diff, job: Job, notes: Notes, *, diagnosis: Diagnosis, reads: Reads, tries: TriesBeside | None
) -> tuple[str, ...]:
    """A sentence for each doubt.

    Args:
        changes: the whole of the repair.
        tries: who runs what is held back from whoever proposes; None: nobody.
    """
    tests = [each.text for each in notes.localised.tests] if notes.localised else []
    known = warnings_of(changes, tests, reads.text, job.rules)
    seconds = job.options.gates.held_back_s
    touched = touched_by(changes, job.rules)
    if tries is None or not seconds or not touched.after:
        return known
    targets = job.instance.failing_tests
    reaching = passing(diagnosis.regression([*touched.after]) or (), notes.proof)
    guards = tuple(islice(dict.fromkeys(chain(targets, reaching)), _MOST_TESTS))
    after = tries.beside(
        BesideParams(
            tests=guards,
            lines=dict(touched.after),
            mistakes_in=dict(touched.added),
            max_mutants=MOST_MUTANTS,
            timeout_s=seconds,
        )
    )
    if after is None:
        return known
    before = None
    if after.calls:
        asked = BesideParams(tests=targets, lines=dict(touched.before), timeout_s=seconds)
        before = tries.beside(asked, instead=undone(changes, reads.text))
    return (*known, *held_back_warnings(before, after))


def passing(tests: Sequence[str], proof: Proof | None) -> Iterator[str]:
    """Those of which every case passed in all runs with the change: one that fails anyway notices no mistake."""
    outcomes = {each.id: {each.head, *each.reruns} for each in proof.tests} if proof else {}
    for test in tests:
        seen = (
            [outcomes[test]]
            if test in outcomes
            else [outcomes[each] for each in outcomes if is_of(each, test)]
        )
        if seen and all(each == {"passed"} for each in seen):
            yield test
