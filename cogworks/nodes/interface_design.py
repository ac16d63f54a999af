"""Which names, types and signatures will the work have: complete interface files, put to people as a pull request."""

from cogworks.domain_services.messages import Diagnostic
from cogworks.github.effects import FileText
from cogworks.nodes.artifacts import output_of, put_to_people, spec_path, specification_text
from cogworks.nodes.asking import Question, ask_until_sound
from cogworks.nodes.change_on_trial import ChangeOnTrial, FilesAsFound
from cogworks.nodes.contract import Failed, NodeShell, NodeTask, Outcome, Succeeded, Workspace
from cogworks.nodes.deciding import changes, reason_for_a_person
from cogworks.nodes.declared import further_interfaces, undeclared
from cogworks.nodes.excerpts import survey
from cogworks.nodes.intake import issue
from cogworks.nodes.pull_request_texts import interfaces_body
from cogworks.nodes.replies import Interfaces, ProposedFile
from cogworks.vocabulary import Severity

SLUG = "interfaces"


def run(task: NodeTask, shell: NodeShell) -> Outcome:
    """Design the interfaces, have them checked by the domain service, and open their pull request."""
    workspace = shell.workspace()
    specification = specification_text(task, workspace)
    modules = [module["name"] for module in output_of(task, "specification")["affected_modules"]]
    view = survey(workspace, wanted=modules, text=specification, without=[spec_path(task)])
    found = further_interfaces(workspace, shell, view, wanted=modules, text=specification)
    shell.say("designing the interfaces")
    question = Question(
        prompt="interface_design",
        variables={
            "item": issue(task.item),
            "specification": specification,
            **view.variables(),
            **found.variables(),
        },
        reply_type=Interfaces,
        check=lambda reply: problems_of(reply, workspace, shell),
    )
    reply = ask_until_sound(shell, task, question)
    if isinstance(reply, Failed):
        return reply
    if refused := _reason_for_a_person(reply):
        return refused
    names = [interface.name for interface in reply.interfaces]
    title = output_of(task, "specification")["title"]
    return Succeeded(
        output={**reply.model_dump(mode="json"), **left_out(shell)},
        effects=put_to_people(
            task,
            SLUG,
            [FileText(path=file.path, text=file.content) for file in reply.files],
            headline=f"Declare the interfaces of #{task.item.number}",
            title=f"Interfaces: {title}",
            body=interfaces_body(task, title, reply, left_out=shell.service.warnings),
        ),
        summary=f"{len(names)} interface(s): {', '.join(names)}",
    )


def problems_of(reply: Interfaces, workspace: Workspace, shell: NodeShell) -> list[str]:
    """What the model has to correct; the working copy is left as it was found.

    A change that a person has to decide on (protected path, missing capability) is no problem here: it ends the node.
    """
    if _reason_for_a_person(reply):
        return []
    problems = [f"{file.path} is deleted; an interface is created or modified" for file in _deleted(reply)]
    paths = {file.path for file in reply.files}
    problems += [
        f"interface {interface.name!r} is declared in {interface.path!r}, which is not among `files`"
        for interface in reply.interfaces
        if interface.path not in paths
    ]
    names = [interface.name for interface in reply.interfaces]
    problems += [
        f"interface {name!r} is listed twice" for name in sorted(set(names)) if names.count(name) > 1
    ]
    return problems or _checked_in_place(reply, workspace, shell)


def left_out(shell: NodeShell) -> dict[str, list[str]]:
    """The part of a node's output that names checks which a missing service did not make; empty when all were made."""
    warnings = list(shell.service.warnings)
    return {"left_out": warnings} if warnings else {}


def diagnostic_line(found: Diagnostic) -> str:
    """One diagnostic in one line."""
    place = found.artifact if found.line is None else f"{found.artifact}:{found.line}"
    return f"{place}: {found.message}"


def _checked_in_place(reply: Interfaces, workspace: Workspace, shell: NodeShell) -> list[str]:
    workspace.roll_back()
    wanted = changes(reply.files)
    if reason := workspace.apply(wanted):
        return [reason]
    trial = ChangeOnTrial(wanted, FilesAsFound(shell.service, workspace))
    try:
        found = trial.new_findings()
        blocking = [diagnostic_line(each) for each in found if each.severity is Severity.BLOCKING]
        return blocking or undeclared(reply.interfaces, shell.service.interfaces(workspace, trial.paths))
    finally:
        workspace.roll_back()


def _reason_for_a_person(reply: Interfaces) -> Failed | None:
    return reason_for_a_person(
        "interface_design",
        [file.path for file in reply.files],
        missing_capability=reply.missing_capability,
        bounds="the specification does",
    )


def _deleted(reply: Interfaces) -> list[ProposedFile]:
    return [file for file in reply.files if file.action == "delete"]
