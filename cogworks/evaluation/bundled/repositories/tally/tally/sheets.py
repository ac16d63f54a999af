"""Sheets: one amount on each line, comments behind `#`."""

from tally.amounts import parse


def lines(text):
    """The lines of a sheet that hold an amount."""
    found = []
    for line in text.splitlines():
        amount = line.split("#")[0].strip()
        if line:
            found.append(amount)
    return found


def total(text):
    """The sum of a sheet in cents."""
    return sum(parse(line) for line in lines(text))
