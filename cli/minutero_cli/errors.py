"""What a command raises when it cannot do its work."""


class CommandError(Exception):
    """One sentence for the person at the terminal: what went wrong and what to do about it."""
