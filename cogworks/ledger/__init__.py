"""The run's one truth: how it is written to files, who holds it, and the branch that keeps it."""
