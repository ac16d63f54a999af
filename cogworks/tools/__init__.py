"""Governed tools: what may be called, in which order, under whose policy, and what is on record about it."""
