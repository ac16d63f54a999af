"""Read, write and reckon with durations."""

from hourglass.arithmetic import clamp, mean, round_to, split, total
from hourglass.errors import DurationError, ParseError
from hourglass.formatting import format_clock, format_short, humanize
from hourglass.parsing import parse

__all__ = [
    "DurationError",
    "ParseError",
    "clamp",
    "format_clock",
    "format_short",
    "humanize",
    "mean",
    "parse",
    "round_to",
    "split",
    "total",
]
