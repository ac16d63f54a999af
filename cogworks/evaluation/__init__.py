"""Many repairs of known faults, and what came of them: instances, verdicts, a report."""
