"""What cogworks reads from GitHub and writes to it."""
