"""Who answers a question."""
