"""What a sender may choose."""

DEFAULTS = {"fuel": 8, "insurance": 1, "signature": False}


def checked(given):
    """The options as given; what nobody knows is refused."""
    unknown = sorted(set(given) - set(DEFAULTS))
    if unknown:
        raise ValueError(f"unknown options: {', '.join(unknown)}")
    return given


def options_of(given=None):
    """The defaults, with what is given instead."""
    return {**DEFAULTS, **checked(given or {})}
