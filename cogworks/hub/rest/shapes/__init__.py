"""How REST writes each record; every shape satisfies the official response schema."""
