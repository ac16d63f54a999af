"""Which questions may have tests run before they are answered."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.codebase.worktree import WorkingCopies
from cogworks.codegen.governed import ActionAudit
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.llm.conversation import Looks
from cogworks.nodes.contract import Workspace
from cogworks.sight.index import Index
from cogworks.sight.seen import Seen
from cogworks.sight.store import Store
from cogworks.tools.records import Identity
from cogworks.vocabulary import BranchName, NodeId, RunId
from cogworks.wiring.looks import looks_of
from tests.codebase.repositories import BOT, BareRepository
from tests.fakes import ScriptedService


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[WorkingCopy]:
    remote = BareRepository(tmp_path)
    remote.put(
        "main", {"price.py": "def price(): return 1\n", "tests/test_price.py": "def test_price(): ...\n"}
    )
    with WorkingCopies(tmp_path / "cache", identity=BOT, environment=os.environ) as copies:
        yield copies.open(
            remote=Remote(remote.url, None),
            run=RunId("r"),
            name="review",
            branch=BranchName("cogworks/7/swi-1"),
            base=BranchName("main"),
        )


def report_of(workspace: Workspace) -> TestReport:
    """A new test that says whether the price is above zero."""
    is_new = workspace.read("tests/test_new.py") is not None
    return TestReport(
        cases=(TestCase(id="tests/test_new.py::test_new", outcome="failed", message="assert -1 > 0"),)
        * is_new
    )


TRY = {
    "look": "try",
    "tests": ["tests/test_new.py"],
    "edits": [{"path": "tests/test_new.py", "search": "", "replace": "def test_new(): assert price() > 0\n"}],
}


def looks_in(copy: WorkingCopy, node: str) -> Looks:
    return looks_of(
        NodeId(node),
        {},
        copy,
        ActionAudit(Identity(), now=lambda: 0.0),
        index=lambda: Index(copy, Store()),
        service=lambda: ScriptedService(report_of),
        hidden=frozenset(),
        seen=Seen(copy.read),
    )


@pytest.mark.parametrize("node", ["review", "code_generation"])
def test_whoever_judges_or_writes_code_may_try_what_nobody_keeps(node: str, copy: WorkingCopy) -> None:
    looks, before = looks_in(copy, node), copy.tree_name()

    shown = looks.carry_out([TRY])

    assert "assert -1 > 0" in shown
    assert "`try`" in looks.guide
    assert (copy.tree_name(), copy.read("tests/test_new.py")) == (before, None)


def test_whoever_designs_may_run_nothing(copy: WorkingCopy) -> None:
    looks = looks_in(copy, "architecture")

    assert "assert -1" not in looks.carry_out([TRY])
    assert "`try`" not in looks.guide
