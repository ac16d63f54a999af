"""Whether tests would notice a mistake in a change: a few are put into its lines, one at a time; the result is only a warning.

The tests of the change are tried first. Lines in which these notice nothing are tried once more, on the tests that import the change.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from cogworks.codebase.diffparsing import parse_diff
from cogworks.codegen.suite import near_tests
from cogworks.domain_services.exploring import BesideParams, Lines, Mutant
from cogworks.domain_services.messages import ErrorCode
from cogworks.domain_services.operations import BESIDE
from cogworks.domain_services.transport import ServiceFailed
from cogworks.nodes.contract import NodePorts, Workspace
from cogworks.nodes.task import NodeTask
from cogworks.repair.heldback import MOST_MUTANTS, Among, touched_by, unnoticed
from cogworks.repair.proof import Proof
from cogworks.repair.transact.measure import file_of
from cogworks.repair.violations import TestRules

MOST_TESTS = 100
"""Each mistake that is tried runs them again, until one notices it."""


def with_mistakes(
    proof: Proof, task: NodeTask, ports: NodePorts, workspace: Workspace, tests: Collection[str]
) -> Proof:
    """The proof, with a warning of lines in which no test notices a mistake.

    Args:
        tests: the files of tests that came with the change.
    """
    parsed = parse_diff(workspace.diff(task.base_branch))
    lines = {} if parsed.problems else dict(touched_by(parsed.diff, TestRules()).added)
    ends_s = ports.now() + task.conventions.change_limits.mistakes_s
    own, left_out = _passing(proof, tests)
    if not lines or not own or not task.conventions.change_limits.mistakes_s:
        return proof
    ports.say("trying whether the tests notice mistakes in the change")
    tried = list(_tried(ports, workspace, own, lines, ends_s))
    if blind := _blind(tried):
        others = {file_of(each.id) for each in proof.tests} - {*tests}
        near, more = _passing(proof, near_tests(ports, workspace, [*lines], others))
        tried += _tried(ports, workspace, near, blind, ends_s) if near else ()
        left_out, own = left_out + more, own + near
    warnings = unnoticed(tried, Among(len(own), left_out, "test of the change, and none near it,"))
    return proof.model_copy(update={"warnings": (*proof.warnings, *warnings)})


def _passing(proof: Proof, files: Collection[str]) -> tuple[tuple[str, ...], int]:
    """The tests in these files that passed each time, for what fails without a mistake notices none; and how many more there are.

    Those that the change made pass come first: a long file has them anywhere among its others.
    """
    steady = [
        each for each in proof.tests if {each.head, *each.reruns} == {"passed"} and file_of(each.id) in files
    ]
    tests = [each.id for each in sorted(steady, key=lambda each: each.base == "passed")]
    return tuple(tests[:MOST_TESTS]), len(tests[MOST_TESTS:])


def _tried(
    ports: NodePorts,
    workspace: Workspace,
    tests: Sequence[str],
    lines: Mapping[str, tuple[Lines, ...]],
    ends_s: float,
) -> Iterable[Mutant]:
    left_s = ends_s - ports.now()
    if left_s <= 0:
        return ()
    params = BesideParams(
        tests=tuple(tests), lines={}, mistakes_in=dict(lines), max_mutants=MOST_MUTANTS, timeout_s=left_s
    )
    try:
        answers = ports.service.call(BESIDE, workspace, params)
    except ServiceFailed as error:
        is_late = error.code is ErrorCode.TIMEOUT
        late = f"mistakes were not tried to the end, which would have taken more than the {left_s:.0f} s that were left"
        ports.say(late if is_late else f"{BESIDE.method} was left out: {error}")
        return ()
    results = [each.result for each in answers] if isinstance(answers, tuple) else []
    for note in dict.fromkeys(note for each in results for note in each.notes):
        ports.say(f"{BESIDE.method}: {note}")
    return [mutant for each in results for mutant in each.mutants]


def _blind(tried: Sequence[Mutant]) -> dict[str, tuple[Lines, ...]]:
    seen = {(each.artifact, each.line) for each in tried if each.is_noticed}
    lines_by_artifact: dict[str, list[Lines]] = {}
    for artifact, line in sorted({(each.artifact, each.line) for each in tried} - seen):
        lines_by_artifact.setdefault(artifact, []).append((line, line))
    return {artifact: tuple(stretches) for artifact, stretches in lines_by_artifact.items()}
