"""What kind of work does the issue ask for, and can anyone start on it?"""

from collections.abc import Sequence

from cogworks.nodes.asking import Question, ask_until_sound
from cogworks.nodes.contract import Failed, NodePorts, Outcome, Succeeded
from cogworks.nodes.module_names import close_to, files_of
from cogworks.nodes.replies import Classification
from cogworks.nodes.shown import repository_view, view_variables
from cogworks.nodes.task import NodeTask, WorkItem
from cogworks.sight.question import About

MIN_WORDS = 8
"""Of title and body together; less than this cannot be classified."""
MAX_FILES = 40
MAX_INTERFACES = 25


def run(task: NodeTask, ports: NodePorts) -> Outcome:
    """Classify the issue; an issue that is too thin, unclear or too large is escalated to a person."""
    if reason := too_thin(task.item):
        return Failed(reason=reason, category="escalated")
    ports.say("reading the issue")
    workspace = ports.workspace()
    files = workspace.files()
    view = repository_view(task, ports, About(title=task.item.title, text=task.item.body))
    question = Question(
        prompt="intake",
        variables={
            "item": issue(task.item),
            "pipelines": task.conventions.pipelines,
            **view_variables(view),
        },
        view=view,
        reply_type=Classification,
        check=lambda reply: [*problems_of(reply, files), *misquoted(reply, task.item)],
    )
    reply = ask_until_sound(ports, task, question)
    if isinstance(reply, Failed):
        return reply
    if reason := reason_to_escalate(reply, task.item):
        return Failed(reason=reason, category="escalated", output=reply.model_dump(mode="json"))
    return Succeeded(output=reply.model_dump(mode="json"), summary=summary(reply))


def issue(item: WorkItem) -> dict[str, object]:
    """What a prompt says of an issue; nothing in it changes during a run."""
    return {"number": item.number, "title": item.title, "body": item.body, "repository": item.repository}


def too_thin(item: WorkItem) -> str | None:
    """Why nobody could start on this issue, whatever the model thinks."""
    words = len(f"{item.title} {item.body}".split())
    if item.body.strip() and words >= MIN_WORDS:
        return None
    found = f"its title and body have {words} words" if item.body.strip() else "its body is empty"
    return (
        f"#{item.number} is too thin to work on: {found}. Describe what happens, what should happen and how to see "
        "the difference, then remove the trigger label and set it again."
    )


def problems_of(reply: Classification, files: Sequence[str]) -> list[str]:
    """What the model has to correct: modules that the repository does not have."""
    problems = []
    for name in reply.affected_modules:
        if not files_of(name, files):
            near = ", ".join(close_to(name, files)) or "none with a similar name"
            problems.append(
                f"affected module {name!r} is not in the repository (there is {near}); "
                "name existing files or directories only"
            )
    if not reply.affected_modules and not reply.questions:
        problems.append(
            "no affected module is named; name those that will change, or ask what you need to know"
        )
    return problems


def misquoted(reply: Classification, item: WorkItem) -> list[str]:
    """What the model has to correct: a sentence that is not in the issue, however its blanks and lines are set."""
    words = " ".join(reply.says_what_is_right.split())
    if words in " ".join(f"{item.title}\n{item.body}".split()):
        return []
    return [
        f"`says_what_is_right` is {words!r}, which is not in the issue; copy a sentence of it word for word, or leave it empty"
    ]


def reason_to_escalate(reply: Classification, item: WorkItem) -> str | None:
    """Why a person has to look before anything else happens."""
    if reply.questions:
        listed = "\n".join(f"- {question}" for question in reply.questions)
        return (
            f"#{item.number} leaves open what has to be known first:\n{listed}\n\n"
            "Answer in the issue's body, then remove the trigger label and set it again."
        )
    scope = reply.estimated_scope
    if scope.files > MAX_FILES or scope.interfaces > MAX_INTERFACES:
        return (
            f"#{item.number} is too large for one work item: about {scope.files} files (limit {MAX_FILES}) and "
            f"{scope.interfaces} interfaces (limit {MAX_INTERFACES}). Split it into several issues."
        )
    return None


def summary(reply: Classification) -> str:
    """The classification in one line."""
    scope = reply.estimated_scope
    safety = ", affects safety" if reply.safety_affecting else ""
    return (
        f"{reply.type.replace('_', ' ')} in {', '.join(reply.affected_modules)}; about {scope.files} files, "
        f"complexity {scope.complexity}{safety}"
    )
