"""Tables for people: drawn in a terminal, plain aligned columns elsewhere."""

import sys
from collections.abc import Sequence
from typing import NamedTuple

import click

GAP = "  "


class Column(NamedTuple):
    """One column; numbers stand at its right edge."""

    name: str
    is_number: bool = False


def show_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print rows below their column names on stdout; cells are shown as they are, on one line each."""
    cells = [[" ".join(str(cell).split()) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _draw(columns, cells)
        return
    widths = [
        max(len(column.name), *(len(row[place]) for row in cells)) if cells else len(column.name)
        for place, column in enumerate(columns)
    ]
    for row in [[column.name for column in columns], *cells]:
        padded = (
            cell.rjust(width) if column.is_number else cell.ljust(width)
            for cell, width, column in zip(row, widths, columns, strict=True)
        )
        click.echo(GAP.join(padded).rstrip())


def _draw(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for column in columns:
        table.add_column(column.name, justify="right" if column.is_number else "left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(highlight=False).print(table)
