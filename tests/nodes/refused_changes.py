"""What Review, Integration, nodes of a repository and the short way say of what they do not take."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cogworks.codebase.scripts import ScriptRun
from cogworks.domain_services.checking import Interface, InterfaceMap
from cogworks.domain_services.transport import ServiceFailed
from cogworks.nodes import review
from cogworks.nodes.artifacts import output_of, planned_item, to_allow_more
from cogworks.nodes.asking import reason_for_a_person
from cogworks.nodes.code_generation import beyond, needs_more
from cogworks.nodes.contract import Failed, Outcome, Succeeded
from cogworks.nodes.integration import run as integrate
from cogworks.nodes.registry import procedure_for
from cogworks.nodes.task import Conventions
from cogworks.vocabulary import CommitOid, Severity
from tests.fakes import MemoryWorkspace, ScriptedService
from tests.nodes.declared import declared, desk, files
from tests.nodes.examples import (
    CLASSIFICATION,
    CODE,
    FILES,
    FIXED,
    REVIEW,
    SHOWN_ONLY,
    finding,
    planned,
    ports,
    task,
    verdict,
)
from tests.nodes.refusing import Row, raised, reason


def judged(path: Sequence[str] = (), *, missing: str = "", manifests: Sequence[str] = ()) -> list[str]:
    failed = reason_for_a_person(
        "interface_design",
        path,
        missing_capability=missing,
        bounds="the specification does",
        remedy=to_allow_more(task("interface_design")),
        manifests=manifests,
    )
    assert failed is not None
    return [failed.reason]


FOR_A_PERSON = (
    Row(
        "missing-capability",
        lambda: judged(missing="It needs the network"),
        (
            (
                "SCOPE_UNDERSPECIFIED: interface_design needs what the specification does not allow: It needs the network. Extend the specification, "
                "docs/specs/7.md, merge it, then remove the trigger label and set it again."
            ),
        ),
    ),
    Row(
        "missing-capability-where-the-specification-is-shown",
        lambda: [to_allow_more(task("interface_design", inputs=SHOWN_ONLY))],
        ("Extend the specification (reopen #11, change its file, approve it again)",),
    ),
    Row(
        "missing-capability-where-nothing-is-specified",
        lambda: [to_allow_more(task("code_generation").model_copy(update={"inputs": {}}))],
        ("Make the issue more precise",),
    ),
    Row(
        "protected-path",
        lambda: judged([".github/workflows/ci.yml"]),
        (
            (
                "PROTECTED_PATH_VIOLATION: interface_design proposed to change protected path(s) .github/workflows/ci.yml; nothing was written. If that change is wanted, "
                "make it by hand."
            ),
        ),
    ),
    Row(
        "manifest",
        lambda: judged(["pyproject.toml"], manifests=("pyproject.toml",)),
        (
            (
                "interface_design proposed to change pyproject.toml, which says what is installed or how tests run; nothing was written. If that "
                "change is wanted, make it by hand on the base branch, and on the sub-work-item's own branch where that is there already, then "
                'remove the trigger label and set it again. `dependencies.changes = "allow"` in `.cogworks/config.toml` lets every such change '
                "pass."
            ),
        ),
    ),
)


CHANGED = {**FILES, "src/adder/adding.py": FIXED}


def reviewed(answer: Any) -> list[str]:
    workspace = MemoryWorkspace(CHANGED, base=FILES)
    return review.problems_of(answer, workspace, ("src/adder/adding.py",))


def proposing(first: int, last: int, replacement: str) -> list[str]:
    suggestion = {"first_line": first, "last_line": last, "replacement": replacement}
    workspace = MemoryWorkspace(CHANGED, base=FILES)
    reply = verdict(finding(Severity.WARNING, suggestion=suggestion))
    return review.without_misplaced(reply.findings, workspace, diff=workspace.diff("main"))[1]


def large(sub_item: str | None) -> list[str]:
    world = ports(files={**FILES, "src/big.py": "x = 1\n" * 40_000}, base=FILES)
    given = task("review", sub_item=sub_item)
    if sub_item is None:
        given = given.model_copy(update={"inputs": {"classification": given.inputs["classification"]}})
    (said,) = reason(review.run(given, world))
    return [re.sub(r"has \d+ characters", "has N characters", said)]


def beyond_the_plan() -> list[str]:
    found = review.scope_findings(task("review", sub_item="A"), planned("A"), ("README.md",))
    return [each["explanation"] for each in found]


REVIEWING = (
    Row(
        "too-large",
        lambda: large("A"),
        ("review: the change of A has N characters and the limit is 200000. Split the sub-work-item.",),
    ),
    Row(
        "too-large-an-issue",
        lambda: large(None),
        ("review: the change of #7 has N characters and the limit is 200000. Split the issue.",),
    ),
    Row(
        "other-file",
        lambda: reviewed(verdict(finding(Severity.WARNING, file="README.md"))),
        ("a finding names 'README.md', which this change does not touch (src/adder/adding.py)",),
    ),
    Row(
        "no-such-line",
        lambda: reviewed(verdict(finding(Severity.WARNING, line=99))),
        ("a finding names src/adder/adding.py line 99, and the file has 2 lines",),
    ),
    Row(
        "suggestion-without-lines",
        lambda: proposing(0, 0, "return b + a"),
        ("a suggestion for src/adder/adding.py has no `first_line`",),
    ),
    Row(
        "suggestion-beyond-the-end",
        lambda: proposing(2, 3, "    return b + a"),
        (
            "the suggestion for src/adder/adding.py lines 2 to 3 names lines that are not there; the file has 2",
        ),
    ),
    Row(
        "suggestion-elsewhere",
        lambda: proposing(1, 1, "def add(b, a):"),
        (
            "the suggestion for src/adder/adding.py lines 1 to 1 is about lines that the change does not touch",
        ),
    ),
    Row(
        "suggestion-of-nothing",
        lambda: proposing(2, 2, "    return a + b"),
        ("the suggestion for src/adder/adding.py lines 2 to 2 changes nothing",),
    ),
    Row(
        "suggestion-too-long",
        lambda: proposing(2, 2, "    return a + b\n" * 300),
        (
            "the suggestion for src/adder/adding.py lines 2 to 2 is too long: at most 20 lines and 4000 characters",
        ),
    ),
    Row(
        "passed-though-blocking",
        lambda: reviewed(verdict(finding(Severity.BLOCKING)).model_copy(update={"passed": True})),
        ("`passed` is true, but 1 finding(s) are blocking; one of the two is wrong",),
    ),
    Row(
        "failed-without-reason",
        lambda: reviewed(verdict().model_copy(update={"passed": False})),
        ("`passed` is false, but no finding is blocking; say what blocks, or pass the change",),
    ),
    Row("not-planned", beyond_the_plan, ("The plan of A does not list this file.",)),
)


def integrated(**inputs: Any) -> list[str]:
    given = {"code": CODE, "review": REVIEW, **inputs}
    return reason(integrate(task("integration", sub_item="A", inputs=given), ports()))


def without_a_branch() -> list[str]:
    given = task("integration", inputs={"code": CODE, "review": REVIEW}).model_copy(
        update={
            "inputs": {
                "classification": CLASSIFICATION.model_dump(mode="json"),
                "code": CODE,
                "review": REVIEW,
            }
        }
    )
    return reason(integrate(given, ports()))


INTEGRATION = (
    Row(
        "review-not-passed",
        lambda: integrated(review={**REVIEW, "passed": False}),
        (
            (
                "integration: the review of A did not pass, so no pull request is opened. Check the edge from `review` to `integration` in the "
                "pipeline."
            ),
        ),
    ),
    Row(
        "no-branch",
        without_a_branch,
        (
            "integration has no branch to open a pull request from; give its node the `slug` of Code Generation in the pipeline.",
        ),
    ),
)
UNKNOWN = task("integration", sub_item="A", inputs={"plan": {"sub_work_items": []}})
INPUTS_OF_NODES = (
    Row(
        "missing-input",
        lambda: raised(lambda: output_of(task("review").model_copy(update={"inputs": {"plan": {}}}), "code")),
        (
            "review needs the output 'code' and was handed plan. Declare it among the node's `inputs` in the pipeline.",
        ),
    ),
    Row(
        "unknown-sub-item",
        lambda: raised(lambda: planned_item(UNKNOWN)),
        ("integration works on a sub-work-item of the plan, and 'A' is none. Restart the run.",),
    ),
)


def own(at: Any, brought: Mapping[str, str] | None = None, *, keys: Mapping[str, Any]) -> Outcome:
    procedure = procedure_for(declared(**keys), files() if brought is None else brought, {})
    assert procedure is not None
    return procedure(task("note", inputs={"plan": {}}), at)


NOTE = {"type": "llm", "prompt": "note", "schema": "note", "inputs": ["plan"], "outputs": ["note"]}
SPAWNING: dict[str, Any] = {"type": "spawning", "inputs": ["plan"]}
DETERMINISTIC: dict[str, Any] = {"type": "deterministic", "inputs": ["plan"]}
SCRIPT = {**DETERMINISTIC, "method": "script", "call": "count", "built_in": True}


def gone(path: str, **keys: Any) -> list[str]:
    left = {name: text for name, text in files(prompts__body="{{ issue.title }}").items() if name != path}
    return raised(lambda: own(desk(), left, keys=keys))


def told(outcome: Outcome, field: str) -> list[str]:
    assert isinstance(outcome, Succeeded)
    value = outcome.output[field]
    return [value] if isinstance(value, str) else list(value)


def broken(_: object) -> Any:
    raise ServiceFailed("service 'x' is broken", service="x", method="simulate")


def ran(exit_code: int | None, stdout: str, stderr: str = "") -> Any:
    return desk(script_run=ScriptRun(exit_code=exit_code, stdout=stdout, stderr=stderr))


PATHS = [{"path": "../b"}, {"path": ".github/workflows/ci.yml"}, {"path": "pyproject.toml"}]


def paths_refused() -> list[str]:
    procedure = procedure_for(declared(**DETERMINISTIC, call="validate_paths"), {}, {})
    assert procedure is not None
    given = task(
        "note", inputs={"plan": {"files": PATHS}}, conventions=Conventions(manifests=("pyproject.toml",))
    )
    at: Any = desk()
    return told(procedure(given, at), "problems")


OWN_NODES = (
    Row(
        "prompt-gone",
        lambda: gone("prompts/note.md.j2", **NOTE),
        ("note: `.cogworks/prompts/note.md.j2` is gone; restore it, then retry.",),
    ),
    Row(
        "schema-gone",
        lambda: gone("schemas/note.json", **NOTE),
        ("note: `.cogworks/schemas/note.json` is gone; restore it, then retry.",),
    ),
    Row(
        "template-gone",
        lambda: gone("prompts/body.md.j2", **SPAWNING, prompt="note", issue_template="body"),
        ("note: `.cogworks/prompts/body.md.j2` is gone; restore it, then retry.",),
    ),
    Row(
        "spawning-script",
        lambda: told(
            own(
                ran(0, '{"issues": [{}]}'),
                keys={**SPAWNING, "method": "script", "call": "due", "built_in": True},
            ),
            "problem",
        ),
        (
            (
                "note: its script's answer does not fit: $.issues[0]: 'title' is a required property; $.issues[0]: 'body' is a required "
                "property; $.issues[0]: 'labels' is a required property"
            ),
        ),
    ),
    Row(
        "no-branch",
        lambda: reason(own_on_the_default_branch()),
        (
            "note has no branch to open a pull request from; give the node the `slug` of the node that pushes it.",
        ),
    ),
    Row(
        "no-comment",
        lambda: reason(own(desk(), keys={**DETERMINISTIC, "call": "comment"})),
        ("note: none of its inputs (plan) has a text `comment`; let the node before it put one out.",),
    ),
    Row(
        "paths",
        paths_refused,
        (
            "../b: '..' is not allowed; write the path relative to the root of the repository",
            ".github/workflows/ci.yml: is protected by the pattern '.github/workflows/**'",
            "pyproject.toml: says what is installed or how tests run",
        ),
    ),
    Row(
        "script-killed",
        lambda: reason(own(ran(None, ""), keys=SCRIPT)),
        ("note: its script was killed at the time limit",),
    ),
    Row(
        "script-without-object",
        lambda: raised(lambda: own(ran(0, "three", "oops"), keys=SCRIPT)),
        ("note: script 'count' (exit code 0) printed no JSON object; its standard error ends with: oops",),
    ),
    Row(
        "service-broken",
        lambda: reason(
            own(
                desk(service=ScriptedService(broken)),
                keys={**DETERMINISTIC, "method": "domain_service", "call": "simulate"},
            )
        ),
        ("note: service 'x' is broken",),
    ),
)


def own_on_the_default_branch() -> Outcome:
    procedure = procedure_for(declared(**DETERMINISTIC, call="open_pull_request"), {}, {})
    assert procedure is not None
    at: Any = desk()
    return procedure(task("note", branch="main"), at)


SHORT = task("code_generation").model_copy(update={"conventions": Conventions(lane_files=1)})


def altered() -> list[str]:
    world = ports(files=CHANGED, base=FILES)

    def names(workspace: MemoryWorkspace, paths: Sequence[str]) -> InterfaceMap:
        is_new = "a + b" in (workspace.read("src/adder/adding.py") or "")
        signature = "add(a, b, c)" if is_new else "add(a, b)"
        found = Interface(name="add", kind="function", artifact="src/adder/adding.py", signature=signature)
        return InterfaceMap(status="complete", interfaces=(found,))

    world.service.interfaces = names  # type: ignore[assignment]
    world.copy.approve(CommitOid("9" * 40), FILES)
    return [beyond(SHORT, world, start=CommitOid("9" * 40))]


def wide() -> list[str]:
    world = ports(files={**CHANGED, "README.md": "x\n"}, base=FILES)
    return [beyond(SHORT, world, start=CommitOid("0" * 40))]


LANES = (
    Row("files", wide, ("the change touches 2 files, and `small` is for at most 1",)),
    Row(
        "interfaces",
        altered,
        ("the change alters public interfaces, which `small` leaves as they are: `add`",),
    ),
    Row(
        "missing",
        lambda: [needs_more(SHORT, Failed(reason="", category="escalated", missing="A new option. "))],
        ("the work needs what `small` leaves as it is: A new option",),
    ),
)
