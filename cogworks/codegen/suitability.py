"""Whether a task fits the repository it is about, what of a report is its business, and whether a proof holds for it.

What an operator can do about tests that cannot even be loaded.
"""

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from cogworks.codebase.patchtree import TreeState
from cogworks.cycle.events import Event, ExecutionComplete
from cogworks.domain_services.messages import TestReport, commands_of, hides_any, is_hidden, versions_of
from cogworks.repair.instance import Instance
from cogworks.repair.proof import AGAINST, Proof, Runs, Tree, proven_tests
from cogworks.repair.transact.measure import BAD, is_of, with_hidden_tests
from cogworks.repair.transact.transaction import Tree as PatchedTree
from cogworks.repair.unloaded import Unloaded, unloaded_between, unloaded_of
from cogworks.repair.weakening import Weakened


def state_of(tree: PatchedTree) -> TreeState:
    """What may be gone back to, without anything being under way."""
    with tree.hold():
        state = tree.checkpoint()
        tree.finish()
    return state


def proven_tree(state: TreeState) -> Tree:
    """The same in the words of a proof."""
    return Tree(commit=state.head, tree=state.tree)


def of_targets(test: str, instance: Instance) -> bool:
    """Whether a test is among those to repair."""
    return any(is_of(test, target) or is_of(target, test) for target in instance.failing_tests)


def failing_in(report: TestReport) -> tuple[str, ...]:
    """Every test that fails; where none does, the files and folders that could not be loaded."""
    failing = tuple(dict.fromkeys(case.id for case in report.cases if case.outcome in BAD))
    return failing or tuple(each.place for each in unloaded_of(report.collection_errors))


def known_before(report: TestReport, instance: Instance) -> TestReport:
    """The suite as it was found without the tests to repair: what fails in it may go on failing."""
    return report.model_copy(
        update={
            "cases": tuple(case for case in report.cases if not of_targets(case.id, instance)),
            "collection_errors": tuple(
                error for error in report.collection_errors if not hides_any(error, instance.failing_tests)
            ),
        }
    )


def failing_targets(report: TestReport, instance: Instance) -> TestReport | None:
    """The failures among the tests to repair; None when there is none."""
    cases = [case for case in report.cases if case.outcome in BAD and of_targets(case.id, instance)]
    errors = [error for error in report.collection_errors if hides_any(error, instance.failing_tests)]
    if not cases and not errors:
        return None
    hung = tuple(test for test in report.hung if of_targets(test, instance))
    return TestReport(cases=tuple(cases), collection_errors=tuple(errors), hung=hung)


def unfit(report: TestReport, instance: Instance) -> str:
    """Why there is nothing to repair, from the first run of the suite; empty when there is."""
    if report.timed_out:
        hung = f" ({', '.join(report.hung)})" if report.hung else ""
        return f"the tests did not come to an end{hung}; nothing can be proven"
    problems = [problem for target in instance.failing_tests if (problem := _unfit(target, report))]
    return "; ".join(problems)


def misnamed(report: TestReport, instance: Instance) -> tuple[str, ...]:
    """What is wrong with each id that names no test, where tests ran; the nearest names among it."""
    if report.timed_out or not report.cases:
        return ()
    return tuple(
        _unfit(target, report)
        for target in instance.failing_tests
        if not any(is_of(case.id, target) for case in report.cases)
        and not is_hidden(target, report.collection_errors)
    )


def repair_proof(
    trees: tuple[Tree, Tree],
    runs: Runs,
    *,
    weakened: tuple[Weakened, ...],
    command: str,
    unstable: tuple[str, ...],
    targets: Sequence[str] = (),
    warnings: tuple[str, ...] = (),
) -> Proof:
    """The proof of what lies between two trees.

    Args:
        trees: where the repair began, and where it is.
        command: of the task; empty: as the runs themselves say.
        unstable: tests whose names change from run to run.
        targets: the tests to repair; that they could not be loaded before is what was to be repaired.
        warnings: what makes the change doubtful.
    """
    base, head = trees
    ran = (runs.base, runs.head, *runs.reruns)
    known = with_hidden_tests(runs.base, runs.head).collection_errors
    return Proof(
        base=base,
        head=head,
        commands=(command,) if command else commands_of(ran),
        versions=versions_of(ran),
        tests=proven_tests(runs),
        weakened=weakened,
        uncollected=tuple(each for each in runs.head.collection_errors if each not in known),
        unloaded=_never_loaded(runs, targets),
        guard="suite" if any(case.outcome == "passed" for case in runs.base.cases) else "empty",
        unstable=unstable,
        warnings=warnings,
    )


def _never_loaded(runs: Runs, targets: Sequence[str]) -> tuple[Unloaded, ...]:
    unloaded = unloaded_between(
        unloaded_of(runs.base.collection_errors), unloaded_of(runs.head.collection_errors)
    )
    return tuple(each for each in unloaded if each.after or not hides_any(each.place, targets))


def unproven(proof: Proof, instance: Instance) -> tuple[str, ...]:
    """Why a proof does not hold for a task; nothing when it does."""
    passing = proof.having("fail_to_pass", "pass_to_pass", "new_and_passes")
    problems = [
        f"{target} does not pass"
        for target in instance.failing_tests
        if not any(is_of(test, target) for test in passing)
    ]
    problems += [f"{test.id}: {test.verdict}" for test in proof.tests if test.verdict in AGAINST]
    problems += [f"{each.path} is weakened: {each.line}" for each in proof.weakened]
    problems += [f"cannot be loaded: {each}" for each in proof.uncollected]
    return tuple(problems)


def _unfit(target: str, report: TestReport) -> str:
    own = [case for case in report.cases if is_of(case.id, target)]
    unloaded = is_hidden(target, report.collection_errors)
    if any(case.outcome in BAD for case in own) or unloaded:
        return ""
    if not report.cases and report.collection_errors:
        # What is said of the run as a whole comes last.
        return f"no test ran: {report.collection_errors[-1]}"
    if not own:
        return f"{target} is none of the {len(report.cases)} tests that ran{_meant(target, report)}"
    outcomes = ", ".join(sorted({case.outcome for case in own}))
    return f"{target} does not fail ({outcomes}); there is nothing to repair"


_NEAREST = 3


def _meant(target: str, report: TestReport) -> str:
    """What to write instead: tests of that name in any file, else the nearest ids or names, else how an id looks."""
    ids = [case.id for case in report.cases]
    names = {test: _name(test) for test in ids}
    near = get_close_matches(_name(target), dict.fromkeys(names.values()), n=_NEAREST)
    close = (
        [test for test in ids if names[test] == _name(target)]
        or get_close_matches(target, ids, n=_NEAREST)
        or [test for name in near for test in ids if names[test] == name]
    )
    if close:
        return f"; did you mean {' or '.join(close[:_NEAREST])}?"
    failing = [case.id for case in report.cases if case.outcome in BAD]
    return "".join(f"; write an id as the runner does, e.g. {test}" for test in (failing or ids)[:1])


def _name(test: str) -> str:
    """The function of a test, whichever way its id is written."""
    return re.split(r"::|\.", test.partition("[")[0])[-1]


_MISSING = re.compile(r"No module named '([\w.]+)'")
_SHOWN = 5


def import_hint(collection_errors: Sequence[str]) -> str:
    """What to do about modules that the tests cannot import; empty when they find all of them."""
    names = list(dict.fromkeys(_MISSING.findall("\n".join(collection_errors))))[:_SHOWN]
    if not names:
        return ""
    return (
        f"tests could not be loaded: no module named {', '.join(names)}. Where that is a package, name it among the "
        "dependencies that the repository declares; they are installed for the tests (`cogworks doctor` says where). Where it "
        "is a module of the repository, set `pythonpath` in its pytest configuration"
    )


class Hints:
    """Listens to one repair, and tells each hint once."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._hinted: set[str] = set()

    def __call__(self, event: Event) -> None:
        if not isinstance(event.body, ExecutionComplete) or event.body.result.tests is None:
            return
        hint = import_hint(event.body.result.tests.collection_errors)
        if hint and hint not in self._hinted:
            self._hinted.add(hint)
            self._tell(hint)
