"""Text that has to fit."""

MARK = "..."


def shorten(text, width):
    """The text if it fits; else as much of it as fits together with `...`."""
    if width < len(MARK):
        raise ValueError(f"{width} is not wide enough for {MARK!r}")
    if len(text) <= width:
        return text
    return text[:width] + MARK
