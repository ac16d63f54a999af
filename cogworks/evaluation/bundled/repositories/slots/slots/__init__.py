"""Appointments that must not overlap."""

from slots.calendar import book, free
from slots.interval import Interval

__all__ = ["Interval", "book", "free"]
