"""A node that the repository wrote: its own prompt, its own JSON Schema, and the files it publishes."""

from collections.abc import Mapping
from typing import Any

from cogworks.codebase.changes import FileChange
from cogworks.codegen.trial import ChangeOnTrial, FilesBefore
from cogworks.errors import NodeFailed
from cogworks.forge.bases import part_of
from cogworks.forge.effects import CommitFiles, Effect, FileText, OpenPullRequest
from cogworks.leaving import in_markdown
from cogworks.llm.repository_files import parse_schema, prompts_in, schemas_in
from cogworks.llm.schemas import DeclaredReply, Schema, declared_reply
from cogworks.nodes.asking import Question, ask_until_sound, reason_for_a_person
from cogworks.nodes.contract import Failed, NodePorts, NodeProcedure, Outcome, Succeeded, Workspace
from cogworks.nodes.intake import issue
from cogworks.nodes.pull_request_texts import packs_section, stacking
from cogworks.nodes.shown import repository_view, view_variables
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.graph import Node
from cogworks.sight.question import About
from cogworks.sight.view import FirstView
from cogworks.vocabulary import Severity

FILES_FIELD = "files"
"""The field of an output whose entries `{path, content}` are published."""


def writes_files(node: Node) -> bool:
    """Whether what the node answers is published: it produces code and has a branch for it."""
    return node.produces_code and node.slug is not None


def changes_in(output: Mapping[str, Any], workspace: Workspace) -> tuple[FileChange, ...]:
    """The files of an output as changes to a working copy."""
    existing = set(workspace.files())
    return tuple(
        FileChange(
            path=file["path"],
            action="modify" if file["path"] in existing else "create",
            content=file["content"],
        )
        for file in output.get(FILES_FIELD, ())
    )


def file_problems(
    node: Node, task: NodeTask, output: Mapping[str, Any], workspace: Workspace, ports: NodePorts
) -> list[str]:
    """What the model has to correct; the working copy is left as it was found.

    A protected path or a manifest is no problem here: it ends the node, for a person has to decide on it.
    """
    workspace.roll_back()
    changes = changes_in(output, workspace)
    if not changes or refused_change(node, task, output):
        return []
    if reason := workspace.apply(changes):
        return [reason]
    try:
        if node.validation != "domain-service":
            return []
        files = FilesBefore(ports.service, workspace)
        diagnostics = ChangeOnTrial(changes, files).new_findings()
    finally:
        workspace.roll_back()
    return [each.in_one_line for each in diagnostics if each.severity is Severity.BLOCKING]


def refused_change(node: Node, task: NodeTask, output: Mapping[str, Any]) -> Failed | None:
    """The end of a node that wanted to change what only people change."""
    return reason_for_a_person(
        node.id,
        [file["path"] for file in output.get(FILES_FIELD, ())],
        missing_capability="",
        bounds="",
        manifests=task.conventions.manifests,
    )


def publication(node: Node, task: NodeTask, output: Mapping[str, Any]) -> tuple[Effect, ...]:
    """One commit and its pull request; nothing when no file was written."""
    files = tuple(FileText(path=file["path"], text=file["content"]) for file in output[FILES_FIELD])
    if not files:
        return ()
    title = _text(output, "title") or f"{node.title} for #{task.item.number}"
    return (
        CommitFiles(
            branch=task.branch,
            base=task.base_branch,
            files=files,
            headline=title[:72],
            visit_key=task.visit.visit_key,
        ),
        pull_request_for(node, task, title=title, text=_text(output, "summary", whole=True), files=files),
    )


def pull_request_for(
    node: Node, task: NodeTask, *, title: str, text: str, files: tuple[FileText, ...] = ()
) -> OpenPullRequest:
    """The pull request of the node's branch."""
    listed = "\n".join(f"- `{file.path}`" for file in files)
    part = part_of(task.item.number, closes=task.closes_issue)
    parts = [
        f"{part}.",
        stacking(task),
        in_markdown(text),
        f"### Files\n\n{listed}" if files else "",
        packs_section(task),
    ]
    return OpenPullRequest(
        slug=slug_for(node, task),
        head=task.branch,
        base=task.base_branch,
        title=title,
        body="\n\n".join(part for part in parts if part),
    )


def slug_for(node: Node, task: NodeTask) -> str:
    """The pull request's name within the run."""
    ordinal = f"-{task.sub_item.ordinal}" if task.sub_item else ""
    return f"{node.slug or node.id}{ordinal}"


def _text(output: Mapping[str, Any], field: str, *, whole: bool = False) -> str:
    value = output.get(field)
    if not isinstance(value, str):
        return ""
    return value.strip() if whole else " ".join(value.split())


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
    text = next((output[key] for key in ("summary", "title") if isinstance(output.get(key), str)), "")
    line = " ".join(text.split()) or f"answered with {', '.join(sorted(output)) or 'nothing'}"
    return line if len(line) <= MAX_SUMMARY_CHARS else f"{line[: MAX_SUMMARY_CHARS - 1]}…"
