"""A node that the repository wrote: its own prompt, its own JSON Schema, and perhaps files to publish."""

from collections.abc import Mapping
from typing import Any

from cogworks.errors import NodeFailed
from cogworks.llm.repository_files import parse_schema, prompts_in, schemas_in
from cogworks.llm.schemas import DeclaredReply, Schema, declared_reply
from cogworks.nodes.asking import Question, ask_until_sound
from cogworks.nodes.contract import Failed, NodePorts, NodeProcedure, Outcome, Succeeded
from cogworks.nodes.intake import issue
from cogworks.nodes.shown import repository_view, view_variables
from cogworks.nodes.task import NodeTask
from cogworks.nodes.written_files import file_problems, publication, refused_change, writes_files
from cogworks.pipeline.graph import Node
from cogworks.sight.question import About
from cogworks.sight.view import FirstView

VARIABLES = frozenset({"item", "inputs", "repository_view"})
"""What such a prompt is given; `inputs` holds every declared slot, None for one that nobody put out yet."""
MAX_SUMMARY_CHARS = 200


def procedure_from_prompt(node: Node, files: Mapping[str, str]) -> NodeProcedure:
    """What a node with a prompt of the repository does.

    Args:
        files: below `.cogworks`: path -> text.

    Raises: NodeFailed when the prompt or the schema is not there.
    """
    prompt = prompt_of(node, files)
    schema = schema_of(node, files)

    def run(task: NodeTask, ports: NodePorts) -> Outcome:
        return _answered(node, prompt, schema, task, ports)

    return run


def prompt_of(node: Node, files: Mapping[str, str]) -> str:
    """The text of the node's prompt."""
    stem = node.prompt or ""
    prompts = prompts_in(files)
    if stem not in prompts:
        raise NodeFailed(f"{node.id}: `.cogworks/prompts/{stem}.md.j2` is gone; restore it, then retry.")
    return prompts[stem]


def schema_of(node: Node, files: Mapping[str, str]) -> Schema:
    """The schema of the node's answer."""
    stem = node.output_schema or ""
    schemas = schemas_in(files)
    if stem not in schemas:
        raise NodeFailed(f"{node.id}: `.cogworks/schemas/{stem}.json` is gone; restore it, then retry.")
    return parse_schema(schemas[stem])


def view_for(task: NodeTask, ports: NodePorts, prompt: str) -> FirstView | None:
    """What the prompt shows of the repository; None: nothing, and nobody looks at it."""
    if "repository_view" not in prompt and "_repository.md.j2" not in prompt:
        return None
    return repository_view(task, ports, About(title=task.item.title, text=task.item.body))


def question_for(
    node: Node, task: NodeTask, schema: Schema, view: FirstView | None, check: Any = lambda _: ()
) -> Question[DeclaredReply]:
    """The node's one question."""
    inputs = {slot: task.inputs.get(slot) for slot in node.inputs}
    return Question(
        prompt=node.prompt or "",
        variables={
            "item": issue(task.item),
            "inputs": inputs,
            **(view_variables(view) if view else {}),
        },
        view=view,
        reply_type=declared_reply(schema, name=node.id),
        check=lambda reply: check(reply.root),
        name=node.id,
    )


def _answered(node: Node, prompt: str, schema: Schema, task: NodeTask, ports: NodePorts) -> Outcome:
    ports.say(f"{node.id}: asking the model")
    view = view_for(task, ports, prompt)
    if not writes_files(node):
        reply = ask_until_sound(ports, task, question_for(node, task, schema, view))
        return reply if isinstance(reply, Failed) else _succeeded(reply.root)
    workspace = ports.workspace()
    question = question_for(
        node, task, schema, view, lambda output: file_problems(node, task, output, workspace, ports)
    )
    reply = ask_until_sound(ports, task, question)
    if isinstance(reply, Failed):
        return reply
    refused = refused_change(node, task, reply.root)
    return refused or _succeeded(reply.root, *publication(node, task, reply.root))


def _succeeded(output: dict[str, Any], *effects: Any) -> Succeeded:
    return Succeeded(output=output, effects=effects, summary=summary_of(output))


def summary_of(output: Mapping[str, Any]) -> str:
    """One line about an answer: its own summary or title where it has one."""
    found = next((output[key] for key in ("summary", "title") if isinstance(output.get(key), str)), "")
    line = " ".join(found.split()) or f"answered with {', '.join(sorted(output)) or 'nothing'}"
    return line if len(line) <= MAX_SUMMARY_CHARS else f"{line[: MAX_SUMMARY_CHARS - 1]}…"
