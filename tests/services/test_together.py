"""A change on its way: working copy, service, commit, push, behind the Protocols the nodes know.

Slow: each of its parts has quick tests of its own.
"""

import os
import sys
from pathlib import Path

import pytest

from cogworks.codebase.changes import FileChange
from cogworks.codebase.remotes import Remote
from cogworks.codebase.worktree import WorkingCopies
from cogworks.domain_services.client import ProcessService
from cogworks.domain_services.panel import Member, ServicePanel
from cogworks.nodes.contract import DomainService, Workspace
from cogworks.vocabulary import BranchName, RunId
from tests.codebase.repositories import BOT, BareRepository

BRANCH = BranchName("cogworks/7/swi-1")
FILES = {
    "calc/__init__.py": "def double(x):\n    return x + x + 1\n",
    "tests/test_calc.py": "from calc import double\n\ndef test_double():\n    assert double(2) == 4\n",
}


def fixed(workspace: Workspace, service: DomainService) -> list[bool]:
    """Whether the suite passed before and after the fix."""
    before = service.simulate(workspace).passed
    fix = FileChange(path="calc/__init__.py", action="modify", content="def double(x):\n    return x + x\n")
    assert workspace.apply([fix]) is None
    assert service.validate(workspace, ["calc/__init__.py"]) == ()
    after = service.simulate(workspace, ["tests/test_calc.py"]).passed
    workspace.commit("Fix double")
    return [before, after]


@pytest.mark.slow
def test_a_fix_is_tested_committed_and_pushed(tmp_path: Path) -> None:
    remote = BareRepository(tmp_path)
    remote.put("main", FILES)
    command = [sys.executable, "-m", "cogworks.services.python", "--until-stdin-closes"]
    with (
        WorkingCopies(tmp_path / "cache", identity=BOT, environment=os.environ) as copies,
        ServicePanel(
            [Member(ProcessService(command, name="python", environment=os.environ))], warn=print
        ) as service,
    ):
        copy = copies.open(
            remote=Remote(remote.url, None), run=RunId("r"), name="A", branch=BRANCH, base=BranchName("main")
        )
        assert fixed(copy, service) == [False, True]
        pushed = copy.push(BRANCH, None)
        copies.discard(RunId("r"))

    assert (pushed.status, pushed.oid) == ("pushed", remote.head(BRANCH))
