"""Which names, types and signatures will the work have: complete interface files, put to people as a pull request."""

from collections.abc import Sequence
from textwrap import shorten

from cogworks.codebase.changes import normalised
from cogworks.codegen.answer_forms import as_whole_files, in_one_form, paths_of
from cogworks.codegen.trial import ChangeOnTrial, FilesBefore
from cogworks.domain_services.answers import NotOffered
from cogworks.domain_services.checking import InterfaceMap
from cogworks.forge.effects import FileText
from cogworks.nodes.artifacts import (
    is_unedited,
    name_itself,
    output_of,
    put_to_people,
    spec_path,
    specification_text,
    to_allow_more,
)
from cogworks.nodes.asking import Question, ask_until_sound, changes, reason_for_a_person
from cogworks.nodes.contract import BuiltIn, Failed, NodePorts, Outcome, Succeeded, Workspace, left_out
from cogworks.nodes.intake import issue
from cogworks.nodes.pull_request_texts import interfaces_body
from cogworks.nodes.replies import InterfaceName, Interfaces, ProposedFile
from cogworks.nodes.shown import repository_view, view_variables
from cogworks.nodes.task import NodeTask
from cogworks.sight.question import About
from cogworks.vocabulary import Severity


def undeclared(claimed: Sequence[InterfaceName], offered: InterfaceMap | NotOffered) -> list[str]:
    """The names that are said to be declared in a file and are not; nothing of files of which the service says nothing."""
    if isinstance(offered, NotOffered) or offered.status == "incomplete":
        return []
    names: dict[str, set[str]] = {}
    for each in offered.interfaces:
        names.setdefault(each.artifact, set()).add(name_itself(each.name))
    return [
        f"interface {each.name!r} {_why(each)} {each.path!r}, which offers {', '.join(sorted(names[each.path]))}"
        for each in claimed
        if each.path in names and name_itself(each.name) not in names[each.path]
    ]


def _why(claimed: InterfaceName) -> str:
    if name_itself(claimed.name).startswith("_"):
        return "is private, and what is private is no interface of"
    return "is not declared in"


SLUG = "interfaces"
MAX_REASON_CHARS = 200
NO_PUBLIC_NAME = "The specification says that no public name changes."


def run(task: NodeTask, ports: NodePorts) -> Outcome:
    """Design the interfaces, where there are any, have them checked by the domain service, and open their pull request."""
    workspace = ports.workspace()
    if _is_settled(task, workspace):
        return _nothing_to_design(Interfaces(files=(), interfaces=(), notes=NO_PUBLIC_NAME), ports)
    specification = specification_text(task, workspace)
    modules = [module["name"] for module in output_of(task, "specification")["affected_modules"]]
    about = About(
        title=task.item.title, text=specification, wanted=tuple(modules), without=frozenset({spec_path(task)})
    )
    view = repository_view(task, ports, about)
    ports.say("designing the interfaces")
    question = Question(
        prompt="interface_design",
        variables={
            "item": issue(task.item),
            "specification": specification,
            **view_variables(view),
        },
        view=view,
        reply_type=Interfaces,
        check=lambda reply: problems_of(reply, task, workspace, ports),
    )
    reply = ask_until_sound(ports, task, question)
    if isinstance(reply, Failed):
        return reply
    if refused := _reason_for_a_person(reply, task):
        return refused
    if not reply.interfaces:
        return _nothing_to_design(reply, ports)
    workspace.roll_back()
    reply = as_whole_files(reply, in_one_form(reply, workspace).files)
    names = [interface.name for interface in reply.interfaces]
    title = output_of(task, "specification")["title"]
    return Succeeded(
        output={**reply.model_dump(mode="json", exclude={"edits", "unified_diff"}), **left_out(ports)},
        effects=put_to_people(
            task,
            SLUG,
            [FileText(path=file.path, text=file.content) for file in reply.files],
            headline=f"Declare the interfaces of #{task.item.number}",
            title=f"Interfaces: {title}",
            body=interfaces_body(task, title, reply, left_out=ports.service.warnings),
        ),
        summary=f"{len(names)} interface(s): {', '.join(names)}",
    )


def _is_settled(task: NodeTask, workspace: Workspace) -> bool:
    """Whether the specification alone says that there is nothing to design; in doubt a model is asked.

    A visit after the first comes about because people wanted something else, and a shorter way that did not do may have
    ended at a public name. Of a text that people edited the data may be out of date.
    """
    says_none = output_of(task, "specification").get("public_names") == []
    is_first = task.visit.ordinal == 1 and task.learnt is None
    return says_none and is_first and is_unedited(task, workspace)


def _nothing_to_design(reply: Interfaces, ports: NodePorts) -> Succeeded:
    """No pull request; where safety is at stake, people confirm that none is needed."""
    ports.say("no public interface changes, so there is no pull request")
    return Succeeded(
        output={**reply.model_dump(mode="json", exclude={"edits", "unified_diff"}), **left_out(ports)},
        summary=f"no public interface changes: {shorten(reply.notes, MAX_REASON_CHARS, placeholder=' …')}",
        is_empty=True,
    )


def problems_of(reply: Interfaces, task: NodeTask, workspace: Workspace, ports: NodePorts) -> list[str]:
    """What the model has to correct; the working copy is left as it was found.

    A change that a person has to decide on (protected path, manifest, missing capability) is no problem here: it ends the node.
    """
    if _reason_for_a_person(reply, task):
        return []
    if not reply.interfaces:
        return _problems_of_nothing(reply)
    workspace.roll_back()
    files, unplaced = in_one_form(reply, workspace)
    if unplaced:
        return list(unplaced)
    reply = as_whole_files(reply, files)
    problems = [f"{file.path} is deleted; an interface is created or modified" for file in _deleted(reply)]
    paths = {normalised(file.path) for file in reply.files}
    problems += [
        f"interface {interface.name!r} is declared in {interface.path!r}, which the answer neither creates nor changes"
        for interface in reply.interfaces
        if interface.path not in paths
    ]
    names = [interface.name for interface in reply.interfaces]
    problems += [
        f"interface {name!r} is listed twice" for name in sorted(set(names)) if names.count(name) > 1
    ]
    return problems or _checked_in_place(reply, workspace, ports)


def _problems_of_nothing(reply: Interfaces) -> list[str]:
    problems = [
        f"{path} is changed, and `interfaces` names nothing; name what it declares, or leave the file alone"
        for path in paths_of(reply)
    ]
    if not reply.notes.strip():
        problems.append("`interfaces` names nothing; say in `notes` why no public name or signature changes")
    return problems


def _checked_in_place(reply: Interfaces, workspace: Workspace, ports: NodePorts) -> list[str]:
    workspace.roll_back()
    wanted = changes(reply.files)
    if reason := workspace.apply(wanted):
        return [reason]
    trial = ChangeOnTrial(wanted, FilesBefore(ports.service, workspace))
    try:
        diagnostics = trial.new_findings()
        blocking = [each.in_one_line for each in diagnostics if each.severity is Severity.BLOCKING]
        return blocking or undeclared(reply.interfaces, ports.service.interfaces(workspace, trial.paths))
    finally:
        workspace.roll_back()


def _reason_for_a_person(reply: Interfaces, task: NodeTask) -> Failed | None:
    return reason_for_a_person(
        "interface_design",
        paths_of(reply),
        missing_capability=reply.missing_capability,
        bounds="the specification does",
        remedy=to_allow_more(task),
        manifests=task.conventions.manifests,
    )


def _deleted(reply: Interfaces) -> list[ProposedFile]:
    return [file for file in reply.files if file.action == "delete"]


NODE = BuiltIn(run=run, replies={"interface_design": Interfaces}, is_served=True)
