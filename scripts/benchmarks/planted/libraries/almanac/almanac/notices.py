"""When to be reminded of what."""

from datetime import datetime, time, timedelta

from almanac.clock import clock_text, minutes_of

LEADS = {"travel": "2 h", "work": "15 min"}


def lead_of(event):
    """Minutes before it starts; the longest that one of its tags asks for."""
    return max((minutes_of(LEADS[tag]) for tag in event.tags if tag in LEADS), default=0)


def starts_at(event, day):
    return datetime.combine(day, time()) + timedelta(minutes=event.start)


def due(event, day):
    """The moment of the reminder."""
    return starts_at(event, day) - timedelta(minutes=lead_of(event))


def notices(calendar, day):
    """'08:15 Planning' for each event of a day, by the time of the reminder."""
    found = sorted((due(event, day), event.title) for event in calendar.on(day))
    return [f"{clock_text(moment.hour * 60 + moment.minute)} {title}" for moment, title in found]
