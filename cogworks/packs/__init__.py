"""Context packs: what people know about a kind of change, shown to the model and asked of its result."""
