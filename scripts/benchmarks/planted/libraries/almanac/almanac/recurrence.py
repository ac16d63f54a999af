"""On which days something that repeats takes place."""

from almanac.days import later, months_later


def every(first, until, days):
    """Every so many days, from the first to the last, both included."""
    found = []
    day = first
    while day <= until:
        found.append(day)
        day = later(day, days)
    return found


def monthly(first, until, *, clamps):
    """Once a month."""
    found = []
    count = 0
    while True:
        day = months_later(first, count, clamps=clamps)
        count += 1
        if day is None:
            continue
        if day > until:
            return found
        found.append(day)


def days_of(event, until):
    """All days of an event up to a last one."""
    if event.repeats == "daily":
        return every(event.day, until, 1)
    if event.repeats == "weekly":
        return every(event.day, until, 7)
    if event.repeats == "monthly":
        return monthly(event.day, until, clamps=False)
    if event.repeats == "month's end":
        return monthly(event.day, until, clamps=True)
    return [event.day] if event.day <= until else []
