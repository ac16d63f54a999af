"""What people configure, and how it is read."""
