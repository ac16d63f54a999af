"""The tree of the files on the disk is the one that git makes with a fresh index, whatever was done to them."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import CalledProcessError
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cogworks.codebase.changes import FileChange
from cogworks.codebase.disktree import next_tree, whole_tree
from cogworks.codebase.failures import CodebaseError
from cogworks.codebase.git import Git
from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.codebase.worktree import WorkingCopies
from cogworks.vocabulary import BranchName, RunId
from tests.codebase.repositories import BOT, ENVIRONMENT, BareRepository, git
from tests.exhaustive import examples

FILES: Mapping[str, str] = {
    ".gitignore": "*.log\n/made/\n",
    "a.txt": "one\n",
    "A.md": "upper\n",
    "src/b.txt": "two\n",
    "src/deep/c.txt": "three\n",
    "src/deep/windows.txt": "four\n",
    "kept.log": "added by force\n",
}
ATTRIBUTES = (
    "",
    "* text=auto\n",
    "*.txt text\n",
    "*.txt text eol=crlf\n",
    "# text\n*.txt -text\n",
    "*.txt ident\n",
)
PATHS = [
    *FILES,
    "new.txt",
    "a.TXT",
    "src",
    "src/deep",
    "a.txt/inner.txt",
    "new.log",
    "made/x.txt",
    "src/.gitattributes",
    "made/.gitattributes",
]
TEXTS = ["one\n", "two\n", "six\n", "one\r\n", "$Id$\n", "*.txt text\n", "*.log\n", ""]


class Step(NamedTuple):
    """Something that is done to the files."""

    what: str
    path: str
    text: str


STEPS = st.builds(
    Step,
    st.sampled_from(
        [
            "write",
            "rewrite unseen",
            "delete",
            "link",
            "executable",
            "touch",
            "folder",
            "add",
            "apply",
            "commit",
            "back",
            "age",
        ]
    ),
    st.sampled_from(PATHS),
    st.sampled_from(TEXTS),
)


def put(place: Path, text: str) -> None:
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())


def put_folder(place: Path, text: str) -> None:
    """A folder with one file, in the place of what was there."""
    place.unlink(missing_ok=True)
    put(place / "x.txt", text)


def put_unseen(place: Path, text: str) -> None:
    """Another text of the same length, with the time stamp of the one before."""
    with suppress(OSError):
        marks, old = place.lstat(), place.read_bytes()
        place.write_bytes((text.encode() + old)[: len(old)])
        os.utime(place, ns=(marks.st_atime_ns, marks.st_mtime_ns))


def link(place: Path, text: str) -> None:
    with suppress(OSError):
        place.unlink(missing_ok=True)
        place.symlink_to(text.strip() or "nowhere")


def age(copy: WorkingCopy) -> None:
    """Make all files so old that git believes their marks."""
    for folder, _, names in os.walk(copy.path):
        for name in names:
            os.utime(Path(folder, name), (1_000_000_000, 1_000_000_000), follow_symlinks=False)
    with suppress(CalledProcessError):
        git(copy.path, "update-index", "-q", "--refresh")


def take(copy: WorkingCopy, step: Step) -> None:
    place = copy.path / step.path
    if place.resolve() != place:
        # Nothing is done through a link, here or outside of the copy.
        return
    actions: dict[str, Callable[[], object]] = {
        "write": lambda: put(place, step.text),
        "rewrite unseen": lambda: put_unseen(place, step.text),
        "delete": place.unlink,
        "link": lambda: link(place, step.text),
        "executable": lambda: place.chmod(0o755),
        "touch": lambda: os.utime(place, (1, 1)),
        "folder": lambda: put_folder(place, step.text),
        "add": lambda: git(copy.path, "add", "--force", "--", step.path),
        "apply": lambda: copy.apply([FileChange(path=step.path, action="modify", content=step.text)]),
        "commit": lambda: copy.commit(step.text),
        "back": copy.roll_back,
        "age": lambda: age(copy),
    }
    # Of what git itself does not see `roll_back` says so instead of undoing it.
    with suppress(OSError, CodebaseError):
        if step.what != "add" or place.exists():
            actions[step.what]()


def afresh(copy: WorkingCopy, start: str, *options: str) -> str:
    """The tree that git makes of the files when it knows nothing of them."""
    with tempfile.TemporaryDirectory() as folder:
        runner = Git(environment=ENVIRONMENT, home=Path(folder))
        extra = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
        runner.run("read-tree", start, cwd=copy.path, extra=extra)
        runner.run("add", "--all", *options, cwd=copy.path, extra=extra)
        return runner.run("write-tree", cwd=copy.path, extra=extra).strip()


@contextmanager
def opened(files: Mapping[str, str], *, submodule: bool = True) -> Iterator[WorkingCopy]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        remote = BareRepository(folder)
        remote.put("main", files)
        if submodule:
            seat = folder / "seat"
            entry = f"160000,{git(seat, 'rev-parse', 'HEAD')},module"
            git(seat, "update-index", "--add", "--cacheinfo", entry)
            git(seat, "commit", "--quiet", "--message", "a submodule")
            git(seat, "push", "--quiet", remote.url, "HEAD:refs/heads/main")
        with WorkingCopies(folder / "cache", identity=BOT, environment=os.environ) as copies:
            yield copies.open(
                remote=Remote(remote.url, None),
                run=RunId("r"),
                name="item",
                branch=BranchName("work"),
                base=BranchName("main"),
            )


def same_as_afresh(copy: WorkingCopy) -> None:
    assert copy.tree_name() == afresh(copy, git(copy.path, "write-tree"))
    assert copy.checkpoint().tree == afresh(copy, "HEAD", "--force")


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(ATTRIBUTES), st.lists(STEPS, min_size=1, max_size=8))
def test_every_kind_of_change_gives_the_tree_of_a_fresh_index(attributes: str, steps: list[Step]) -> None:
    files = {**FILES, ".gitattributes": attributes} if attributes else {**FILES, "src/d.txt": "one\r\n"}
    with opened(files) as copy:
        age(copy)
        same_as_afresh(copy)
        for step in steps:
            take(copy, step)
            same_as_afresh(copy)


def test_a_rewrite_of_the_same_length_in_the_same_moment_is_seen() -> None:
    with opened(FILES, submodule=False) as copy:
        names = set()
        for number in range(20):
            put(copy.path / "a.txt", f"{number:03}\n")
            copy.apply([FileChange(path="src/b.txt", action="modify", content=f"{number:03}\n")])
            put_unseen(copy.path / "src/b.txt", f"{number + 100}\n")
            names.add(copy.tree_name())

        assert len(names) == 20
        same_as_afresh(copy)


def test_a_rewrite_in_the_same_moment_is_seen_later_as_well() -> None:
    with opened(FILES, submodule=False) as copy:
        age(copy)
        before = copy.tree_name()
        copy.apply([FileChange(path="src/b.txt", action="modify", content="six\n")])
        changed = copy.tree_name()
        put_unseen(copy.path / "src/b.txt", "two\n")
        # So that an index which is written now is younger than the file.
        time.sleep(1.1)

        assert changed != before
        assert copy.tree_name() == before


def test_a_rewrite_is_seen_although_its_time_stamp_was_set_back() -> None:
    with opened(FILES, submodule=False) as copy:
        age(copy)
        before = copy.tree_name()
        put_unseen(copy.path / "src/b.txt", "six\n")

        assert copy.tree_name() != before
        same_as_afresh(copy)


def test_a_rule_that_converts_files_counts_for_those_that_nobody_touched() -> None:
    with opened({**FILES, "src/d.txt": "one\r\n"}, submodule=False) as copy:
        age(copy)
        before = copy.tree_name()
        # No change of a model may make such a file; a commit of the base brings it.
        put(copy.path / ".gitattributes", "*.txt text\n")

        assert copy.tree_name() != before
        same_as_afresh(copy)


def test_even_a_rule_in_a_file_that_is_ignored_counts() -> None:
    files = {**FILES, "src/d.txt": "one\r\n", ".gitignore": ".gitattributes\n"}
    with opened(files, submodule=False) as copy:
        age(copy)
        put(copy.path / "src" / ".gitattributes", "*.txt text\n")

        same_as_afresh(copy)


@pytest.mark.parametrize(
    ("attributes", "is_read_again"),
    [
        ("", False),
        ("* text=auto\n*.png binary -text\n", False),
        ("# filter of old\n*.py linguist-generated\n", False),
        ("*.sh text eol=lf\n", True),
        ("*.bin filter=lfs -text\n", True),
        ("[attr]words text\n", True),
        ('"a b.txt" working-tree-encoding=UTF-16\n', True),
    ],
)
def test_a_file_is_read_again_only_where_attributes_may_convert_it(
    attributes: str, is_read_again: bool
) -> None:
    with opened({**FILES, "src/.gitattributes": attributes}, submodule=False) as copy:
        asked: list[tuple[str, ...]] = []

        def run(*arguments: str, **more: object) -> str:
            asked.append(arguments)
            return copy.git.run(*arguments, cwd=copy.path, **more)  # type: ignore[arg-type]

        assert next_tree(run, copy.path) == git(copy.path, "rev-parse", "HEAD^{tree}")
        assert whole_tree(run, copy.path) == git(copy.path, "rev-parse", "HEAD^{tree}")

    assert (("read-tree", "HEAD") in asked) is is_read_again


def test_an_index_that_is_gone_costs_a_fresh_one() -> None:
    with opened(FILES, submodule=False) as copy:
        Path(git(copy.path, "rev-parse", "--git-path", "index")).unlink()

        assert copy.checkpoint().tree == git(copy.path, "rev-parse", "HEAD^{tree}")
