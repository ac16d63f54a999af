"""The published suite for authors of domain services."""
