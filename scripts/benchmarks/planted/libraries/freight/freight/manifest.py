"""What is sent together."""

from freight.quoting import quote
from freight.zones import zone_of


class Manifest:
    """Parcels in the order in which they were added."""

    def __init__(self, parcels=()):
        self.parcels = list(parcels)

    def add(self, parcel):
        if any(each.reference == parcel.reference for each in self.parcels):
            raise ValueError(f"{parcel.reference!r} is there already")
        self.parcels.append(parcel)

    def by_zone(self):
        """Parcels by zone."""
        found = {}
        for parcel in self.parcels:
            found.setdefault(zone_of(parcel.postcode), []).append(parcel)
        return found

    def weight(self):
        return sum(parcel.weight for parcel in self.parcels)

    def total(self, given=None):
        """Cents for all of them."""
        return sum(quote(parcel, given).total for parcel in self.parcels)
