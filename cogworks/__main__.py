"""`python -m cogworks` is `cogworks`."""

from cogworks.cli.main import main

main()
