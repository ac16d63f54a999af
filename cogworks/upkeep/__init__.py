"""Looking after what runs leave behind: checking and repairing one item, putting finished ledgers away."""
