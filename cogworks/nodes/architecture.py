"""What shall be built and why: a specification in Markdown, put to people as a pull request."""

from collections.abc import Mapping, Sequence
from typing import Any

from cogworks.codebase.unwritable import secrets_in
from cogworks.forge.effects import FileText
from cogworks.nodes.artifacts import SHOWN_ONLY, SPEC_SLUG, output_of, put_to_people, spec_paths
from cogworks.nodes.asking import Question, ask_until_sound
from cogworks.nodes.contract import BuiltIn, Failed, NodePorts, Outcome, Succeeded
from cogworks.nodes.intake import issue
from cogworks.nodes.pull_request_texts import specification_body
from cogworks.nodes.replies import Requirement, Specification
from cogworks.nodes.shown import close_to, files_of, repository_view, view_variables
from cogworks.nodes.task import NodeTask
from cogworks.sight.question import About

REQUIREMENTS = "{requirements}"
"""The line that stands for the requirements in the text of a model, so that nobody pays for them twice."""


_NO_USE = frozenset({"says_what_is_right", "orders", "questions", "pipeline", "language"})


def run(task: NodeTask, ports: NodePorts) -> Outcome:
    """Write the specification and open its pull request; merging or approving that is how people accept it."""
    workspace = ports.workspace()
    classification = output_of(task, "classification")
    places = spec_paths(task)
    rules = workspace.unwritable(places)
    path = next((place for place in places if place not in rules), None)
    if path is None:
        reason = f"the specification cannot be published: {rules[places[0]]}: set `specs` under `[paths]` in `.cogworks/config.toml`."
        return Failed(reason=reason, category="refused_change")
    about = About(
        title=task.item.title,
        text=task.item.body,
        wanted=tuple(classification["affected_modules"]),
        without=frozenset({path}),
    )
    view = repository_view(task, ports, about)
    ports.say("writing the specification")
    files = workspace.files()
    question = Question(
        prompt="architecture",
        variables={
            "item": issue(task.item),
            "classification": of_use(classification),
            **view_variables(view),
        },
        view=view,
        reply_type=Specification,
        check=lambda reply: problems_of(reply, files),
    )
    sound = ask_until_sound(ports, task, question)
    if isinstance(sound, Failed):
        return sound
    reply = whole(sound)
    text = reply.markdown.rstrip() + "\n"
    is_shown_only = not task.conventions.merges_specs
    return Succeeded(
        output={
            **reply.model_dump(mode="json"),
            "path": path,
            **({SHOWN_ONLY: True} if is_shown_only else {}),
        },
        effects=put_to_people(
            task,
            SPEC_SLUG,
            [FileText(path=path, text=text)],
            headline=f"Add the specification of #{task.item.number}",
            title=f"Specification: {reply.title}",
            body=specification_body(task, reply, path),
            is_shown_only=is_shown_only,
        ),
        summary=f"specification with {len(reply.requirements)} requirements: {reply.title}",
    )


def of_use(classification: Mapping[str, Any]) -> dict[str, Any]:
    """What of a classification an architect can use: nothing that is empty, and nothing that the issue itself says or the program decides."""
    return {name: value for name, value in classification.items() if value and name not in _NO_USE}


def whole(reply: Specification) -> Specification:
    """The specification with its requirements written out where its text has the line that stands for them."""
    listed = "\n".join(_item(requirement) for requirement in reply.requirements)
    lines = (listed if line.strip() == REQUIREMENTS else line for line in reply.markdown.split("\n"))
    return reply.model_copy(update={"markdown": "\n".join(lines)})


def _item(requirement: Requirement) -> str:
    """One item of a list; further lines stand further in, as Markdown wants it."""
    first, *more = requirement.text.strip().splitlines()
    return "\n".join([f"- **{requirement.id}** {first}", *(f"  {line}".rstrip() for line in more)])


def problems_of(reply: Specification, files: Sequence[str]) -> list[str]:
    """What the model has to correct: unknown modules, requirements that the text does not hold."""
    reply = whole(reply)
    problems = [*_module_problems(reply, files), *_requirement_problems(reply)]
    problems += [
        f"line {number} of the Markdown looks like {what}; use a placeholder"
        for number, what in secrets_in(reply.markdown)
    ]
    if not reply.markdown.lstrip().startswith("# "):
        problems.append("the Markdown must begin with a first-level heading (`# …`)")
    return problems


def _module_problems(reply: Specification, files: Sequence[str]) -> list[str]:
    problems = []
    for module in reply.affected_modules:
        there = files_of(module.name, files)
        if not there and not module.new:
            near = ", ".join(close_to(module.name, files)) or "none with a similar name"
            problems.append(
                f"module {module.name!r} is not in the repository (there is {near}); correct the name or mark it new"
            )
        elif there and module.new:
            problems.append(f"module {module.name!r} is marked new, but the repository has it ({there[0]})")
    return problems


def _requirement_problems(reply: Specification) -> list[str]:
    ids = [requirement.id for requirement in reply.requirements]
    repeated = [f"requirement {each} is listed twice" for each in sorted(set(ids)) if ids.count(each) > 1]
    unsaid = [
        f"requirement {each} does not appear in the Markdown; put the line `{REQUIREMENTS}` there, or state it under its id"
        for each in dict.fromkeys(ids)
        if each not in reply.markdown
    ]
    return repeated + unsaid


NODE = BuiltIn(run=run, replies={"architecture": Specification})
