"""How wide tables are: as `COLUMNS` says, as the terminal is, or as a pipe has room."""

import os
import pty
import re
import sys
import termios
from collections.abc import Mapping

import pytest

from cogworks.cli.tables import PLAIN_WIDTH, Column, show_table
from tests.limits import Started

COLUMNS = [Column("item"), Column("USD", is_number=True), Column("why")]
ROWS = [["#1", "0.5000", "because " * 40], ["#12", "12.0000", "[bold]no markup[/bold]"]]
PROGRAM = f"""
from cogworks.cli.tables import Column, show_table
show_table([Column("item"), Column("why")], [["#1", {"because " * 60!r}]])
"""


def drawn(capsys: pytest.CaptureFixture[str]) -> list[str]:
    show_table(COLUMNS, ROWS)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [40, 72, 150])
def test_a_table_is_as_wide_as_columns_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))

    lines = drawn(capsys)

    assert width - len("because ") <= max(map(len, lines)) <= width
    assert " ".join(" ".join(line.split()) for line in lines).count("because") == 40


@pytest.mark.parametrize("said", ["", "wide", "0"])
def test_a_pipe_has_a_fixed_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str
) -> None:
    monkeypatch.setenv("COLUMNS", said)

    lines = drawn(capsys)

    assert PLAIN_WIDTH - len("because ") <= max(map(len, lines)) <= PLAIN_WIDTH
    assert lines[0] == "item      USD  why"
    assert lines[-1] == "#12   12.0000  [bold]no markup[/bold]"


def in_a_terminal(width: int, environment: Mapping[str, str]) -> list[str]:
    """What the program shows in a terminal of that width."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, width))
    with Started([sys.executable, "-c", PROGRAM], stdout=theirs, env=dict(environment)) as process:
        os.close(theirs)
        told = b""
        try:
            while part := os.read(ours, 65536):
                told += part
        except OSError:
            pass  # what Linux says when the other end is gone
        assert process.wait(timeout=60) == 0
    os.close(ours)
    return re.sub(r"\x1b\[[\d;]*m", "", told.decode()).splitlines()


@pytest.mark.parametrize(("said", "width"), [(None, 91), ("63", 63)], ids=["terminal", "COLUMNS"])
def test_a_table_in_a_terminal_is_as_wide_as_the_terminal_unless_columns_says_otherwise(
    said: str | None, width: int
) -> None:
    kept = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    told = in_a_terminal(91, {**kept, "TERM": "xterm"} | ({"COLUMNS": said} if said else {}))

    assert max(map(len, told)) <= width
    assert max(map(len, told)) > width - len("because ") - 4
