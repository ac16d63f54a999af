"""What the Python service knows about source text without running any of it."""
