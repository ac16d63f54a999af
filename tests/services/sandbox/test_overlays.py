"""Files that a command is shown and changes for itself alone."""

from pathlib import Path

import pytest

from cogworks.services.sandbox.inside.order import Limits, Overlay
from cogworks.services.sandbox.running import Confined, Ended, run
from tests.services.asking import laid_out
from tests.services.sandbox.attacks import HERE

pytestmark = pytest.mark.skipif(not HERE.lays_over, reason="nothing can be laid over here")


class Room:
    """Directories of a command that is shown a folder as `own/deep/packages`."""

    def __init__(self, folder: Path) -> None:
        self.lower = laid_out(folder / "lower", {"a": "as it was", "sub/b": "as it was"})
        self.own, self.kept = folder / "own", folder / "kept"
        self.target = self.own / "deep/packages"
        for place in (self.target, self.kept / "upper", self.kept / "work"):
            place.mkdir(parents=True)
        self._scratch = folder / "scratch"

    def run(self, line: str, limits: Limits | None = None) -> Ended:
        scratch = self._scratch / str(len([*self._scratch.iterdir()]) if self._scratch.exists() else 0)
        scratch.mkdir(parents=True)
        confined = Confined(
            command=["/bin/sh", "-c", line],
            directory=self.own,
            environment={"PATH": "/usr/bin:/bin"},
            readable=(),
            writable=(self.own,),
            timeout_s=20,
            limits=limits or Limits(),
            overlays=(Overlay((str(self.lower),), str(self.target), str(self.kept)),),
        )
        return run(confined, HERE, scratch=scratch)


def test_what_a_command_changes_is_kept_apart_and_seen_by_the_next_one(tmp_path: Path) -> None:
    room = Room(tmp_path)
    room.run("cd deep/packages && echo changed > a && rm -r sub && echo new > c")
    second = room.run("cd deep/packages && ls && cat a c")

    assert second.output.split() == ["a", "c", "changed", "new"]
    assert (room.lower / "a").read_text() == (room.lower / "sub/b").read_text() == "as it was"
    assert not (room.lower / "c").exists()
    assert list(room.target.iterdir()) == []


def test_what_is_shown_is_not_there_by_its_own_place(tmp_path: Path) -> None:
    room = Room(tmp_path)
    ended = room.run(f"cat {room.lower}/a; cat {room.kept}/upper/a; ls {room.kept}")

    assert "as it was" not in ended.output
    assert ended.code != 0


def test_a_link_in_place_of_the_folder_above_leads_the_next_command_nowhere(tmp_path: Path) -> None:
    room = Room(tmp_path)
    outside = laid_out(tmp_path / "outside", {"packages/a": "not to be seen"})
    moved = room.run(f"mv deep moved && ln -s {outside} deep && ls moved/packages")
    second = room.run("cat deep/packages/a; ls moved/packages; echo end")

    assert moved.output.split() == ["a", "sub"]
    assert "not to be seen" not in second.output
    assert second.output.endswith("end\n")


def test_what_is_written_over_it_counts_for_the_disk(tmp_path: Path) -> None:
    room = Room(tmp_path)
    limits = Limits(disk_bytes=4 * 1024**2)
    ended = room.run("head -c 40000000 /dev/zero > deep/packages/big; sleep 15", limits)

    assert [reason for reason in ended.blocked if "MiB to the disk" in reason]
