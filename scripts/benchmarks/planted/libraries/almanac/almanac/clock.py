"""Times of a day, in minutes since midnight."""

import re


def minutes_of(text):
    """Minutes of a duration: '45 min', '2 h', '1 h 30 min'."""
    found = re.fullmatch(r"\s*(?:(\d+)\s*h)?\s*(?:(\d+)\s*min)?\s*", text)
    if not found or not any(found.groups()):
        raise ValueError(f"{text!r} is no duration")
    hours, minutes = found.groups(default="0")
    return int(hours) * 60 + int(minutes)


def time_of(text):
    """Minutes since midnight of a time like '9:30'."""
    hours, _, minutes = text.partition(":")
    found = int(hours) * 60 + int(minutes or 0)
    if not 0 <= found < 24 * 60:
        raise ValueError(f"{text!r} is no time")
    return found


def clock_text(minutes):
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
