"""Many repairs of known faults, and their results: instances, verdicts, a report."""
