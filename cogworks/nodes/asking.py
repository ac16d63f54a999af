"""How a node asks the model until the answer passes the node's own checks."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from cogworks.nodes.contract import Failed, NodeShell, NodeTask, Reply, Visit


@dataclass(frozen=True)
class Question(Generic[Reply]):
    """One question to the model and what makes its answer acceptable."""

    prompt: str
    """Stem of the template."""
    variables: Mapping[str, Any]
    reply_type: type[Reply]
    check: Callable[[Reply], Sequence[str]]
    """Every problem of an answer, in words the model can act on; empty = accepted."""
    name: str = ""
    """Names the question where its template does not; several nodes may share one."""


def purpose_of(prompt: str, visit: Visit, attempt: int) -> str:
    """The stable name of one question: `<prompt>[-<sub-item>][-v<ordinal>]-<attempt>`; the first visit has no `v`."""
    sub_item = f"-{visit.sub_item}" if visit.sub_item else ""
    rework = f"-v{visit.ordinal}" if visit.ordinal > 1 else ""
    return f"{prompt}{sub_item}{rework}-{attempt}"


def retry_variables(previous: str = "", problems: Sequence[str] = ()) -> dict[str, Any]:
    """What the template part `_again` needs; without arguments it renders to nothing."""
    return {"previous": previous, "problems": list(problems)}


def as_previous(reply: Reply) -> str:
    """An answer as the model is shown it again."""
    return json.dumps(reply.model_dump(mode="json"), indent=2, ensure_ascii=False)


def ask_until_sound(shell: NodeShell, task: NodeTask, question: Question[Reply]) -> Reply | Failed:
    """The first answer that passes the check, or a failure that lists what was wrong with the last one.

    Raises: InvalidReply when an answer does not even fit its schema, BudgetReached, TryAgainLater.
    """
    again = retry_variables()
    problems: Sequence[str] = ()
    name = question.name or question.prompt
    visit, max_answers = task.visit, task.conventions.max_answers
    for attempt in range(1, max_answers + 1):
        reply = shell.model.ask(
            question.prompt,
            {**question.variables, **again},
            question.reply_type,
            purpose=purpose_of(name, visit, attempt),
        )
        problems = question.check(reply)
        if not problems:
            return reply
        shell.say(f"{name}: answer {attempt} refused: {problems[0]}")
        again = retry_variables(as_previous(reply), problems)
    listed = "\n".join(f"- {problem}" for problem in problems)
    return Failed(
        reason=f"{visit.node}: none of {max_answers} answers of the model was usable. The last one:\n{listed}\n"
        "Make the issue more precise, then remove the trigger label and set it again.",
        category="invalid_reply",
    )
