"""A small work item and its artifacts, for the tests of the nodes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport
from cogworks.nodes.contract import Workspace
from cogworks.nodes.replies import (
    AffectedModule,
    Classification,
    CodeChange,
    Criterion,
    Finding,
    InterfaceName,
    Interfaces,
    Plan,
    PlannedItem,
    ProposedFile,
    Requirement,
    ReviewPass,
    Scope,
    Specification,
)
from cogworks.nodes.task import NodeTask, PullRequestRef, SubItemRef, Visit, WorkItem
from cogworks.vocabulary import BranchName, IssueNumber, NodeId, Severity, SubItemKey, VisitKey
from tests.fakes import FakePorts, MemoryWorkspace, ScriptedAnswers, ScriptedService

KEY = VisitKey("ab" * 32)
FILES = {
    "README.md": "# adder\n",
    "src/adder/__init__.py": "from adder.adding import add\n",
    "src/adder/adding.py": "def add(a, b):\n    return a - b\n",
    "tests/test_adding.py": "def test_zero(): ...\n",
}
ITEM = WorkItem(
    number=IssueNumber(7),
    title="add() subtracts",
    body="When I call add(2, 2) I get 0 and I expect 4, see `adding.py`.",
    labels=(),
    repository="octo-org/adder",
    default_branch=BranchName("main"),
)

CLASSIFICATION = Classification(
    type="bug_fix",
    affected_modules=("src/adder/adding.py",),
    language="python",
    estimated_scope=Scope(files=2, interfaces=0, complexity="low"),
    safety_affecting=False,
    rationale="A wrong result.",
)
SPECIFICATION = Specification(
    title="Let add() add",
    markdown="# Let add() add\n\n- **R1** add(2, 2) is 4.\n",
    affected_modules=(AffectedModule(name="src/adder/adding.py", new=False),),
    public_names=("adder.contracts.Adds",),
    requirements=(Requirement(id="R1", text="add(2, 2) is 4.", section="Requirements"),),
)
INTERFACES = Interfaces(
    files=(ProposedFile(path="src/adder/contracts.py", action="create", content="class Adds: ...\n"),),
    interfaces=(InterfaceName(name="Adds", path="src/adder/contracts.py", purpose="Adds two numbers."),),
)


def planned(key: str = "A", **changes: Any) -> PlannedItem:
    """A sub-work-item that implements the one interface."""
    return PlannedItem.model_validate(
        {
            "key": key,
            "title": f"Item {key}",
            "description": "Let add() add (R1).",
            "files": ("src/adder/adding.py", "tests/test_adding.py"),
            "interfaces": ("Adds",),
            "test_specification": "add(2, 2) in tests/test_adding.py",
            "acceptance_criteria": ("add(2, 2) is 4",),
            "depends_on": (),
            **changes,
        }
    )


PLAN = Plan(sub_work_items=(planned(),))
FIXED = "def add(a, b):\n    return a + b\n"


def change(content: str = FIXED, **changes: Any) -> CodeChange:
    """Code and a test for the sub-work-item."""
    return CodeChange.model_validate(
        {
            "summary": "Let add() add",
            "files": (
                ProposedFile(path="src/adder/adding.py", action="modify", content=content),
                ProposedFile(
                    path="tests/test_adding.py",
                    action="modify",
                    content="def test_zero(): ...\ndef test_sum(): ...\n",
                ),
            ),
            "tests": ("tests/test_adding.py",),
            "notes": "One character.",
            **changes,
        }
    )


def verdict(*findings: Finding) -> ReviewPass:
    """A review pass with these findings."""
    passed = all(finding.severity is not Severity.BLOCKING for finding in findings)
    return ReviewPass(
        passed=passed, criteria=(Criterion(name="correctness", passed=passed),), findings=findings
    )


def finding(severity: Severity, **changes: Any) -> Finding:
    """A remark about the changed line."""
    return Finding.model_validate(
        {
            "file": "src/adder/adding.py",
            "line": 2,
            "severity": severity,
            "criterion": "correctness",
            "explanation": "Wrong for negative numbers.",
            **changes,
        }
    )


def output(reply: BaseModel) -> dict[str, Any]:
    """A reply as the ledger keeps it."""
    return reply.model_dump(mode="json")


CODE: dict[str, Any] = {
    "sub_item": "A",
    "head": "0" * 40,
    "summary": "Let add() add",
    "notes": "One character.",
    "files": [{"path": "src/adder/adding.py", "action": "modify"}],
    "test_files": ["tests/test_adding.py"],
    "tests": {"passed": 2, "added": ["tests/test_adding.py::test_sum"], "failed_before": 0},
    "attempts": 1,
}
REVIEW = {
    "sub_item": "A",
    "passed": True,
    "passes": [{"name": "quality", "passed": True, "criteria": []}],
    "findings": [],
}
INPUTS: dict[str, Any] = {
    "classification": output(CLASSIFICATION),
    "specification": {**output(SPECIFICATION), "path": "docs/specs/7.md"},
    "interfaces": output(INTERFACES),
    "plan": output(PLAN),
}
SHOWN_ONLY: dict[str, Any] = {"specification": {**INPUTS["specification"], "is_shown_only": True}}
"""The specification where no file of it is merged."""


def task(
    node: str,
    *,
    sub_item: str | None = None,
    ordinal: int = 1,
    item: WorkItem = ITEM,
    inputs: Mapping[str, Any] | None = None,
    **changes: Any,
) -> NodeTask:
    """A task of a node; a sub-item's branch starts from `main`."""
    key = SubItemKey(sub_item) if sub_item else None
    ref = SubItemRef(key=key, ordinal=1, number=IssueNumber(21), depends_on=()) if key else None
    slug = "swi-1" if key else "spec"
    fields: dict[str, Any] = {
        "visit": Visit(index=1, node=NodeId(node), sub_item=key, visit_key=KEY, attempt=1, ordinal=ordinal),
        "item": item,
        "inputs": {**INPUTS, **(inputs or {})},
        "dependency_outputs": {},
        "sub_item": ref,
        "sub_items": (ref,) if ref else (),
        "pull_requests": (pull("spec", 11), pull("interfaces", 12)),
        "branch": BranchName(f"cogworks/7/{slug}"),
        "base_branch": BranchName("main"),
        "merge_branches": (),
    }
    return NodeTask(**{**fields, **changes})


def pull(slug: str, number: int) -> PullRequestRef:
    """A pull request into `main`."""
    return PullRequestRef(
        slug=slug,
        number=IssueNumber(number),
        head=BranchName(f"cogworks/7/{slug}"),
        base=BranchName("main"),
    )


def report(passed: Sequence[str] = (), failed: Sequence[str] = (), **changes: Any) -> TestReport:
    """A run in which these tests of `tests/test_adding.py` passed and failed."""
    cases = [TestCase(id=f"tests/test_adding.py::{name}", outcome="passed") for name in passed]
    cases += [
        TestCase(id=f"tests/test_adding.py::{name}", outcome="failed", message=f"E   {name} is wrong")
        for name in failed
    ]
    return TestReport(cases=tuple(cases), **changes)


def suite(workspace: Workspace) -> TestReport:
    """The suite of the example: `test_sum`, where it is there, passes once the bug is gone."""
    tests = workspace.read("tests/test_adding.py") or ""
    is_fixed = "a + b" in (workspace.read("src/adder/adding.py") or "")
    there = [name for name in ("test_zero", "test_sum") if name in tests]
    failed = [name for name in there if name == "test_sum" and not is_fixed]
    return report([name for name in there if name not in failed], failed)


def ports(
    *answers: BaseModel,
    files: Mapping[str, str] = FILES,
    base: Mapping[str, str] | None = None,
    run_tests: Callable[[Workspace], TestReport] = suite,
    check: Callable[[Workspace, Sequence[str]], Sequence[Diagnostic]] = lambda *_: (),
    layout: Callable[[str], str] = lambda text: text,
    rules: Callable[[Workspace, Sequence[str]], Sequence[Diagnostic]] = lambda *_: (),
) -> FakePorts:
    """A shell whose model gives these answers."""
    return FakePorts(
        model=ScriptedAnswers(*answers),
        service=ScriptedService(run_tests, check, layout=layout, rules=rules),
        copy=MemoryWorkspace(files, base=base),
    )
