"""What takes place."""

from dataclasses import dataclass, field
from datetime import date


@dataclass
class Event:
    """Start and length in minutes."""

    title: str
    day: date
    start: int
    length: int
    tags: list = field(default_factory=list)
    repeats: str = ""

    @property
    def end(self):
        return self.start + self.length

    def overlaps(self, other):
        return self.day == other.day and self.start < other.end and other.start < self.end

    def tag(self, name):
        if name not in self.tags:
            self.tags.append(name)


@dataclass
class Template:
    """What several events have in common."""

    title: str
    length: int
    tags: list = field(default_factory=list)

    def event(self, day, start):
        """An event of its own."""
        return Event(self.title, day, start, self.length, tags=list(self.tags))
