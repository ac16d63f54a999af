"""Lets a model put the finalists into another order, and nothing else."""

from collections.abc import Sequence
from typing import NamedTuple

from cogworks.errors import InvalidReply
from cogworks.repair.planning import Model
from cogworks.repair.proposing import Proposal, Request
from cogworks.repair.replies import JudgeReply


class Ruling(NamedTuple):
    """The proposals in their order, and how it came about."""

    proposals: tuple[Proposal, ...]
    order: tuple[str, ...] = ()
    """The names of the finalists as the judge has them; empty when it was not asked or not followed."""
    problem: str = ""
    """Why the judge was not followed."""


def judge(proposals: Sequence[Proposal], request: Request, model: Model, *, finalists: int) -> Ruling:
    """The proposals with the first of them in the judge's order; as they were when its answer is no order of these.

    Args:
        finalists: only so many reach the tree, so only these are worth a question.

    Raises: BudgetReached before a call that could cost too much.
    """
    kept = tuple(proposals)
    named = {f"diff-{number}": each for number, each in enumerate(kept[:finalists], 1)}
    if len(named) < 2:
        return Ruling(kept)
    variables = {
        "failures": request.situation.failures(),
        "pattern": request.pattern.summary,
        "landmark": request.landmark.intent,
        "diffs": [{"id": name, "text": each.diff} for name, each in named.items()],
    }
    try:
        reply = model.ask("judge_diffs", variables, JudgeReply, purpose=f"{request.purpose}-judge")
    except InvalidReply as error:
        return Ruling(kept, problem=str(error))
    if sorted(reply.order) != sorted(named):
        wanted = ", ".join(named)
        return Ruling(kept, problem=f"the judge named {', '.join(reply.order)}, wanted each of {wanted} once")
    return Ruling((*(named[name] for name in reply.order), *kept[finalists:]), reply.order)
