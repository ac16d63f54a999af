"""A day of appointments, in order."""

from slots.interval import Interval


def book(taken, wanted):
    """The appointments with one more, in order."""
    for each in taken:
        if each.overlaps(wanted):
            raise ValueError(f"{wanted!r} overlaps {each!r}")
    return sorted([*taken, wanted], key=lambda each: each.start)


def free(taken, day):
    """What is left of a day between appointments."""
    found = []
    begin = day.start
    for each in taken:
        if each.start > begin:
            found.append(Interval(begin, each.start))
        begin = each.end
    if begin < day.end:
        found.append(Interval(begin, day.end))
    return found
