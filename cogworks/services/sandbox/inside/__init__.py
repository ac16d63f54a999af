"""The launcher: runs before the walled-in command in processes of its own; standard library only."""
