"""What a weight costs, by zone."""

import bisect

LIMITS = (500, 1000, 2000, 5000, 10000, 31500)
PRICES = {
    "near": (390, 520, 650, 890, 1240, 1790),
    "far": (490, 640, 820, 1130, 1620, 2390),
}


class TooHeavy(ValueError):
    """No tariff takes that weight."""


def band_of(weight):
    """The place of the first limit that takes a weight; a limit takes its own weight."""
    return bisect.bisect_left(LIMITS, weight)


def price_of_band(band, zone):
    if band >= len(LIMITS):
        raise TooHeavy(f"more than {LIMITS[-1]} g")
    return PRICES[zone][band]


def base_price(weight, zone):
    """Cents for a weight in grams."""
    return price_of_band(band_of(weight), zone)
