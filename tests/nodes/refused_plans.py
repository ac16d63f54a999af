"""What Architecture, Interface Design and Planning say of an answer that they do not take."""

from typing import Any

from cogworks.domain_services.checking import Interface, InterfaceMap
from cogworks.domain_services.messages import Diagnostic
from cogworks.nodes import architecture, interface_design, planning
from cogworks.nodes.replies import (
    Plan,
    ProposedFile,
    Requirement,
)
from cogworks.repair.replies import Edit
from cogworks.vocabulary import Severity
from tests.nodes.examples import (
    FILES,
    INTERFACES,
    SHOWN_ONLY,
    SPECIFICATION,
    planned,
    ports,
    task,
)
from tests.nodes.refusing import Row, reason


def specified(**changes: Any) -> list[str]:
    return architecture.problems_of(SPECIFICATION.model_copy(update=changes), tuple(FILES))


def module(name: str, *, new: bool) -> Any:
    return SPECIFICATION.affected_modules[0].model_copy(update={"name": name, "new": new})


def ignored() -> list[str]:
    place = ports()
    place.copy.rules = {"docs/specs/7.md": "docs/specs/7.md is ignored by .gitignore:3 `docs/`"}
    return reason(architecture.run(task("architecture"), place))


ARCHITECTURE = (
    Row(
        "ignored-by-git",
        ignored,
        (
            (
                "the specification cannot be published: docs/specs/7.md is ignored by .gitignore:3 `docs/`: set `specs` under `[paths]` in "
                "`.cogworks/config.toml`."
            ),
        ),
    ),
    Row(
        "unknown-module",
        lambda: specified(affected_modules=(module("src/adder/addings.py", new=False),)),
        (
            (
                "module 'src/adder/addings.py' is not in the repository (there is src/adder/adding.py, tests/test_adding.py); correct the name "
                "or mark it new"
            ),
        ),
    ),
    Row(
        "nothing-like-it",
        lambda: specified(affected_modules=(module("zzz.qqq", new=False),)),
        (
            "module 'zzz.qqq' is not in the repository (there is none with a similar name); correct the name or mark it new",
        ),
    ),
    Row(
        "not-new",
        lambda: specified(affected_modules=(module("src/adder/adding.py", new=True),)),
        ("module 'src/adder/adding.py' is marked new, but the repository has it (src/adder/adding.py)",),
    ),
    Row(
        "requirement-twice",
        lambda: specified(requirements=SPECIFICATION.requirements * 2),
        ("requirement R1 is listed twice",),
    ),
    Row(
        "requirement-unsaid",
        lambda: specified(requirements=(Requirement(id="R9", text="It adds.", section=""),)),
        (
            "requirement R9 does not appear in the Markdown; put the line `{requirements}` there, or state it under its id",
        ),
    ),
    Row(
        "secret",
        lambda: specified(markdown=f"{SPECIFICATION.markdown}\nUse `{'ghp_' + 'a1' * 18}`.\n"),
        ("line 5 of the Markdown looks like a GitHub token; use a placeholder",),
    ),
    Row(
        "no-heading",
        lambda: specified(markdown="R1 add(2, 2) is 4."),
        ("the Markdown must begin with a first-level heading (`# …`)",),
    ),
)


def designed(place: Any = None, proposed: ProposedFile | None = None, **changes: Any) -> list[str]:
    place = place or ports()
    more = {"files": (proposed,)} if proposed else {}
    reply = INTERFACES.model_copy(update={**more, **changes})
    return interface_design.problems_of(reply, task("interface_design"), place.workspace(), place)


def offering(*names: str) -> Any:
    """A service that finds these names in the file that the answer creates."""
    place = ports()
    path = INTERFACES.files[0].path
    found = tuple(Interface(name=name, kind="class", artifact=path, signature=name) for name in names)
    place.service.interfaces = lambda *_: InterfaceMap(status="complete", interfaces=found)  # type: ignore[method-assign]
    return place


def refusing() -> Any:
    return ports(
        check=lambda _, paths: [
            Diagnostic(
                artifact=paths[0], line=3, severity=Severity.BLOCKING, category="syntax", message="no colon"
            )
        ]
    )


ADDS = INTERFACES.interfaces[0]
HIDDEN = ADDS.model_copy(update={"name": "_Adds"})
INTERFACE_DESIGN = (
    Row(
        "not-declared",
        lambda: designed(offering("Subtracts")),
        ("interface 'Adds' is not declared in 'src/adder/contracts.py', which offers Subtracts",),
    ),
    Row(
        "private",
        lambda: designed(offering("Subtracts"), interfaces=(HIDDEN,)),
        (
            "interface '_Adds' is private, and what is private is no interface of 'src/adder/contracts.py', which offers Subtracts",
        ),
    ),
    Row(
        "deleted",
        lambda: designed(
            proposed=ProposedFile(path="src/adder/adding.py", action="delete", content=""),
            interfaces=(ADDS.model_copy(update={"path": "src/adder/adding.py"}),),
        ),
        ("src/adder/adding.py is deleted; an interface is created or modified",),
    ),
    Row(
        "other-file",
        lambda: designed(interfaces=(ADDS.model_copy(update={"path": "src/adder/other.py"}),)),
        (
            "interface 'Adds' is declared in 'src/adder/other.py', which the answer neither creates nor changes",
        ),
    ),
    Row("twice", lambda: designed(interfaces=(ADDS, ADDS)), ("interface 'Adds' is listed twice",)),
    Row(
        "nothing-and-files",
        lambda: designed(interfaces=(), notes="Nothing."),
        (
            "src/adder/contracts.py is changed, and `interfaces` names nothing; name what it declares, or leave the file alone",
        ),
    ),
    Row(
        "nothing-and-no-reason",
        lambda: designed(interfaces=(), files=()),
        ("`interfaces` names nothing; say in `notes` why no public name or signature changes",),
    ),
    Row(
        "edit-that-stands-nowhere",
        lambda: designed(
            files=(), edits=(Edit(path="src/adder/adding.py", search="class Adds", replace="x"),)
        ),
        (
            "'src/adder/adding.py': the text to replace stands 0 times in the file; it has to stand there once",
        ),
    ),
    Row(
        "created-again",
        lambda: designed(
            proposed=ProposedFile(path="src/adder/adding.py", action="create", content="x\n"),
            interfaces=(ADDS.model_copy(update={"path": "src/adder/adding.py"}),),
        ),
        ("the change has 1 problem(s):\n  - 'src/adder/adding.py' exists already; use the action 'modify'",),
    ),
    Row("diagnostic", lambda: designed(refusing()), ("src/adder/contracts.py:3: no colon",)),
)


def plan(*items: Any) -> list[str]:
    return planning.plan_problems(Plan(sub_work_items=items), INTERFACES.interfaces)


def many() -> Plan:
    return Plan(sub_work_items=tuple(planned(f"A{number}") for number in range(11)))


PLANNING = (
    Row("empty", plan, ("the plan is empty; describe at least one sub-work-item",)),
    Row(
        "same-key",
        lambda: plan(planned("A"), planned("A")),
        ("key 'A' is used 2 times; give every sub-work-item its own",),
    ),
    Row(
        "unknown-dependency",
        lambda: plan(planned("A", depends_on=("Z",))),
        ("A depends on 'Z', which is no key of this plan (A)",),
    ),
    Row(
        "circle",
        lambda: plan(planned("A", depends_on=("B",)), planned("B", depends_on=("A",))),
        ("the dependencies run in a circle: A -> B -> A; remove one of them",),
    ),
    Row(
        "invented-interface",
        lambda: plan(planned("A", interfaces=("Adds", "Subtracts"))),
        ("A names the interface 'Subtracts', which was not designed; known are Adds",),
    ),
    Row(
        "path",
        lambda: plan(planned("A", files=("../x.py",))),
        ("A lists the file '../x.py'; paths are relative to the repository, name a file and have no `..`",),
    ),
    Row(
        "interface-of-nobody",
        lambda: plan(planned("A", interfaces=())),
        (
            (
                "interface 'Adds' (src/adder/contracts.py) is implemented by no sub-work-item; add it to `interfaces` of the one that implements "
                "it"
            ),
        ),
    ),
    Row(
        "too-many",
        lambda: reason(planning.run(task("planning"), ports(many()))),
        (
            (
                "planning found 11 sub-work-items and the limit is 10. Split #7 into several issues, or merge a narrower specification, then "
                "remove the trigger label and set it again."
            ),
        ),
    ),
    Row(
        "too-many-where-the-specification-is-shown",
        lambda: reason(planning.run(task("planning", inputs=SHOWN_ONLY), ports(many()))),
        (
            (
                "planning found 11 sub-work-items and the limit is 10. Split #7 into several issues, or make the specification narrower "
                "(reopen #11, change its file, approve it again), then remove the trigger label and set it again."
            ),
        ),
    ),
)
