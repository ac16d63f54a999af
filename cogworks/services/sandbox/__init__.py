"""Isolation and limits around code that is not ours; for any bundled service."""
