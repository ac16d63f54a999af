"""Files that a command is shown and changes for itself alone."""

import os
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
        self.more: list[Path] = []
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
            overlays=(Overlay((str(self.lower), *map(str, self.more)), str(self.target), str(self.kept)),),
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


@pytest.mark.parametrize("name", ["caf\u00e9", os.fsdecode(b"caf\xe9")], ids=["utf-8", "latin-1"])
def test_places_of_any_name_are_shown(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()

    assert Room(folder).run("cat deep/packages/a").output == "as it was"


def too_long(folder: Path) -> Room:
    """A room with more folders to show than the kernel takes places of."""
    room = Room(folder)
    room.more = [
        laid_out(folder / f"{number}{'x' * 200}", {"a": "no", f"n{number}": ""}) for number in range(25)
    ]
    (room.kept / "upper/own").write_text("own")
    (room.lower / "link").symlink_to(folder)
    return room


def test_what_cannot_be_laid_over_is_copied_and_kept_for_the_next_command(tmp_path: Path) -> None:
    room = too_long(tmp_path)
    first = room.run(
        "cd deep/packages && cat a own && ls -d n* | wc -l && readlink link && echo changed > a && rm n7"
    )
    second = room.run("cd deep/packages && cat a && ls -d n* | wc -l")

    assert first.output.split() == ["as", "it", "wasown25", str(tmp_path)]
    assert second.output.split() == ["changed", "24"]
    assert (room.lower / "a").read_text() == "as it was"


def test_a_copy_counts_for_nothing_and_follows_no_link_that_a_command_left(tmp_path: Path) -> None:
    room = too_long(tmp_path)
    outside = laid_out(tmp_path / "outside", {"kept": ""})
    (outside / "packages").mkdir()
    moved = room.run(f"mv deep moved && ln -s {outside} deep; echo end", Limits(disk_entries=10))
    room.run("true")

    assert moved.output == "end\n"
    assert moved.blocked == ()
    assert list((outside / "packages").iterdir()) == []
