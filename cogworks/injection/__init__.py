"""Orders to a model that hide in texts of others: what is one, why, and how it is shown without harm."""
