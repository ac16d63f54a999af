"""What commands that run a repository's code do not see of it."""

import shutil
from pathlib import Path

from cogworks.services.laid_out import left_out


def test_history_and_scenarios_that_are_held_back_are_not_laid_out(tmp_path: Path) -> None:
    for name in (
        "repository/.git/config",
        "repository/.cogworks/config.toml",
        "repository/.cogworks/scenarios/held.toml",
        "repository/part/.cogworks/scenarios/held.toml",
        "repository/scenarios/own.toml",
        "repository/src/__pycache__/a.pyc",
        "repository/src/a.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")

    shutil.copytree(tmp_path / "repository", tmp_path / "copy", ignore=left_out("__pycache__"))

    found = {
        each.relative_to(tmp_path / "copy").as_posix()
        for each in tmp_path.glob("copy/**/*")
        if each.is_file()
    }
    assert found == {".cogworks/config.toml", "scenarios/own.toml", "src/a.py"}
