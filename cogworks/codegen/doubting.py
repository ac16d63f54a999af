"""What makes a repair doubtful that passes everything: it knows its tests, or no test guards it."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from cogworks.codebase.diffmodel import Diff, undone
from cogworks.codegen.diagnosing import Diagnosis
from cogworks.codegen.repair_job import Job, Notes, Tools
from cogworks.domain_services.exploring import Beside, BesideParams
from cogworks.domain_services.messages import TestReport
from cogworks.repair.heldback import MOST_MUTANTS, Among, held_back_warnings, touched_by, without
from cogworks.repair.overfitting import brings_values, warnings_of
from cogworks.repair.proof import Proof
from cogworks.repair.transact.measure import ids, is_of, limited_to

_MOST_TESTS = 100
"""Of those that reach the change; each mistake that is tried runs them again, until one notices it."""


class Doubts(NamedTuple):
    """What was found out."""

    warnings: tuple[str, ...] = ()
    """A sentence for each doubt."""
    reruns: tuple[TestReport, ...] = ()
    """Further runs of the tests of the repair that this took, where all of them passed in it."""


def doubts(
    changes: Diff, job: Job, notes: Notes, *, diagnosis: Diagnosis, tools: Tools, ends_s: float
) -> Doubts:
    """What makes a change doubtful that is proven but for further runs.

    Args:
        tools: whose `tries`, where there is somebody, runs what is held back from the proposer.
        ends_s: until when, by the clock of the tools.
    """
    tests = [each.text for each in notes.localised.tests] if notes.localised else []
    known = warnings_of(changes, tests, tools.explorer.text, job.rules)
    touched = touched_by(changes, job.rules)
    if tools.tries is None or not job.options.gates.held_back_s or not touched.after:
        return Doubts(known)
    targets = job.instance.failing_tests
    reaching = passing(diagnosis.regression([*touched.after]) or (), notes.proof)
    wanted = tuple(dict.fromkeys(chain(targets, reaching)))
    among = Among(len(wanted[:_MOST_TESTS]), len(wanted[_MOST_TESTS:]))
    has_values = brings_values(changes, job.rules)
    tried = _tried(
        BesideParams(
            tests=wanted[:_MOST_TESTS],
            # What the others call is not compared with anything, and a change without a value of its own knows no input.
            calls_of=tuple(targets),
            lines=dict(touched.after) if has_values else {},
            mistakes_in=dict(touched.added),
            max_mutants=MOST_MUTANTS,
            against=without(undone(changes, tools.explorer.text), targets, touched) if has_values else None,
        ),
        job,
        tools,
        ends_s,
    )
    if tried is None:
        return Doubts(known)
    again = limited_to(tried.report, targets)
    passed = ids(again, {"passed"})
    is_whole = all(any(is_of(case, target) for case in passed) for target in targets)
    reruns = (
        (again, *([again] if tried.again else [])) if is_whole and len(passed) == len(again.cases) else ()
    )
    return Doubts((*known, *held_back_warnings(tried, among)), reruns)


def _tried(params: BesideParams, job: Job, tools: Tools, ends_s: float) -> Beside | None:
    left_s = min(job.options.gates.held_back_s, ends_s - tools.now())
    if tools.tries is None or left_s <= 0:
        tools.say("No time is left to try inputs beside those of the tests.")
        return None
    return tools.tries.beside(params.model_copy(update={"timeout_s": left_s}))


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
