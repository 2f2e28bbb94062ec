"""`given` as unit tests want it: the same examples each time, and not many of them."""

import hypothesis

QUICK = hypothesis.settings(deadline=None, derandomize=True, database=None, max_examples=60)


def given(*strategies):
    """`hypothesis.given` under these settings, whatever profile another folder has loaded."""
    return lambda test: QUICK(hypothesis.given(*strategies)(test))
