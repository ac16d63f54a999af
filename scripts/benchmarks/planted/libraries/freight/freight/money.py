"""Cents."""


def rounded(cents, step=5):
    """Up to the next full step."""
    return -(-cents // step) * step


def percent(cents, rate):
    """A share of an amount, in hundredths."""
    return cents * rate // 100


def text_of(cents):
    return f"{cents // 100}.{cents % 100:02d}"
