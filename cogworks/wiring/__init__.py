"""Construction only: which adapters a command gets."""
