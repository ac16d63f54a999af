"""GitHub's REST interface over the hub's records."""
