"""Questions about suspects, asked in worktrees that are thrown away."""
