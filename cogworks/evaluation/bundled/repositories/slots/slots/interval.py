"""Half-open intervals of minutes."""


class Interval:
    """From `start`, included, to `end`, not included."""

    def __init__(self, start, end):
        if end <= start:
            raise ValueError(f"{start} to {end} ends before it begins")
        self.start = start
        self.end = end

    def __eq__(self, other):
        return (self.start, self.end) == (other.start, other.end)

    def __repr__(self):
        return f"Interval({self.start}, {self.end})"

    def overlaps(self, other):
        """Whether some minute lies in both."""
        return self.start <= other.end and other.start <= self.end

    def length(self):
        """Minutes."""
        return self.end - self.start
