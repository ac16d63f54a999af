"""cogworks turns a GitHub issue into reviewed pull requests."""

__version__ = "0.1.0"
