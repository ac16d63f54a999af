"""Nodes that create follow-up issues: which ones, in which words, and what became of them. Nothing waits for them."""

from collections.abc import Mapping, Sequence
from typing import Any

from cogworks.errors import ConfigurationError, InvalidReply, NodeFailed
from cogworks.forge.bodies import capped_title
from cogworks.forge.effects import CreateIssue
from cogworks.llm.prompts import Prompts
from cogworks.llm.replies import schema_problems
from cogworks.llm.repository_files import prompts_in
from cogworks.llm.schemas import Schema
from cogworks.nodes.asking import ask_until_sound
from cogworks.nodes.contract import Failed, NodePorts, NodeProcedure, Outcome, Succeeded
from cogworks.nodes.deterministic import decided, ran
from cogworks.nodes.from_prompt import prompt_of, question_for, schema_of, view_for
from cogworks.nodes.intake import issue
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.graph import Node

MAX_ISSUES = 20
MAX_LABELS = 10
_TEXT = {"type": "string"}
FOLLOW_UPS: Schema = {
    "title": "follow_ups",
    "type": "object",
    "properties": {
        "issues": {
            "type": "array",
            "maxItems": MAX_ISSUES,
            "items": {
                "type": "object",
                "properties": {
                    "title": {"type": "string", "minLength": 1, "description": "One line."},
                    "body": {
                        **_TEXT,
                        "description": "Markdown; what is wanted and why, for somebody who reads only this.",
                    },
                    "labels": {"type": "array", "items": _TEXT, "description": "Usually none."},
                },
                "required": ["title", "body", "labels"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["issues"],
    "additionalProperties": False,
}
"""What decides on follow-up issues answers with, where the node declares no schema of its own."""
TEMPLATE_VARIABLES = frozenset({"issue", "item", "inputs"})
"""What an `issue_template` is given: one entry of `issues`, the work item, the declared inputs."""


def procedure_of_spawning(node: Node, files: Mapping[str, str]) -> NodeProcedure:
    """What a spawning node does.

    Args:
        files: below `.cogworks`: path -> text.

    Raises: NodeFailed when the prompt, the schema or the template is not there.
    """
    schema = schema_of(node, files) if node.output_schema else FOLLOW_UPS
    prompt = "" if node.method == "script" else prompt_of(node, files)
    template = _template_of(node, files)

    def run(task: NodeTask, ports: NodePorts) -> Outcome:
        try:
            answer = (
                _scripted(node, schema, task, ports)
                if not prompt
                else _asked(node, prompt, schema, task, ports)
            )
        except (InvalidReply, NodeFailed) as error:
            answer = str(error)
        if isinstance(answer, str):
            # Follow-up issues are a courtesy to later work: that there are none holds nothing up.
            return Succeeded(
                output={"issues": [], "problem": answer}, summary="no follow-up issue: no usable answer"
            )
        return _spawned(node, template, answer, task, ports)

    return run


def _asked(node: Node, prompt: str, schema: Schema, task: NodeTask, ports: NodePorts) -> dict[str, Any] | str:
    ports.say(f"{node.id}: asking the model which follow-up issues are due")
    view = view_for(task, ports, prompt)
    reply = ask_until_sound(ports, task, question_for(node, task, schema, view))
    return reply.reason if isinstance(reply, Failed) else reply.root


def _scripted(node: Node, schema: Schema, task: NodeTask, ports: NodePorts) -> dict[str, Any] | str:
    done = ran(node, task, ports)
    answer = decided(node, done)
    problems = schema_problems(answer, schema)
    return f"{node.id}: its script's answer does not fit: {'; '.join(problems)}" if problems else answer


def _spawned(
    node: Node, template: Prompts | None, decision: dict[str, Any], task: NodeTask, ports: NodePorts
) -> Succeeded:
    wanted = decision["issues"][:MAX_ISSUES]
    effects = []
    for number, entry in enumerate(wanted, 1):
        labels, dropped = _labels(node, entry.get("labels", ()), task.conventions.own_labels)
        if dropped:
            ports.say(f"{node.id}: {entry['title']!r} is not labelled {', '.join(dropped)}")
        effects.append(
            CreateIssue(
                key=f"issue-{number}",
                title=capped_title(" ".join(entry["title"].split())),
                body=_body(node, template, entry, task),
                labels=labels,
                visit_key=task.visit.visit_key,
            )
        )
    return Succeeded(
        output=decision, effects=tuple(effects), summary=f"{len(effects)} follow-up issue(s) to create"
    )


def is_own_label(name: str, own: Sequence[str]) -> bool:
    """Whether a label steers work items, so that no node may set it; GitHub does not tell cases apart."""
    folded = name.casefold()
    return folded.startswith("cogworks:") or folded in {each.casefold() for each in own}


def _labels(node: Node, chosen: Sequence[str], own: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    wanted = dict.fromkeys([*node.labels, *(" ".join(name.split()) for name in chosen)])
    kept = [name for name in wanted if name and len(name) <= 50 and not is_own_label(name, own)]
    kept = kept[: max(MAX_LABELS, len(node.labels))]
    return tuple(kept), [name for name in wanted if name not in kept]


def _template_of(node: Node, files: Mapping[str, str]) -> Prompts | None:
    if node.issue_template is None:
        return None
    prompts = prompts_in(files)
    if node.issue_template not in prompts:
        raise NodeFailed(
            f"{node.id}: `.cogworks/prompts/{node.issue_template}.md.j2` is gone; restore it, then retry."
        )
    parts = {stem: text for stem, text in prompts.items() if stem.startswith("_")}
    return Prompts({}, {**parts, node.issue_template: prompts[node.issue_template]})


def _body(node: Node, template: Prompts | None, entry: Mapping[str, Any], task: NodeTask) -> str:
    text = str(entry.get("body", ""))
    if template is not None and node.issue_template is not None:
        inputs = {slot: task.inputs.get(slot) for slot in node.inputs}
        variables = {"issue": dict(entry), "item": issue(task.item), "inputs": inputs}
        try:
            text = template.render_part(node.issue_template, variables)
        except ConfigurationError as error:
            raise NodeFailed(f"{node.id}: {error}") from error
    link = f"Follow-up of #{task.item.number}." if node.link else ""
    return "\n\n".join(part for part in (text.strip(), link) if part)
