"""A work item on a forge as values: facts, effects, the surface people see. No transport is known here."""
