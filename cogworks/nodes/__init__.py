"""What each node of the default pipeline does."""
