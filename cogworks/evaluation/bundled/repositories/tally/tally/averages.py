"""One number for many."""


def mean(values):
    """The arithmetic mean."""
    if not values:
        raise ValueError("there is no mean of nothing")
    return sum(values) / len(values)


def median(values):
    """The value in the middle, or the mean of the two in the middle."""
    if not values:
        raise ValueError("there is no median of nothing")
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle]
