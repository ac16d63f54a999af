"""Context packs: what people know about a kind of change, told to the model and asked of its result."""
