"""Text within margins."""

from margins.layout import boxed, widest
from margins.shorten import shorten

__all__ = ["boxed", "shorten", "widest"]
