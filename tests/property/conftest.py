"""Properties of the whole: rule-based state machines over the in-memory deployment."""

import sys
from pathlib import Path

# The folders of tests are no packages; the deployment in memory is the unit tests'.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "unit")]
