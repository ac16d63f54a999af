"""A week on paper."""

from almanac.clock import clock_text
from almanac.days import week_of


def line_of(event):
    return f"  {clock_text(event.start)}-{clock_text(event.end)} {event.title}"


def agenda(calendar, day):
    """The days of a week that have events, with these and the hours that are taken."""
    found = []
    for each in week_of(day):
        events = calendar.on(each)
        if events:
            found.append(f"{each.isoformat()} ({clock_text(calendar.busy(each))})")
            found += [line_of(event) for event in events]
    return "\n".join(found)
