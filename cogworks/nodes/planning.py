"""Which sub-work-items lead to the specification, and in which order: sub-issues with dependencies."""

from cogworks.github.effects import CreateSubIssue, Effect, LinkDependency
from cogworks.nodes.artifacts import interface_files, interface_names, spec_path, specification_text
from cogworks.nodes.asking import Question, ask_until_sound
from cogworks.nodes.contract import Failed, NodeShell, NodeTask, Outcome, Succeeded
from cogworks.nodes.excerpts import survey
from cogworks.nodes.intake import issue
from cogworks.nodes.plan_rules import MAX_ITEMS, in_dependency_order, plan_problems
from cogworks.nodes.pull_request_texts import sub_issue_body
from cogworks.nodes.replies import Plan, PlannedItem
from cogworks.vocabulary import SubItemKey


def run(task: NodeTask, shell: NodeShell) -> Outcome:
    """Plan the sub-work-items; each becomes a sub-issue, each dependency a link."""
    workspace = shell.workspace()
    specification = specification_text(task, workspace)
    interfaces = interface_files(task, workspace)
    names = interface_names(task)
    shown_apart = [spec_path(task), *(file.path for file in interfaces)]
    view = survey(workspace, text=specification, without=shown_apart)
    shell.say("planning the sub-work-items")
    question = Question(
        prompt="planning",
        variables={
            "item": issue(task.item),
            "specification": specification,
            "interfaces": [file.model_dump() for file in interfaces],
            "interface_names": [name.model_dump() for name in names],
            "max_items": MAX_ITEMS,
            **view.variables(),
        },
        reply_type=Plan,
        check=lambda reply: plan_problems(reply, names),
    )
    reply = ask_until_sound(shell, task, question)
    if isinstance(reply, Failed):
        return reply
    if len(reply.sub_work_items) > MAX_ITEMS:
        return Failed(
            reason=f"planning found {len(reply.sub_work_items)} sub-work-items and the limit is {MAX_ITEMS}. Split "
            f"#{task.item.number} into several issues, or merge a narrower specification, then remove the trigger label and "
            "set it again.",
            category="escalated",
            output=reply.model_dump(mode="json"),
        )
    ordered = in_dependency_order(reply.sub_work_items)
    return Succeeded(
        output={"sub_work_items": [item.model_dump(mode="json") for item in ordered]},
        effects=effects_of(task, ordered),
        summary=f"{len(ordered)} sub-work-item(s): "
        + "; ".join(f"{item.key} {item.title}" for item in ordered),
    )


def effects_of(task: NodeTask, ordered: tuple[PlannedItem, ...]) -> tuple[Effect, ...]:
    """Sub-issues in dependency order, then the links between them."""
    created = [
        CreateSubIssue(
            key=SubItemKey(item.key),
            title=item.title,
            body=sub_issue_body(task, item),
            labels=(task.conventions.sub_item_label,),
            visit_key=task.visit.visit_key,
        )
        for item in ordered
    ]
    links = [
        LinkDependency(blocked=SubItemKey(item.key), blocking=SubItemKey(other))
        for item in ordered
        for other in sorted(set(item.depends_on))
    ]
    return (*created, *links)
