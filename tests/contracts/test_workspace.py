"""What every node relies on in a working copy, asked of the real one and of the fake."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.codebase.changes import FileChange
from cogworks.codebase.diffmodel import render
from cogworks.codebase.diffplacing import diff_of
from cogworks.codebase.remotes import Remote
from cogworks.codebase.worktree import WorkingCopies
from cogworks.codegen.plan_bounds import file_actions
from cogworks.nodes.contract import Workspace
from cogworks.vocabulary import BranchName, RunId
from tests.codebase.repositories import BOT, ENVIRONMENT, BareRepository
from tests.fakes import MemoryWorkspace

FILES = {"README.md": "# adder\n", "src/adding.py": "a = 1\n"}
CHANGES = (
    FileChange(path="src/adding.py", action="modify", content="a = 2\n"),
    FileChange(path="tests/test_adding.py", action="create", content="b = 3\n"),
    FileChange(path="README.md", action="delete"),
)


@pytest.fixture(params=["real", "fake"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    if request.param == "fake":
        yield MemoryWorkspace(FILES)
        return
    remote = BareRepository(tmp_path)
    remote.put("main", FILES)
    with WorkingCopies(tmp_path / "cache", identity=BOT, environment=ENVIRONMENT) as copies:
        main = BranchName("main")
        yield copies.open(
            remote=Remote(remote.url, None), run=RunId("r"), name="n", branch=BranchName("work"), base=main
        )


class TestWorkspace:
    def test_it_shows_the_files_of_its_base(self, workspace: Workspace) -> None:
        assert list(workspace.files()) == sorted(FILES)
        assert {path: workspace.read(path) for path in FILES} == FILES
        assert workspace.read("nowhere.py") is None
        assert workspace.diff("main") == ""

    def test_a_commit_shows_its_own_files_whatever_was_changed_since(self, workspace: Workspace) -> None:
        start = workspace.head
        workspace.apply(CHANGES)

        assert {path: workspace.read_at(start, path) for path in FILES} == FILES
        assert workspace.read_at(start, "tests/test_adding.py") is None
        assert workspace.read_at(workspace.commit("Change"), "src/adding.py") == "a = 2\n"
        assert workspace.read_at(start, "src/adding.py") == FILES["src/adding.py"]

    def test_changes_are_visible_at_once(self, workspace: Workspace) -> None:
        assert workspace.apply(CHANGES) is None

        assert list(workspace.files()) == ["src/adding.py", "tests/test_adding.py"]
        assert workspace.read("src/adding.py") == "a = 2\n"
        assert workspace.read("README.md") is None

    def test_the_diff_says_what_happened_to_each_file(self, workspace: Workspace) -> None:
        workspace.apply(CHANGES)

        expected = {"README.md": "delete", "src/adding.py": "modify", "tests/test_adding.py": "create"}
        assert file_actions(workspace.diff("main")) == expected
        assert file_actions(workspace.diff("HEAD")) == expected
        assert "-a = 1\n+a = 2\n" in workspace.diff("main")

    def test_a_refused_change_writes_nothing(self, workspace: Workspace) -> None:
        reason = workspace.apply((*CHANGES, FileChange(path="../out.py", action="create", content="x")))

        assert reason is not None
        assert "'../out.py'" in reason
        assert workspace.diff("HEAD") == ""

    def test_a_change_that_holds_a_secret_is_refused_with_its_place(self, workspace: Workspace) -> None:
        leaking = FileChange(
            path="src/key.py", action="create", content=f"a = 1\nk = '{'ghp_' + 'a1' * 18}'\n"
        )

        reason = workspace.apply((leaking,))

        assert reason is not None
        assert "'src/key.py' line 2 looks like a GitHub token" in reason
        assert "ghp_" not in reason
        assert workspace.diff("HEAD") == ""

    def test_rolling_back_goes_to_the_last_commit(self, workspace: Workspace) -> None:
        workspace.apply(CHANGES)
        workspace.commit("Change")
        workspace.apply((FileChange(path="more.py", action="create", content="c = 4\n"),))

        workspace.roll_back()

        assert list(workspace.files()) == ["src/adding.py", "tests/test_adding.py"]

    def test_a_commit_keeps_the_diff_to_the_base_and_empties_that_to_the_head(
        self, workspace: Workspace
    ) -> None:
        workspace.apply(CHANGES)
        before = workspace.diff("main")

        oid = workspace.commit("Change")

        assert len(oid) == 40
        assert workspace.diff("main") == before
        assert workspace.diff("HEAD") == ""

    def test_its_name_is_of_its_files_and_not_of_its_history(self, workspace: Workspace) -> None:
        found = workspace.tree_name()

        workspace.apply(CHANGES)
        changed = workspace.tree_name()
        workspace.roll_back()

        assert changed != found
        assert workspace.tree_name() == found
        workspace.commit("Nothing")
        assert workspace.tree_name() == found

    def test_a_transaction_sees_the_last_commit_and_writes_what_a_diff_says(
        self, workspace: Workspace
    ) -> None:
        assert workspace.apply(CHANGES) is None
        tree = workspace.transactions()
        state = tree.checkpoint()

        around = tree.view_of(["README.md", "nowhere.md"])
        refused = tree.apply(render(diff_of(CHANGES, FILES)))

        assert (state.head, tree.dirt() != ()) == (workspace.head, True)
        assert (around.sources, around.existing) == ({"README.md": FILES["README.md"]}, frozenset(FILES))
        assert refused is None
        assert {file.path: (file.old_mode, file.new_mode, file.text) for file in tree.staged()} == {
            "README.md": ("100644", None, None),
            "src/adding.py": ("100644", "100644", "a = 2\n"),
            "tests/test_adding.py": (None, "100644", "b = 3\n"),
        }
        assert set(file_actions(tree.diff_from(state.head))) == {each.path for each in CHANGES}
        assert workspace.read("src/adding.py") == "a = 2\n"

    def test_a_transaction_is_undone_as_a_whole_or_committed_as_a_whole(self, workspace: Workspace) -> None:
        tree = workspace.transactions()
        diff = render(diff_of(CHANGES, FILES))
        with tree.hold() as is_ours:
            assert is_ours
            assert not tree.recover()
            state = tree.checkpoint()
            tree.apply(diff)
            tree.roll_back(state)
            tree.finish()
            undone = (workspace.head, list(workspace.files()), tree.dirt())

            tree.checkpoint()
            tree.apply(diff)
            oid = tree.commit("Change it\n", state)
            tree.finish()

        assert undone == (state.head, sorted(FILES), ())
        assert (workspace.head, tree.dirt()) == (oid, ())
        assert list(workspace.files()) == ["src/adding.py", "tests/test_adding.py"]

    def test_a_diff_that_does_not_fit_writes_nothing(self, workspace: Workspace) -> None:
        tree = workspace.transactions()

        refused = tree.apply(render(diff_of(CHANGES, {**FILES, "src/adding.py": "a = 7\n"})))

        assert refused
        assert (list(workspace.files()), tree.dirt()) == (sorted(FILES), ())
