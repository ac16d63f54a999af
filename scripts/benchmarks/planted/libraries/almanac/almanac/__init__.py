"""Appointments, what repeats, and what to be reminded of."""

from almanac.calendar import Calendar
from almanac.events import Event, Template
from almanac.reading import read_event

__all__ = ["Calendar", "Event", "Template", "read_event"]
