"""The service of commands: every language that is known by its commands, its report format and its grammar."""
