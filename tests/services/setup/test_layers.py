"""What a setup left is laid into a copy: files beside those of the copy, installed packages shown or copied."""

from pathlib import Path

import pytest

from cogworks.services.setup.layers import lay_home, lay_over, written_in
from tests.services.asking import laid_out

LAYER = {"made": "x", "node_modules/a/index": "1", "src/gen/b": "2"}


def files_of(folder: Path) -> list[str]:
    return sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file())


def test_without_a_place_for_changes_everything_is_copied(tmp_path: Path) -> None:
    layer, copy = laid_out(tmp_path / "layer", LAYER), laid_out(tmp_path / "copy", {"made": "own"})

    assert lay_over([layer], copy) == ()
    assert files_of(copy) == sorted(LAYER)
    assert (copy / "made").read_text() == "own"


def test_installed_packages_are_shown_and_all_else_is_copied(tmp_path: Path) -> None:
    layer, copy = laid_out(tmp_path / "layer", LAYER), laid_out(tmp_path / "copy", {"README": ""})

    [overlay] = lay_over([layer], copy, apart=tmp_path / "apart")

    assert files_of(copy) == ["README", "made", "src/gen/b"]
    assert overlay.lowers == (str(layer / "node_modules"),)
    assert overlay.target == str(copy / "node_modules")
    assert sorted(each.name for each in Path(overlay.kept).iterdir()) == ["upper", "work"]


def test_packages_of_several_layers_are_one_folder_and_the_first_layer_wins(tmp_path: Path) -> None:
    layers = [laid_out(tmp_path / name, LAYER) for name in ("first", "second")]
    copy = laid_out(tmp_path / "copy", {"README": ""})

    [overlay] = lay_over(layers, copy, apart=tmp_path / "apart")

    assert overlay.lowers == tuple(str(layer / "node_modules") for layer in layers)
    assert files_of(copy) == ["README", "made", "src/gen/b"]


@pytest.mark.parametrize("name", ["a,b", "a:b", "a\\b"])
def test_a_place_that_the_kernel_would_read_as_several_is_copied(tmp_path: Path, name: str) -> None:
    layer, copy = laid_out(tmp_path / name, LAYER), laid_out(tmp_path / "copy", {"README": ""})

    assert lay_over([layer], copy, apart=tmp_path / "apart") == ()
    assert files_of(copy) == sorted([*LAYER, "README"])


def test_packages_beside_such_of_the_repository_are_copied(tmp_path: Path) -> None:
    layer = laid_out(tmp_path / "layer", LAYER)
    copy = laid_out(tmp_path / "copy", {"node_modules/own/index": "3"})

    assert lay_over([layer], copy, apart=tmp_path / "apart") == ()
    assert files_of(copy) == sorted([*LAYER, "node_modules/own/index"])


def test_nothing_is_laid_through_a_link_of_the_copy(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    layer, copy = laid_out(tmp_path / "layer", LAYER), laid_out(tmp_path / "copy", {"README": ""})
    (copy / "node_modules").symlink_to(outside)

    assert lay_over([layer], copy, apart=tmp_path / "apart") == ()
    assert files_of(outside) == []


def test_a_file_for_a_home_that_is_shown_belongs_into_what_runs_write(tmp_path: Path) -> None:
    home, target = laid_out(tmp_path / "home", {"a": ""}), tmp_path / "target"
    target.mkdir()

    shown = lay_home(home, target, apart=tmp_path / "apart")

    assert written_in(target, shown) == Path(shown[0].kept) / "upper"
    assert written_in(target, lay_home(home, target)) == target
    assert files_of(target) == ["a"]
