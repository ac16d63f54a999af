"""How much room a parcel takes."""

LONGEST = 120
GIRTH = 300
GRAMS_PER_LITRE = 200


def girth(parcel):
    """The longest side, and once around the others."""
    longest, middle, shortest = parcel.sides()
    return longest + 2 * (middle + shortest)


def is_bulky(parcel):
    """Whether a parcel needs a place of its own in the van."""
    return parcel.sides()[0] > LONGEST or girth(parcel) > GIRTH


def volumetric_weight(parcel):
    """The weight that a parcel of that size is expected to have."""
    return parcel.volume() * GRAMS_PER_LITRE // 1000


def billable_weight(parcel):
    return max(parcel.weight, volumetric_weight(parcel))
