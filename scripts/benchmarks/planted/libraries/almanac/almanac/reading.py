"""Events from lines of text."""

from datetime import date

from almanac.clock import minutes_of, time_of
from almanac.events import Event


def tags_of(text):
    """The words that begin with a number sign."""
    return [word[1:] for word in text.split() if word.startswith("#")]


def title_of(text):
    return " ".join(word for word in text.split() if not word.startswith("#"))


def read_event(line):
    """'2024-03-05 | 9:30 | 1 h 30 min | Planning #work | weekly'; what repeats it may be left out."""
    cells = [cell.strip() for cell in line.split("|")]
    day, start, length, title, *rest = cells
    return Event(
        title_of(title),
        date.fromisoformat(day),
        time_of(start),
        minutes_of(length),
        tags=tags_of(title),
        repeats=rest[0] if rest else "",
    )
