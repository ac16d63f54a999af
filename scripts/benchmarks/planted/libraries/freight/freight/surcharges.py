"""What comes on top of the tariff."""

from freight.money import percent
from freight.sizes import is_bulky
from freight.zones import is_island

BULKY = 2500
ISLAND = 900
FREE_VALUE = 50000


def fuel(base, options):
    return percent(base, options["fuel"])


def bulk(parcel):
    return BULKY if is_bulky(parcel) else 0


def island(parcel):
    return ISLAND if is_island(parcel.postcode) else 0


def insurance(parcel, options):
    """A share of the value above what is insured anyway."""
    above = max(0, parcel.value - FREE_VALUE)
    return percent(above, options["insurance"])


def surcharges(parcel, base, options):
    """Every surcharge by its name, without those that are nothing."""
    found = {
        "fuel": fuel(base, options),
        "bulk": bulk(parcel),
        "island": island(parcel),
        "insurance": insurance(parcel, options),
    }
    return {name: cents for name, cents in found.items() if cents}
