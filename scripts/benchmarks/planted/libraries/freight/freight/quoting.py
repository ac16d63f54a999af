"""The price of one parcel."""

from dataclasses import dataclass

from freight.money import rounded
from freight.options import options_of
from freight.sizes import billable_weight
from freight.surcharges import surcharges
from freight.tariffs import base_price
from freight.zones import zone_of


@dataclass(frozen=True)
class Quote:
    """Cents."""

    base: int
    extras: dict
    total: int


def quote(parcel, given=None):
    options = options_of(given)
    base = base_price(billable_weight(parcel), zone_of(parcel.postcode))
    extras = surcharges(parcel, base, options)
    return Quote(base, extras, rounded(base + sum(extras.values())))


def cheapest(parcels, given=None):
    """The parcel that costs least, the first of equals."""
    return min(parcels, key=lambda parcel: quote(parcel, given).total)
