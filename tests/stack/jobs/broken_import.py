"""A job module that cannot be imported: the worker leaves it out and serves the others."""

import no_such_module  # noqa: F401
