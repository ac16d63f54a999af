"""Parcels from a text of lines."""

from freight.parcels import Parcel
from freight.units import UnitProblem, centimetres, grams

COLUMNS = ("reference", "weight", "length", "width", "height", "postcode")


class LoadProblem(ValueError):
    """A line that is no parcel."""


def cells_of(line):
    return [cell.strip() for cell in line.split(";")]


def record_of(line):
    """The cells of a line by their column."""
    cells = cells_of(line)
    if len(cells) != len(COLUMNS):
        raise LoadProblem(f"{len(cells)} cells, wanted {len(COLUMNS)}")
    return dict(zip(COLUMNS, cells))


def weight_of(cell):
    try:
        return grams(cell)
    except UnitProblem as problem:
        raise LoadProblem(f"weight: {problem}") from problem


def size_of(cell):
    try:
        return centimetres(cell)
    except UnitProblem as problem:
        raise LoadProblem(f"size: {problem}") from problem


def parcel_of(record):
    return Parcel(
        reference=record["reference"],
        weight=weight_of(record["weight"]),
        length=size_of(record["length"]),
        width=size_of(record["width"]),
        height=size_of(record["height"]),
        postcode=record["postcode"],
    )


def read(text):
    """A parcel for each line; blank lines and comments do not count."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            found.append(parcel_of(record_of(line)))
        except LoadProblem as problem:
            raise LoadProblem(f"line {number}: {problem}") from problem
    return found
