"""Tables for people: drawn in a terminal, plain aligned columns elsewhere, as wide as there is room."""

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from cogworks.leaving import in_log_of_actions, on_terminal

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH = 200
"""Where nobody says how much room there is: a file, a pipe."""


class Column(NamedTuple):
    """One column; numbers stand at its right edge."""

    name: str
    is_number: bool = False


def console_for_people(*, stderr: bool = False) -> "Console":
    """A console as wide as `COLUMNS` says, else as the terminal is, else `PLAIN_WIDTH`."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if console.is_terminal:
        return console
    width = shutil.get_terminal_size((PLAIN_WIDTH, 50)).columns
    return Console(stderr=stderr, highlight=False, width=width)


def show_line(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a line of a page; the words of others in it do nothing to the terminal, or to the runner of a workflow."""
    click.echo(in_log_of_actions(text), err=err, nl=nl)


def show_data(text: str) -> None:
    """Print what another program reads, byte for byte; on a terminal it does nothing there either."""
    # Told that it may have colours: else click takes escapes out of what is for a program, and a patch would not apply.
    click.echo(in_log_of_actions(text) if sys.stdout.isatty() else text, nl=False, color=True)


def show_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print rows below their column names on stdout; what does not fit goes on in the next line of its column."""
    from rich.table import Table
    from rich.text import Text

    console = console_for_people()
    table = Table() if console.is_terminal else Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column.name, justify="right" if column.is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(" ".join(on_terminal(str(cell)).split())) for cell in row))
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as drawn:
        console.print(table)
    for line in drawn.get().splitlines():
        click.echo(in_log_of_actions(line.rstrip()))
