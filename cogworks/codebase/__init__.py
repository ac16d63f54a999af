"""Working copies of the repository and changes to its files."""
