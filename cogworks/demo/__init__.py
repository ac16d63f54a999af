"""A sample repository with an issue, recorded model replies, and the person who merges."""
