"""How a node asks the model until the answer passes the node's own checks.

What a model proposed that a person has to decide on, so that the node ends at once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic

from cogworks.codebase.asking import is_asked_about
from cogworks.codebase.changes import FileChange, protected_by
from cogworks.nodes.contract import Failed, NodePorts, Reply, Talk
from cogworks.nodes.replies import ProposedFile
from cogworks.nodes.shown import look_limits, manifest_of
from cogworks.nodes.task import Learnt, NodeTask, Visit
from cogworks.pipeline.visits import AskedChange
from cogworks.sight.view import FirstView

SCOPE_UNDERSPECIFIED: Final = "SCOPE_UNDERSPECIFIED"
"""The work needs what the approved texts do not allow; people widen them, or do not."""
PROTECTED_PATH_VIOLATION: Final = "PROTECTED_PATH_VIOLATION"
"""A protected path was touched; the model is not asked again."""
MAX_LEARNT_CHARS = 20_000
"""Of the change that was made on a shorter way."""
MAX_FAILURE_CHARS = 6_000
"""Of the reason for which the visit before failed."""
MAX_ASKED_CHARS = 24_000
"""Of what people asked for in a review."""


@dataclass(frozen=True)
class Question(Generic[Reply]):
    """One question to the model and what makes its answer acceptable."""

    prompt: str
    """Stem of the template."""
    variables: Mapping[str, Any]
    reply_type: type[Reply]
    check: Callable[[Reply], Sequence[str]]
    """Every problem of an answer, in words the model can act on; empty = accepted."""
    view: FirstView | None = None
    """What it shows of the repository."""
    hidden: frozenset[str] = frozenset()
    """Paths that the one that answers must not see."""
    says_changes: bool = False
    """Its variables say what people want otherwise in the result before."""
    name: str = ""
    """Names the question where its template does not; several nodes may share one."""


def purpose_of(prompt: str, visit: Visit, attempt: int) -> str:
    """The stable name of one question: `<prompt>[-<sub-item>][-v<ordinal>]-<attempt>`; the first visit has no `v`."""
    sub_item = f"-{visit.sub_item}" if visit.sub_item else ""
    rework = f"-v{visit.ordinal}" if visit.ordinal > 1 else ""
    return f"{prompt}{sub_item}{rework}-{attempt}"


def ask_until_sound(ports: NodePorts, task: NodeTask, question: Question[Reply]) -> Reply | Failed:
    """The first answer that passes the check, or a failure that lists what was wrong with the last one.

    Raises: InvalidReply when an answer does not even fit its schema, BudgetReached, TryAgainLater.
    """
    return answered(ports, task, question, conversation_about(ports, task, question))


def conversation_about(ports: NodePorts, task: NodeTask, question: Question[Reply]) -> Talk[Reply]:
    """The conversation that a question begins; it knows why the visit before this one failed."""
    talk = ports.model.converse(
        question.prompt,
        question.variables,
        question.reply_type,
        looks=ports.looks(question.hidden),
        limits=look_limits(task),
        shown=manifest_of(question.view) if question.view else (),
    )
    if task.learnt is not None:
        talk.tell("_moved_up", learnt_variables(task.learnt))
    if reason := why_again(task, with_changes=not question.says_changes):
        talk.tell("_earlier_failure", {"reason": reason})
    return talk


def why_again(task: NodeTask, *, with_changes: bool = True) -> str:
    """Why a node does its work again: the failure before, and what people want otherwise; empty where it is the first time."""
    # What `/cogworks reject` says is the reason already.
    asked = [
        each
        for each in (task.asked_changes if with_changes else ())
        if each.merges is None and (each.pull_request is not None or each.text not in task.earlier_failure)
    ]
    lines: list[str] = []
    for change in asked:
        lines.append(change_line(change))
        if sum(map(len, lines)) > MAX_ASKED_CHARS and len(lines) < len(asked):
            lines.append(f"- {len(asked) - len(lines)} remarks more, for which there is no room here")
            break
    heading = "People asked for changes." if any(not each.check for each in asked) else "Checks failed."
    opening = heading if asked and not task.earlier_failure else ""
    return "\n".join(filter(None, [task.earlier_failure[:MAX_FAILURE_CHARS], opening, *lines]))


def change_line(change: AskedChange) -> str:
    """What somebody wants otherwise, with its place."""
    return f"- {f'{change.place}: ' if change.place else ''}{change.text}"


def learnt_variables(learnt: Learnt) -> Mapping[str, Any]:
    """What a prompt says of the shorter way that an item was on."""
    change = str(learnt.output.get("change", ""))
    return {
        "why": learnt.why,
        "notes": str(learnt.output.get("notes", "")),
        "change": change if len(change) <= MAX_LEARNT_CHARS else "",
    }


def answered(
    ports: NodePorts, task: NodeTask, question: Question[Reply], talk: Talk[Reply]
) -> Reply | Failed:
    """The first answer in a conversation that passes the check; raises as `ask_until_sound`."""
    problems: Sequence[str] = ()
    name = question.name or question.prompt
    visit, max_answers = task.visit, task.conventions.max_answers
    for attempt in range(1, max_answers + 1):
        reply = talk.answer(purpose=purpose_of(name, visit, attempt))
        problems = question.check(reply)
        if not problems:
            return reply
        ports.say(f"{name}: answer {attempt} refused: {problems[0]}")
        talk.tell("_correction", {"problems": list(problems)})
    listed = "\n".join(f"- {problem}" for problem in problems)
    return Failed(
        reason=f"{visit.node}: none of {max_answers} answers of the model was usable. The last one:\n{listed}\n"
        "Make the issue more precise, then remove the trigger label and set it again.",
        category="invalid_reply",
    )


def reason_for_a_person(
    node: str,
    paths: Sequence[str],
    *,
    missing_capability: str,
    bounds: str,
    remedy: str = "",
    manifests: Sequence[str] = (),
) -> Failed | None:
    """Why nothing of a reply is used: it needs more than it may have, or touches a protected path or a manifest.

    Args:
        paths: of all files that it touches.
        missing_capability: what the model says it needs; empty = nothing.
        bounds: the documents that do not allow it, e.g. `the specification does`.
        remedy: what a person does so that it may have more, as a sentence without its end.
        manifests: patterns of the files that only a person changes, for they decide what is installed and run.
    """
    if missing_capability:
        return Failed(
            reason=f"{SCOPE_UNDERSPECIFIED}: {node} needs what {bounds} not allow: {missing_capability.rstrip('. ')}. "
            f"{remedy}, then remove the trigger label and set it again.",
            category="escalated",
            missing=missing_capability,
            code=SCOPE_UNDERSPECIFIED,
        )
    if touched := [path for path in paths if protected_by(path) is not None]:
        return Failed(
            reason=f"{PROTECTED_PATH_VIOLATION}: {node} proposed to change protected path(s) {', '.join(touched)}; nothing was written. "
            "If that change is wanted, make it by hand.",
            category="refused_change",
            code=PROTECTED_PATH_VIOLATION,
        )
    if edited := [path for path in paths if is_asked_about(path, manifests)]:
        return Failed(
            reason=f"{node} proposed to change {', '.join(edited)}, which says what is installed or how tests run; nothing was "
            "written. If that change is wanted, make it by hand on the base branch, and on the sub-work-item's own branch where "
            "that is there already, then remove the trigger label and set it again. "
            '`dependencies.changes = "allow"` in `.cogworks/config.toml` lets every such change pass.',
            category="refused_change",
        )
    return None


def changes(files: Sequence[ProposedFile]) -> tuple[FileChange, ...]:
    """Proposed files as changes to a working copy."""
    return tuple(FileChange(path=file.path, action=file.action, content=file.content) for file in files)
