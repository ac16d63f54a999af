"""`cogworks replay` and `log --events` on logs in a directory: what they print, and how they end."""

import json
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cogworks.cli.main import cli
from cogworks.cli.replay import Sealed, replay, sealed
from cogworks.cycle.eventlog import line_of, segments
from cogworks.cycle.events import Committed, Event, Proposed
from cogworks.errors import UsageError
from tests.cycle.scripted import REPAIR, rechained, recorded
from tests.limits import ENDS_WITHIN_S

FOLDER = "visits/0005-code_generation@2"
LOG = recorded(REPAIR, task={})


@pytest.fixture
def kept(tmp_path: Path) -> Callable[..., Path]:
    def keep(events: tuple[Event, ...] = LOG, folder: str = FOLDER) -> Path:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for number, text in enumerate(segments(events), 1):
            (tmp_path / folder / f"events-{number}.ndjson").write_text(text)
        return tmp_path

    return keep


def ran(*arguments: object) -> Result:
    return CliRunner().invoke(replay, [str(each) for each in arguments], standalone_mode=False)


def told(result: Result) -> Any:
    return json.loads(result.stdout)


def with_score(score: int) -> tuple[Event, ...]:
    at = next(n for n, event in enumerate(LOG) if isinstance(event.body, Proposed) and event.cycle == 2)
    body = LOG[at].body.model_copy(update={"score": score})
    return rechained([*LOG[:at], LOG[at].model_copy(update={"body": body}), *LOG[at + 1 :]])


@pytest.mark.parametrize("mode", ["verify", "decide-only"])
def test_a_log_is_found_and_decided_again(kept: Callable[..., Path], mode: str) -> None:
    directory = kept()

    result = ran(directory, "--mode", mode, "--json")

    assert result.return_value == 0
    (visit,) = told(result)["visits"]
    assert (visit["visit"], visit["folder"], visit["outcome"]) == (5, FOLDER, "identical")
    assert (visit["cycles"], visit["events"], visit["divergence"]) == (6, len(LOG), None)


def test_the_folder_of_a_visit_is_a_directory_too(kept: Callable[..., Path]) -> None:
    result = ran(kept() / FOLDER)

    assert result.return_value == 0
    assert result.stdout == f"0005-code_generation@2/identical (6 cycles, {len(LOG)} events)\n".replace(
        "/", ": "
    )


def test_an_edited_score_ends_with_1_and_names_number_and_field(kept: Callable[..., Path]) -> None:
    result = ran(kept(with_score(1)))

    assert result.return_value == 1
    assert "(cycle 2, PROPOSAL): payload.score is 1 in the log, 605000 when recomputed" in result.stdout


def test_a_damaged_log_ends_with_1_and_names_the_line(kept: Callable[..., Path]) -> None:
    directory = kept()
    path = directory / FOLDER / "events-1.ndjson"
    path.write_text(path.read_text().replace('"saliency":0.9', '"saliency":0.8', 1))

    result = ran(directory, "--json")

    assert result.return_value == 1
    (visit,) = told(result)["visits"]
    assert (visit["outcome"], visit["line"]) == ("damaged", 3)


def test_a_log_with_two_decisions_in_a_cycle_ends_with_1(kept: Callable[..., Path]) -> None:
    at = next(n for n, event in enumerate(LOG) if isinstance(event.body, Committed))
    directory = kept(rechained([*LOG[: at + 1], *LOG[at:]]))

    result = ran(directory, "--mode", "decide-only")

    assert result.return_value == 1
    assert "not_serial" in result.stdout
    assert "commit 2 in one cycle" in result.stdout


def test_one_visit_of_several_is_chosen(kept: Callable[..., Path]) -> None:
    kept()
    directory = kept(folder="visits/0008-code_generation@3")

    both, one = ran(directory, "--json"), ran(directory, "--visit", 8, "--json")

    assert [visit["visit"] for visit in told(both)["visits"]] == [5, 8]
    assert [visit["visit"] for visit in told(one)["visits"]] == [8]
    with pytest.raises(UsageError, match="there is no event log of visit 9; visits with one: 5, 8"):
        raise ran(directory, "--visit", 9).exception or AssertionError


def test_a_replay_up_to_a_cycle_shows_what_was_known(kept: Callable[..., Path]) -> None:
    result = ran(kept(), "--until", 4, "--json")

    (visit,) = told(result)["visits"]
    assert (visit["outcome"], visit["is_complete"]) == ("identical", False)
    assert (visit["context"]["cycle"], visit["context"]["commits"]) == (4, 1)


def test_what_if_shows_the_other_decision(kept: Callable[..., Path]) -> None:
    result = ran(kept(), "--what-if", '4:{"outcome": "rolled_back"}')

    assert result.return_value == 0
    assert "  5 GENERATE_PATCH (recorded: RUN_TESTS)" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--what-if", "four"), "Write N:JSON"),
        (("--what-if", "4:[]"), "Write N:JSON"),
        (("--what-if", "4:{}", "--until", "3"), "cannot be combined with"),
        (("--what-if", "99:{}"), "cycle 99 has no result"),
    ],
)
def test_what_cannot_be_asked_is_said(
    kept: Callable[..., Path], arguments: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        raise ran(kept(), *arguments).exception or AssertionError


def test_a_directory_without_a_log_is_named(tmp_path: Path) -> None:
    for where in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError, match=str(where)):
            raise ran(where).exception or AssertionError


def test_a_replay_can_leave_the_process_in_no_way() -> None:
    with sealed():
        with pytest.raises(Sealed, match="subprocess"):
            subprocess.run(["true"], check=True, timeout=ENDS_WITHIN_S)
        with pytest.raises(Sealed, match="socket"):
            socket.socket()
    subprocess.run(["true"], check=True, timeout=ENDS_WITHIN_S)


def test_the_help_has_examples() -> None:
    help_text = CliRunner().invoke(cli, ["replay", "--help"]).output

    assert "cogworks replay https://github.com/octo-org/hello/issues/42" in help_text


def test_a_byte_that_is_no_text_is_damage_and_no_crash(kept: Callable[..., Path]) -> None:
    directory = kept()
    path = directory / FOLDER / "events-1.ndjson"
    path.write_bytes(path.read_bytes().replace(b"planner", b"pl\xffnner", 1))

    assert ran(directory).return_value == 1


def test_lines_are_as_the_program_writes_them() -> None:
    assert "".join(segments(LOG)) == "".join(line_of(event) + "\n" for event in LOG)
