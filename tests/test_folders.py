"""Folders of others are copied and walked as they are, and however deep."""

import os
import shutil
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.folders import copy_folder, walk
from cogworks.removal import temporary_folder
from tests.test_removal import nest

DEPTH = 1_500
"""With this many `shutil.copytree` ends in a RecursionError, and `os.walk` before Python 3.12."""
NAMES = st.sampled_from("abc")
TREES = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=4).map("/".join), st.sampled_from(["file", "folder", "link"])
)


def lay_out(folder: Path, tree: dict[str, str]) -> None:
    """Whatever of the tree can lie there: a file is no folder of another."""
    for path, kind in tree.items():
        place = folder / path
        if any(parent.is_symlink() or parent.is_file() for parent in place.parents) or os.path.lexists(place):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        match kind:
            case "file":
                place.write_text(path)
            case "folder":
                place.mkdir()
            case _:
                place.symlink_to(folder)


def told(folder: Path) -> dict[str, tuple[str, int]]:
    """What lies there: path -> its content, and its mode and kind."""
    found = {}
    for here, folders, files in os.walk(folder):
        for place in (Path(here, name) for name in (*folders, *files)):
            text = (
                os.fspath(place.readlink())
                if place.is_symlink()
                else place.read_text()
                if place.is_file()
                else ""
            )
            found[place.relative_to(folder).as_posix()] = (text, place.lstat().st_mode)
    return found


@given(TREES)
def test_a_folder_is_copied_and_walked_as_the_standard_library_does_it(tree: dict[str, str]) -> None:
    with temporary_folder("cogworks-test-") as folder:
        source = folder / "source"
        source.mkdir()
        lay_out(source, tree)
        left_out = shutil.ignore_patterns("b")

        copy_folder(source, folder / "ours", left_out=left_out)
        shutil.copytree(source, folder / "theirs", symlinks=True, ignore=left_out)

        assert told(folder / "ours") == told(folder / "theirs")
        ours, theirs = (
            {here: (set(folders), set(files)) for here, folders, files in each}
            for each in (walk(source), os.walk(source))
        )
        assert ours == theirs


def test_modes_and_times_are_copied_and_a_folder_that_nobody_may_write_with_what_is_in_it(
    tmp_path: Path,
) -> None:
    source = tmp_path / "source"
    (source / "closed").mkdir(parents=True)
    (source / "closed/run").write_text("x")
    (source / "closed/run").chmod(0o750)
    (source / "closed").chmod(0o555)
    os.utime(source / "closed/run", (1, 2))

    copy_folder(source, tmp_path / "made/copy")

    copied = (tmp_path / "made/copy/closed/run").stat()
    assert (stat.S_IMODE(copied.st_mode), copied.st_mtime) == (0o750, 2)
    assert stat.S_IMODE((tmp_path / "made/copy/closed").stat().st_mode) == 0o555


def test_only_who_says_so_copies_into_a_folder_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "source/inner").mkdir(parents=True)
    (tmp_path / "source/inner/new").write_text("new")
    (tmp_path / "target/inner").mkdir(parents=True)
    (tmp_path / "target/inner/old").write_text("old")

    with pytest.raises(FileExistsError):
        copy_folder(tmp_path / "source", tmp_path / "target")
    copy_folder(tmp_path / "source", tmp_path / "target", may_exist=True)

    assert sorted(path.name for path in (tmp_path / "target/inner").iterdir()) == ["new", "old"]


def test_what_is_taken_out_of_the_folders_is_not_walked(tmp_path: Path) -> None:
    for name in ("kept", "passed"):
        (tmp_path / name / "inner").mkdir(parents=True)

    seen = []
    for here, folders, _ in walk(tmp_path):
        seen.append(Path(here).name)
        folders[:] = [name for name in folders if name != "passed"]

    assert seen == [tmp_path.name, "kept", "inner"]


def test_a_folder_that_is_not_there_has_nothing_in_it(tmp_path: Path) -> None:
    assert list(walk(tmp_path / "gone")) == []


def test_many_nested_folders_are_copied_and_walked() -> None:
    # Not in a folder of pytest, which could not remove them.
    with temporary_folder("cogworks-test-") as folder:
        deep = folder / "deep"
        deep.mkdir()
        nest(deep, DEPTH, name="d")

        copy_folder(deep, folder / "c")

        assert sum(1 for _ in walk(folder / "c")) == DEPTH + 1
