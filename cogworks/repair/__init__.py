"""The patch loop: where a fault is, what it is, which small change mends it, and the proof that nothing got worse."""
