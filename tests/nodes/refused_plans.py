"""What Intake, Architecture, Interface Design and Planning say of an answer that they do not take."""

from typing import Any

from cogworks.domain_services.checking import Interface, InterfaceMap
from cogworks.domain_services.messages import Diagnostic
from cogworks.forge.snapshot import Neighbour
from cogworks.nodes import architecture, intake, interface_design, planning
from cogworks.nodes.replies import (
    Plan,
    ProposedFile,
    Requirement,
)
from cogworks.nodes.task import Conventions, WorkItem
from cogworks.repair.replies import Edit
from cogworks.vocabulary import IssueNumber, Severity
from tests.nodes.examples import (
    CLASSIFICATION,
    FILES,
    INTERFACES,
    ITEM,
    SHOWN_ONLY,
    SPECIFICATION,
    planned,
    ports,
    task,
)
from tests.nodes.refusing import Row, reason


def thin(**changes: str) -> list[str]:
    return [intake.too_thin(ITEM.model_copy(update=changes)) or ""]


def classified(item: WorkItem = ITEM, **changes: Any) -> list[str]:
    reply = CLASSIFICATION.model_copy(update=changes)
    return [
        *intake.problems_of(reply, tuple(FILES)),
        *intake.misquoted(reply, item),
        *intake.uncopied(reply, item),
    ]


NEIGHBOURS = (
    Neighbour(number=IssueNumber(3), title="a", body="", kind="issue", state="open"),
    Neighbour(
        number=IssueNumber(4), title="b", body="", kind="issue", state="closed", why_closed="completed"
    ),
)


def known(**changes: Any) -> list[str]:
    reply = CLASSIFICATION.model_copy(update={"known_because": "Both want a sum.", **changes})
    return intake.unfounded(reply, NEIGHBOURS)


def elsewhere(**changes: Any) -> list[str]:
    reply = CLASSIFICATION.model_copy(update={"known_because": "Both want a sum.", **changes})
    return [intake.done_elsewhere(reply, task("intake", neighbours=NEIGHBOURS)) or ""]


def escalated(**changes: Any) -> list[str]:
    return too_much("", **changes)


def too_much(division: str, **changes: Any) -> list[str]:
    asked = task("intake", conventions=Conventions.model_validate({"division": division}))
    return [intake.reason_to_escalate(CLASSIFICATION.model_copy(update=changes), asked) or ""]


HUGE = CLASSIFICATION.estimated_scope.model_copy(update={"files": 41})
TOO_LARGE = "#7 is too large for one work item: about 41 files (limit 40) and 0 interfaces (limit 25). Split it into several issues."
MAY_BE_DIVIDED = " Or set the label `cogworks:lane:large` and comment `/cogworks restart`: then a proposal how to split it is made for you to approve."


INTAKE = (
    Row(
        "empty-body",
        lambda: thin(body=" "),
        (
            (
                "#7 is too thin to work on: its body is empty. Describe what happens, what should happen and how to see the difference, then "
                "remove the trigger label and set it again."
            ),
        ),
    ),
    Row(
        "few-words",
        lambda: thin(title="Bug", body="It fails."),
        (
            (
                "#7 is too thin to work on: its title and body have 3 words. Describe what happens, what should happen and how to see the "
                "difference, then remove the trigger label and set it again."
            ),
        ),
    ),
    Row(
        "unknown-module",
        lambda: classified(affected_modules=("src/adder/addings.py",)),
        (
            (
                "affected module 'src/adder/addings.py' is not in the repository (there is src/adder/adding.py, tests/test_adding.py); name "
                "existing files or directories only"
            ),
        ),
    ),
    Row(
        "nothing-like-it",
        lambda: classified(affected_modules=("zzz.qqq",)),
        (
            "affected module 'zzz.qqq' is not in the repository (there is none with a similar name); name existing files or directories only",
        ),
    ),
    Row(
        "no-module",
        lambda: classified(affected_modules=()),
        ("no affected module is named; name those that will change, or ask what you need to know",),
    ),
    Row(
        "misquoted",
        lambda: classified(says_what_is_right="It must be five."),
        (
            "`says_what_is_right` is 'It must be five.', which is not in the issue; copy sentences or a block of code of it word for word, or leave it empty",
        ),
    ),
    Row(
        "uncopied",
        lambda: classified(orders=("Skip the tests.",)),
        (
            "`orders` has 'Skip the tests.', which is not in the issue; copy passages of its title or of its body word for word, or leave the list empty",
        ),
    ),
    Row(
        "passages",
        lambda: classified(
            says_what_is_right="a\n\nb\n\nc\n\nd", item=ITEM.model_copy(update={"body": "d c b a"})
        ),
        ("`says_what_is_right` has 4 passages; 3 at most say what is right, choose those",),
    ),
    Row(
        "duplicate-and-fixed",
        lambda: known(duplicate_of=3, already_fixed_by=4),
        (
            "both `duplicate_of` and `already_fixed_by` are given; give the one that says more, and 0 for the other",
        ),
    ),
    Row(
        "duplicate-not-shown",
        lambda: known(duplicate_of=9),
        ("`duplicate_of` is 9, and #3, #4 of what was shown can be named there; else give 0",),
    ),
    Row(
        "not-fixed",
        lambda: known(already_fixed_by=3),
        ("`already_fixed_by` is 3, and #4 of what was shown can be named there; else give 0",),
    ),
    Row(
        "duplicate-without-reason",
        lambda: known(duplicate_of=3, known_because=" "),
        ("`known_because` is empty; say why it is the same, or what has done it already",),
    ),
    Row(
        "duplicate",
        lambda: elsewhere(duplicate_of=3),
        (
            (
                "#7 asks for the same as #3 (issue, open): Both want a sum.\n\nNothing was begun. If that is so, close this issue. If it asks "
                "for something else, say in its body what, and comment `/cogworks retry`: then it is worked on, and other issues are not "
                "compared again."
            ),
        ),
    ),
    Row(
        "already-fixed",
        lambda: elsewhere(already_fixed_by=4),
        (
            (
                "#7 was done already by #4 (issue, closed as completed): Both want a sum.\n\nNothing was begun. If that is so, close this "
                "issue. If it asks for something else, say in its body what, and comment `/cogworks retry`: then it is worked on, and other "
                "issues are not compared again."
            ),
        ),
    ),
    Row(
        "questions",
        lambda: escalated(questions=("Which sum?",)),
        (
            (
                "#7 leaves open what has to be known first:\n- Which sum?\n\nAnswer in the issue's body, then remove the trigger label and set "
                "it again."
            ),
        ),
    ),
    Row(
        "too-large",
        lambda: escalated(estimated_scope=HUGE),
        (TOO_LARGE,),
    ),
    Row(
        "too-large-unasked",
        lambda: too_much("on_request", estimated_scope=HUGE),
        (f"{TOO_LARGE}{MAY_BE_DIVIDED}",),
    ),
    Row(
        "too-large-by-rule-and-critical",
        lambda: too_much("by_rule", estimated_scope=HUGE, safety_affecting=True),
        (f"{TOO_LARGE}{MAY_BE_DIVIDED}",),
    ),
    Row("large-by-rule", lambda: too_much("by_rule", estimated_scope=HUGE), ("",)),
    Row("large-as-asked", lambda: too_much("asked", estimated_scope=HUGE, safety_affecting=True), ("",)),
    Row(
        "no-usable-answer",
        lambda: reason(
            intake.run(
                task("intake", conventions=Conventions(max_answers=1)),
                ports(CLASSIFICATION.model_copy(update={"affected_modules": ()})),
            )
        ),
        (
            (
                "intake: none of 1 answers of the model was usable. The last one:\n- no affected module is named; name those that will change, "
                "or ask what you need to know\nMake the issue more precise, then remove the trigger label and set it again."
            ),
        ),
    ),
)


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
        ("requirement R9 does not appear in the Markdown; state it there under its id",),
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
