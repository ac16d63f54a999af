"""Where a fault may be."""
