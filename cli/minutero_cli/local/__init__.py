"""The local stack: MiniStack in its own process, and the very template deployed to it."""

from minutero_cli.local.stack import LocalStack
from minutero_cli.local.state import State

__all__ = ["LocalStack", "State"]
