import os
import signal
import tempfile
from pathlib import Path

import pytest

from cogworks.codebase.places import scratch_folder
from tests.limits import reaped


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_there_until_the_block_ends(place: Path) -> None:
    with scratch_folder("work-") as folder:
        assert folder.parent == place
        (folder / "file").write_text("x")

    assert list(place.iterdir()) == []


def test_what_a_killed_process_left_goes_and_what_is_in_use_or_somebody_elses_stays(place: Path) -> None:
    other = place / "work-of-somebody"
    other.mkdir()
    child = os.fork()
    if child == 0:
        with scratch_folder("work-"):
            os.kill(os.getpid(), signal.SIGKILL)
    reaped(child)
    assert len(list(place.iterdir())) == 2

    with scratch_folder("work-") as first, scratch_folder("work-") as second:
        assert sorted(place.iterdir()) == sorted([other, first, second])
