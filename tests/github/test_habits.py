from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cogworks.github.reading import Habit, HabitFile

NOW = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
SMALL = Habit(size="split", with_dependencies=False)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def file(
    directory: Path, clock: Clock, repository: str = "o/r", server: str = "https://ghe.example"
) -> HabitFile:
    return HabitFile(directory / "reads", server_url=server, repository=repository, now=clock)


def test_a_habit_is_kept_for_the_next_process(tmp_path: Path) -> None:
    file(tmp_path, Clock()).keep(SMALL)

    assert file(tmp_path, Clock()).load() == SMALL


def test_the_size_is_the_repositorys_and_the_missing_fields_are_the_servers(tmp_path: Path) -> None:
    file(tmp_path, Clock()).keep(SMALL)

    assert file(tmp_path, Clock(), "o/other").load() == Habit(with_dependencies=False)
    assert file(tmp_path, Clock(), server="https://github.com").load() == Habit()


def test_habits_are_forgotten_after_a_day(tmp_path: Path) -> None:
    clock = Clock()
    file(tmp_path, clock).keep(SMALL)

    clock.now = NOW + timedelta(hours=23, minutes=59)
    assert file(tmp_path, clock).load() == SMALL
    clock.now = NOW + timedelta(hours=24)
    assert file(tmp_path, clock).load() == Habit()


def test_what_works_again_is_forgotten_at_once(tmp_path: Path) -> None:
    file(tmp_path, Clock()).keep(SMALL)
    file(tmp_path, Clock()).keep(Habit())

    assert file(tmp_path, Clock()).load() == Habit()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"smaller": {"o/r": ["tiny", "now"]}}', b"\xff"])
def test_a_file_of_something_else_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "reads").mkdir()
    (tmp_path / "reads" / "ghe.example.json").write_bytes(content)

    assert file(tmp_path, Clock()).load() == Habit()
    file(tmp_path, Clock()).keep(SMALL)
    assert file(tmp_path, Clock()).load() == SMALL


def test_a_place_that_cannot_be_written_costs_nothing_but_the_memory(tmp_path: Path) -> None:
    (tmp_path / "reads").write_text("a file where the folder should be")

    file(tmp_path, Clock()).keep(SMALL)
    assert file(tmp_path, Clock()).load() == Habit()
