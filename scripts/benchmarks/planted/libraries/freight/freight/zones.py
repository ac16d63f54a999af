"""Where a postcode lies."""

NEAR = ("1", "2", "3")
ISLANDS = ("18565", "25849", "25859", "26465", "27498")


def region_of(postcode):
    """The first digit."""
    if len(postcode) != 5 or not postcode.isdigit():
        raise ValueError(f"{postcode!r} is no postcode")
    return postcode[0]


def zone_of(postcode):
    return "near" if region_of(postcode) in NEAR else "far"


def is_island(postcode):
    return postcode in ISLANDS
