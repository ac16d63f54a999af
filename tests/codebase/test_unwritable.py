"""A file that git ignores, or whose contents git keeps elsewhere, is refused with the reason, whatever form the change has."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.codebase.changes import FileChange
from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.codebase.worktree import WorkingCopies
from cogworks.vocabulary import BranchName, RunId
from tests.codebase.repositories import BOT, ENVIRONMENT, BareRepository, git
from tests.repair.benches import make_worktree, patch_tree

FILES = {
    ".gitignore": "# made by the build\n_version.py\nbuild/\n*.log\n!kept.log\n",
    "src/.gitignore": "made_*.py\n",
    "src/a.py": "a = 1\n",
}
NEW = "diff --git a/{0} b/{0}\nnew file mode 100644\n--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+{1}\n"


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[WorkingCopy]:
    remote = BareRepository(tmp_path)
    remote.put("main", {"build/run.sh": "#!/bin/sh\n"})
    remote.put("main", FILES)
    user = tmp_path / "user"
    (user / ".config" / "git").mkdir(parents=True)
    (user / ".config" / "git" / "ignore").write_text("mine.py\n")
    (user / ".gitconfig").write_text(f"[core]\n\texcludesFile = {user / '.config' / 'git' / 'ignore'}\n")
    environment = {**ENVIRONMENT, "HOME": str(user), "XDG_CONFIG_HOME": str(user / ".config")}
    with WorkingCopies(tmp_path / "cache", identity=BOT, environment=environment) as copies:
        main = BranchName("main")
        found = copies.open(
            remote=Remote(remote.url, None), run=RunId("r"), name="n", branch=BranchName("work"), base=main
        )
        exclude = Path(git(found.path, "rev-parse", "--git-path", "info/exclude"))
        exclude = exclude if exclude.is_absolute() else found.path / exclude
        exclude.parent.mkdir(exist_ok=True)
        exclude.write_text("private.py\n")
        yield found


def create(path: str, content: str = "x = 1\n") -> FileChange:
    return FileChange(path=path, action="create", content=content)


def modify(path: str, content: str) -> FileChange:
    return FileChange(path=path, action="modify", content=content)


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("src/_version.py", ".gitignore:2 `_version.py`"),
        ("build/deep/x.py", ".gitignore:3 `build/`"),
        ("src/made_by.py", "src/.gitignore:1 `made_*.py`"),
        ("private.py", "git's own info/exclude:1 `private.py`"),
    ],
    ids=["root", "folder", "nested", "exclude"],
)
def test_a_file_that_git_ignores_is_refused_with_the_rule(copy: WorkingCopy, path: str, rule: str) -> None:
    reason = copy.apply([modify("src/a.py", "a = 2\n"), create(path)])

    assert reason is not None
    assert reason.startswith(f"{path} is ignored by {rule}; what git ignores is never committed.")
    assert (copy.read("src/a.py"), (copy.path / path).exists()) == ("a = 1\n", False)
    assert list(copy.unwritable([path, "src/a.py"])) == [path]


@pytest.mark.parametrize(
    "path", ["kept.log", "mine.py", "made_elsewhere.py"], ids=["negation", "user's", "elsewhere"]
)
def test_what_the_repository_does_not_ignore_is_written(copy: WorkingCopy, path: str) -> None:
    assert copy.apply([create(path)]) is None
    assert copy.unwritable([path]) == {}


def test_a_tracked_file_may_be_changed_whatever_the_rules_say(copy: WorkingCopy) -> None:
    assert copy.apply([modify("build/run.sh", "#!/bin/sh\ntrue\n")]) is None
    assert copy.unwritable(["build/run.sh"]) == {}


def test_a_change_can_neither_lift_a_rule_nor_make_one_for_its_own_files(copy: WorkingCopy) -> None:
    lifting = [modify(".gitignore", "build/\n"), create("src/_version.py")]
    making = [
        modify(".gitignore", f"{FILES['.gitignore']}new.py\n"),
        create("new.py"),
        modify("src/a.py", ""),
    ]

    lifted, made = copy.apply(lifting), copy.apply(making)

    assert lifted is not None
    assert lifted.startswith("src/_version.py is ignored by .gitignore:2")
    assert made is not None
    assert made.startswith("new.py is ignored by .gitignore:6")
    assert git(copy.path, "status", "--porcelain", "--ignored") == ""
    assert copy.diff("main") == ""


def test_a_file_in_the_place_of_a_folder_that_goes_is_judged_too(copy: WorkingCopy) -> None:
    reason = copy.apply([FileChange(path="src/a.py", action="delete"), create("src/a.py/_version.py")])

    assert reason is not None
    assert reason.startswith("src/a.py/_version.py is ignored by .gitignore:2")


def test_a_diff_is_judged_by_the_same_rules(tmp_path: Path) -> None:
    tree = patch_tree(make_worktree(tmp_path, FILES))

    around = tree.view_of(["src/_version.py", "src/made_by.py", "src/a.py", "src/b.py", "../x"])

    assert list(around.unwritable) == ["src/_version.py", "src/made_by.py"]
    assert around.unwritable["src/_version.py"].startswith(
        "src/_version.py is ignored by .gitignore:2 `_version.py`"
    )


def test_a_diff_that_makes_a_rule_for_its_own_file_is_refused(tmp_path: Path) -> None:
    files = {"a.txt": "a\n"}
    tree = patch_tree(make_worktree(tmp_path, files))

    reason = tree.apply(NEW.format(".gitignore", "new.py") + NEW.format("new.py", "x = 1"))

    assert reason is not None
    assert reason.startswith("new.py is ignored by .gitignore:1 `new.py`")


def test_what_git_lfs_keeps_is_refused_and_text_beside_it_is_not(copy: WorkingCopy) -> None:
    (copy.path / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    git(copy.path, "add", ".gitattributes")
    copy.commit("Keep large files elsewhere")

    reason = copy.apply([create("models/small.bin", "not a pointer\n"), modify("src/a.py", "a = 2\n")])

    assert reason is not None
    assert reason.startswith("models/small.bin is kept by Git LFS (`filter=lfs` in .gitattributes)")
    assert copy.read("src/a.py") == "a = 1\n"
    assert copy.apply([create("models/small.txt")]) is None


def test_a_change_cannot_take_a_file_from_git_lfs_by_its_own_rules(copy: WorkingCopy) -> None:
    reason = copy.apply([create(".gitattributes", "*.py filter=lfs\n"), create("new.py")])

    assert reason is not None
    assert "'.gitattributes' is protected" in reason
    assert copy.diff("main") == ""


def test_what_belongs_to_a_submodule_is_refused_and_the_submodule_stays(copy: WorkingCopy) -> None:
    path = "library/src/new.py"
    link = f"160000,{git(copy.path, 'rev-parse', 'HEAD')},library"
    git(copy.path, "update-index", "--add", "--cacheinfo", link)
    # As git leaves it in every checkout.
    (copy.path / "library").mkdir()
    copy.commit("Add a submodule")

    reason = copy.apply([create(path)])

    assert reason is not None
    assert reason.startswith(f"{path} belongs to the submodule library, which is another repository")
    assert "160000" in git(copy.path, "ls-tree", "HEAD", "library")
    assert not (copy.path / "library" / "src").exists()
