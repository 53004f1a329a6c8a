"""The `jobbko` command."""
