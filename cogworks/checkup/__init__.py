"""What a look at a checkout found, what follows from it, and what a work item would do there: rules only."""
