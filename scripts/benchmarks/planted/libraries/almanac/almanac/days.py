"""Days and months."""

import calendar
from datetime import date, timedelta


def last_day(year, month):
    return calendar.monthrange(year, month)[1]


def later(day, count):
    return day + timedelta(days=count)


def months_later(day, count, *, clamps):
    """The same day of a later month; where that month is too short its last day, or None."""
    months = day.year * 12 + day.month - 1 + count
    year, month = months // 12, months % 12 + 1
    last = last_day(year, month)
    if day.day <= last:
        return date(year, month, day.day)
    if clamps:
        return date(year, month, last)
    return None


def week_of(day):
    """Monday to Sunday around a day."""
    monday = later(day, -day.weekday())
    return [later(monday, count) for count in range(7)]
