"""Questions to a model and answers that fit a schema, every one paid for and counted."""
