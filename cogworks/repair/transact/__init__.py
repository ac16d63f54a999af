"""One diff as a transaction that proves no regression."""
