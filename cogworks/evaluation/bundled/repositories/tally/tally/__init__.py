"""Sums and averages over amounts as people write them."""

from tally.amounts import parse
from tally.averages import mean, median
from tally.sheets import total

__all__ = ["mean", "median", "parse", "total"]
