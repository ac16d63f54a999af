import os
import socket
from pathlib import Path

import pytest

from cogworks.codebase.making import lay_over
from cogworks.services.python.preparing import PreparationFailed, prepared
from cogworks.services.sandbox.isolation import NO_ISOLATION
from tests.services.test_isolation import NEEDS_WALLS

PATH = os.environ["PATH"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    top = tmp_path / "repository"
    (top / ".git").mkdir(parents=True)
    (top / ".git" / "config").write_text("[core]\n")
    (top / "source.txt").write_text("one\n")
    (top / "old").mkdir()
    (top / "old" / "file").write_text("old\n")
    return top


@NEEDS_WALLS
def test_what_a_command_made_takes_the_place_of_the_files_and_leaves_history_alone(repository: Path) -> None:
    command = "sed s/one/two/ source.txt > made.txt && rm -r old && mkdir .git && echo evil > .git/config"

    with prepared(repository, command, search_path=PATH) as files:
        lay_over(files, repository)

    assert (repository / "made.txt").read_text() == "two\n"
    assert not (repository / "old").exists()
    assert (repository / ".git" / "config").read_text() == "[core]\n"


@NEEDS_WALLS
def test_a_command_reaches_no_network_no_secret_and_no_file_of_ours(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "decoy-4711")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = (
            f"env > env.txt; (exec 3<>/dev/tcp/127.0.0.1/{port}) 2> net.txt || true; "
            f"echo spoilt > {repository}/source.txt 2> out.txt || true"
        )

        with prepared(repository, f'bash -c "{command}"', search_path=PATH) as files:
            environment, complaint = (files / "env.txt").read_text(), (files / "net.txt").read_text()

    assert "decoy-4711" not in environment
    assert complaint
    assert (repository / "source.txt").read_text() == "one\n"


@NEEDS_WALLS
@pytest.mark.parametrize(
    ("command", "limit_s", "problem"),
    [
        ("echo no compiler >&2; exit 3", 60.0, "ended with 3: echo .*\nno compiler"),
        ("sleep 60", 0.5, "was ended: sleep 60\nit did not finish in 0.5 s"),
    ],
    ids=["fails", "hangs"],
)
def test_a_command_that_does_not_end_well_is_told(
    repository: Path, command: str, limit_s: float, problem: str
) -> None:
    with (
        pytest.raises(PreparationFailed, match=problem),
        prepared(repository, command, search_path=PATH, limit_s=limit_s),
    ):
        pass


def test_without_complete_walls_nothing_is_run(repository: Path) -> None:
    with (
        pytest.raises(PreparationFailed, match=r"was not run: .*complete isolation"),
        prepared(repository, "touch ran", search_path=PATH, isolation=NO_ISOLATION),
    ):
        pass

    assert not (repository / "ran").exists()
