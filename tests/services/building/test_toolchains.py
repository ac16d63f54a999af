"""Where the Rust toolchain lies that a build may see."""

import os
import pwd
from pathlib import Path

import pytest

from cogworks.services.python.building.builds import rust_toolchain, wants_rust


def stand_in(folder: Path, says: str, *, code: int = 0) -> str:
    """A path with a `rustc` that prints something."""
    folder.mkdir()
    place = folder / "rustc"
    place.write_text(f"#!/bin/sh\necho '{says}'\nexit {code}\n")
    place.chmod(0o755)
    return str(folder)


def test_the_toolchain_behind_a_stand_in_of_rustup_is_found(tmp_path: Path) -> None:
    toolchain = tmp_path / "toolchains" / "stable"
    (toolchain / "bin").mkdir(parents=True)
    (toolchain / "bin" / "cargo").touch()

    assert rust_toolchain(stand_in(tmp_path / "bin", str(toolchain)), {}) == toolchain


def test_rustup_is_told_the_home_of_the_user_not_that_of_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    monkeypatch.setenv("HOME", str(tmp_path))
    seen = tmp_path / "seen"
    path = stand_in(tmp_path / "bin", "/nowhere")
    (tmp_path / "bin" / "rustc").write_text(f'#!/bin/sh\necho "$HOME" >{seen}\n')

    rust_toolchain(path, {"HOME": str(tmp_path)})

    assert seen.read_text() == f"{home}\n"


@pytest.mark.parametrize(("says", "code"), [("/nowhere", 0), ("", 0), ("/nowhere", 1)])
def test_what_does_not_run_or_has_no_cargo_is_none(says: str, code: int, tmp_path: Path) -> None:
    assert rust_toolchain(stand_in(tmp_path / "bin", says, code=code), {}) is None
    assert rust_toolchain(str(tmp_path), {}) is None


def test_it_is_looked_for_where_there_is_something_for_cargo() -> None:
    assert wants_rust(["README.md", "rust/Cargo.toml"])
    assert not wants_rust(["README.md", "src/shop.py", "NotCargo.toml.txt"])
