"""Whoever may push to the repository may write our trailer under a commit; only the ledger says which heads are ours."""

from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from cogworks.engine.consider import ReadItem, Wanted, consider
from cogworks.engine.tasks import branch_of
from cogworks.forge.effects import FileText
from cogworks.forge.facts import Branch
from cogworks.forge.observe import facts_of
from cogworks.forge.publication import PublicationContext, commit_body
from cogworks.forge.surface import project
from cogworks.nodes.contract import NodePorts, Outcome
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.unmerged import about_to_push, left_at
from cogworks.vocabulary import BranchName, CommitOid, NodeId, RunId, VisitKey
from tests.forge.test_observe import CONFIGURED
from tests.github.fake_github import FakeGitHub
from tests.github.visit import COMMIT, SPEC, VISIT, publish
from tests.pipeline.runs import GRAPH, finished, lease, new_run
from tests.step_fakes import NODES, Died, Runner
from tests.world import World

BRANCH = BranchName("cogworks/7/swi-1")
OURS = CommitOid("b" * 40)
FORGED = CommitOid("f" * 40)


def pushed_by_eve(world: World, message: str, *, branch: BranchName = BRANCH) -> None:
    world.branches[branch] = Branch(oid=FORGED, message=message)


def finished_code() -> World:
    """An item whose first node is done; its branch is where the ledger says."""
    world = World()
    Runner(world).step()
    return world


def dies(task: NodeTask, ports: NodePorts) -> Outcome:
    raise Died


def seen(world: World) -> Any:
    return consider(ReadItem(world.snapshot()), Wanted(), new_run_id=lambda: RunId("r"))


def test_a_commit_with_the_trailer_of_any_visit_is_named_as_foreign() -> None:
    world = finished_code()
    visit = world.state.visits[0]
    spec = next(name for name in world.branches if name.endswith("/spec"))
    for key in (visit.visit_key, "abc", "a" * 64):
        pushed_by_eve(world, f"Fix\n\n{commit_body(VisitKey(key))}", branch=spec)

        found = seen(world)

        assert found.facts.foreign_branches == (spec,)
        assert f"Branch `{spec}` has a commit that cogworks did not push" in (
            project(found.standing, found.config).comment
        )


def test_a_head_that_a_visit_pushed_before_its_runner_died_is_ours() -> None:
    world = finished_code()
    world.branches[BRANCH] = Branch(oid=OURS, message="whatever")
    state = about_to_push(world.state, {BRANCH: OURS})

    found = facts_of(world.snapshot(), CONFIGURED, lease_ages_s={}, state=state)

    assert found.foreign_branches == ()


def test_an_earlier_head_of_ours_that_somebody_went_back_to_is_foreign() -> None:
    world = finished_code()
    world.branches[BRANCH] = Branch(oid=OURS, message="whatever")
    state = left_at(left_at(world.state, {BRANCH: OURS}), {BRANCH: CommitOid("c" * 40)})

    found = facts_of(world.snapshot(), CONFIGURED, lease_ages_s={}, state=state)

    assert found.foreign_branches == (BRANCH,)


@pytest.mark.parametrize(
    ("branch", "is_foreign"),
    [("spec", True), ("swi-1", True), ("swi-2", False)],
    ids=["spec", "of-A", "of-B"],
)
@pytest.mark.parametrize("is_given_back", [False, True], ids=["under-way", "given-back"])
def test_a_visit_that_is_not_done_vouches_for_no_branch_but_its_own(
    branch: str, is_foreign: bool, is_given_back: bool
) -> None:
    """Its commit may be there and not yet known; on other branches it makes none."""
    state = finished(new_run(), "spec", "plan")
    taken = lease(state, "code@B")
    state = state.with_lease(taken, identity=1)
    if is_given_back:
        state = state.model_copy(update={"leases": (), "given_back": state.leases})
    world = World()
    name = BranchName(f"cogworks/7/{branch}")
    pushed_by_eve(world, f"Fix\n\n{commit_body(taken.visit_key)}", branch=name)

    found = facts_of(
        world.snapshot(), CONFIGURED, lease_ages_s={}, state=state, branch_of=partial(branch_of, state, GRAPH)
    )

    assert (name in found.foreign_branches) is is_foreign


def test_a_whole_look_at_the_item_knows_which_branch_a_visit_has() -> None:
    world = finished_code()
    world.merge(world.pulls[0].number)
    with suppress(Died):
        Runner(world, nodes={**NODES, NodeId("plan"): dies}).step()
    spec = next(name for name in world.branches if name.endswith("/spec"))
    (taken,) = (*world.state.leases, *world.state.given_back)
    pushed_by_eve(world, f"Fix\n\n{commit_body(taken.visit_key)}", branch=spec)

    assert seen(world).facts.foreign_branches == (spec,)


def forgery(github: FakeGitHub, files: dict[str, str], *, steps: int = 1) -> str:
    """Eve makes the branch and writes what the visit would, with something else."""
    github.heads[SPEC] = list(github.heads["main"])
    github.files[SPEC] = {}
    for step in range(1, steps):
        github.add_commit(SPEC, f"step {step}", {"evil.py": "import os\n"})
    return github.add_commit(SPEC, f"Specify\n\n{commit_body(VISIT)}", files)


@pytest.mark.parametrize(
    "files",
    [
        {"docs/spec.md": "# Something else\n"},
        {"docs/spec.md": "# Spec\n", "conftest.py": "import os\n"},
        {},
    ],
    ids=["other-content", "one-file-more", "nothing"],
)
def test_a_commit_that_only_says_it_is_a_visit_s_is_not_adopted(files: dict[str, str]) -> None:
    github = FakeGitHub()
    forged = forgery(github, files)

    published = publish(github, COMMIT)

    assert github.documents == [["createCommitOnBranch"]]
    assert [commit.oid for commit in published.commits] == [github.heads[SPEC][-1][0]] != [forged]


def test_a_faithful_commit_on_top_of_a_hidden_one_is_not_adopted() -> None:
    github = FakeGitHub()
    forged = forgery(github, {"docs/spec.md": "# Spec\n"}, steps=2)

    assert [commit.oid for commit in publish(github, COMMIT).commits] != [forged]


def test_a_commit_with_another_file_in_place_of_one_that_was_there_is_not_adopted() -> None:
    github = FakeGitHub()
    publish(github, COMMIT)
    before = CommitOid(github.heads[SPEC][-1][0])
    more = COMMIT.model_copy(
        update={
            "files": (*COMMIT.files, FileText(path="docs/more.md", text="More\n")),
            "visit_key": "d1" * 32,
        }
    )
    forged = github.add_commit(
        SPEC, f"Specify\n\n{commit_body(more.visit_key)}", {"docs/more.md": "More\n", "evil.py": "x\n"}
    )

    published = publish(github, more, context=PublicationContext(pushed={SPEC: (before,)}))

    assert [commit.oid for commit in published.commits] != [forged]
