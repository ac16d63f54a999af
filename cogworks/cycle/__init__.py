"""The decision cycle: one decision at a time, from proposals to an event log that can be replayed."""
