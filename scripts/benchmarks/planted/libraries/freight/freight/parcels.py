"""What is sent."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Parcel:
    """Weight in grams, sides in centimetres, value in cents."""

    reference: str
    weight: int
    length: int
    width: int
    height: int
    postcode: str
    value: int = 0

    def sides(self):
        """The longest first."""
        return sorted((self.length, self.width, self.height), reverse=True)

    def volume(self):
        return self.length * self.width * self.height
