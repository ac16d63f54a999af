"""Weights and lengths as people write them."""

GRAMS = {"g": 1, "kg": 1000}
CENTIMETRES = {"cm": 1, "m": 100}


class UnitProblem(ValueError):
    """A quantity that cannot be read."""


def split_quantity(text):
    """The number and the unit of a text like '2.5 kg'."""
    cleaned = text.strip().replace(",", ".")
    number = cleaned.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = cleaned[len(number):].strip()
    try:
        return float(number), unit
    except ValueError:
        raise UnitProblem(f"{text!r} is no quantity") from None


def measured(text, units):
    """A quantity in the smallest of these units."""
    number, unit = split_quantity(text)
    if unit not in units:
        raise UnitProblem(f"{unit!r} is none of {sorted(units)}")
    return round(number * units[unit])


def grams(text):
    return measured(text, GRAMS)


def centimetres(text):
    return measured(text, CENTIMETRES)
