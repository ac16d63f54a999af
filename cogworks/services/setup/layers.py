"""What a setup leaves for the runs of tests: a layer."""

HOME, FILES = "home", "files"
"""Folders of a layer: what lies in the home of every run, and what is laid into every copy of the repository."""
