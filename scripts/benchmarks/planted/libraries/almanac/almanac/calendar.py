"""A calendar of events, asked day by day."""

from almanac.recurrence import days_of


class Calendar:
    """Events; what was found out about a day is kept until something changes."""

    def __init__(self, events=()):
        self._events = list(events)
        self._known = {}

    def add(self, event):
        self._events.append(event)
        self._known.clear()

    def remove(self, title):
        """Take away every event of that title."""
        self._events = [each for each in self._events if each.title != title]
        self._known.clear()

    def on(self, day):
        """The events of a day by their start."""
        if day not in self._known:
            found = [each for each in self._events if day in days_of(each, day)]
            self._known[day] = sorted(found, key=lambda each: each.start)
        return self._known[day]

    def busy(self, day):
        """Minutes that are taken; what overlaps counts once."""
        taken = 0
        end = 0
        for each in self.on(day):
            taken += max(0, each.end - max(end, each.start))
            end = max(end, each.end)
        return taken

    def tagged(self, day, name):
        return [each.title for each in self.on(day) if name in each.tags]
