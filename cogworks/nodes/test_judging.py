"""Whether written tests assert what is wanted, as a model sees it: an opt-in question before they are handed over."""

from collections.abc import Sequence

from cogworks.coding.feedback import MAX_PROBLEMS, Trial
from cogworks.nodes.asking import purpose_of
from cogworks.nodes.coding_prompt import judging_variables
from cogworks.nodes.contract import NodeShell, NodeTask, Workspace
from cogworks.nodes.replies import JudgedTests, PlannedItem

PROMPT = "judge_tests"
CATEGORY = "TEST_MEANING"


def judged(
    task: NodeTask, shell: NodeShell, *, workspace: Workspace, item: PlannedItem, paths: Sequence[str]
) -> Trial:
    """One question about the tests that stand in the tree; its answer is in the ledger before anything follows from it.

    Args:
        paths: of the test file and all that belongs to it.
    """
    shell.say(f"{item.key}: asking whether the tests assert what is wanted")
    reply = shell.model.ask(
        PROMPT,
        judging_variables(task, workspace, item, paths),
        JudgedTests,
        purpose=purpose_of(PROMPT, task.visit, 1),
    )
    shell.checkpoint()
    problems = objections(reply, paths)
    return Trial(category=CATEGORY, problems=problems) if problems else Trial()


def objections(reply: JudgedTests, paths: Sequence[str]) -> tuple[str, ...]:
    """What the writer is told; nothing of files that are not theirs."""
    found = [
        f"{verdict.file}: {verdict.test} {_misses(verdict.demand)}: {verdict.explanation or 'no reason was given'}"
        for verdict in reply.verdicts
        if not verdict.holds and verdict.file in paths
    ]
    found += [f"no test asserts this acceptance criterion: {criterion}" for criterion in reply.untested]
    return tuple(found[:MAX_PROBLEMS])


def _misses(demand: str) -> str:
    if not demand:
        return "asserts what neither specification nor acceptance criteria ask for"
    return f"does not assert what is wanted ({demand})"
