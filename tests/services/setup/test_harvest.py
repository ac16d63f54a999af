"""What is taken out of a room: regular files and inner links, nothing of the repository's own, nothing that leads out."""

import os
from pathlib import Path

from cogworks.services.setup.harvest import harvested, notes_of, seen_in
from tests.services.asking import laid_out


def test_new_files_and_inner_links_are_moved_and_others_named(tmp_path: Path) -> None:
    copy = laid_out(tmp_path / "copy", {"a.py": "a", "kept/b.py": "b", "gone.py": "x"})
    before = seen_in(copy)
    laid_out(copy, {"node_modules/m/cli.js": "m", "kept/new.so": "so", "a.py": "changed"})
    (copy / "gone.py").unlink()
    (copy / "node_modules/.bin").mkdir()
    (copy / "node_modules/.bin/m").symlink_to("../m/cli.js")
    (copy / "absolute").symlink_to(copy / "kept/new.so")
    (copy / "out").symlink_to("/etc/passwd")
    (copy / "up").symlink_to("../secret")
    (copy / "around").symlink_to("node_modules/../../secret")
    os.mkfifo(copy / "pipe")
    (copy / ".git").mkdir()
    (copy / "kept/new.so").chmod(0o4755)

    found = harvested(copy, tmp_path / "layer", before)

    assert found.changed == ("a.py", "gone.py")
    assert found.left_out == ("around", "out", "pipe", "up")
    layer = tmp_path / "layer"
    files = sorted(
        each.relative_to(layer).as_posix() for each in layer.rglob("*") if each.is_symlink() or each.is_file()
    )
    assert files == ["absolute", "kept/new.so", "node_modules/.bin/m", "node_modules/m/cli.js"]
    assert str((layer / "absolute").readlink()) == "kept/new.so"
    assert (layer / "kept/new.so").stat().st_mode & 0o7777 == 0o755
    first, second = notes_of(found)
    assert "changed `a.py`, `gone.py` of the repository" in first
    assert "`around`, `out`, `pipe` and 1 more" in second


def test_nothing_new_leaves_an_empty_layer_and_no_note(tmp_path: Path) -> None:
    copy = laid_out(tmp_path / "copy", {"a.py": "a"})

    found = harvested(copy, tmp_path / "layer", seen_in(copy))

    assert notes_of(found) == ()
    assert list((tmp_path / "layer").iterdir()) == []


def test_a_folder_that_its_maker_shut_is_looked_into(tmp_path: Path) -> None:
    home = laid_out(tmp_path / "home", {"shut/file": "x"})
    (home / "shut").chmod(0o500)

    harvested(home, tmp_path / "layer", {})

    assert (tmp_path / "layer/shut/file").read_text() == "x"
