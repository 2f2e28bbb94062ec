"""Many tasks at once, in and out, as JSON Lines: a task a line."""
