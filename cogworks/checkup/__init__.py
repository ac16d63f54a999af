"""The findings of a look at a checkout, what follows from them, and what a work item would do there: rules only."""
