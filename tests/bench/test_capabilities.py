"""What `scripts/bench capabilities` counts."""

from pathlib import Path

from scripts.benchmarks.capabilities import changes
from tests.codebase.repositories import git


def commit(folder: Path, text: str, message: str) -> None:
    (folder / "shop.py").write_text(text, "utf-8")
    git(folder, "add", "shop.py")
    git(folder, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", message)


def test_each_commit_is_a_change_and_its_message_what_was_told(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, "X = 1\n", "Begin")
    commit(tmp_path, "import socket\nX = 1\n", "Tidy the constants")
    commit(tmp_path, "import socket\nimport subprocess\nX = 1\n", "Start the other programs")

    told = [[opening.capability for opening in each.openings] for each in changes(tmp_path, 10, None)]
    silent = [[opening.capability for opening in each.openings] for each in changes(tmp_path, 10, "")]

    assert (told, silent) == ([[], ["network"], []], [["processes"], ["network"], []])
