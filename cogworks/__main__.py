"""`python -m cogworks` is `cogworks`."""

from cogworks.cli import main

main()
