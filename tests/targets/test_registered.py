"""The targets come with every worker, and cost it nothing until one of them runs."""

import subprocess
import sys
from pathlib import Path

from minutero import targets
from minutero.jobs import JobRegistry

ROOT = Path(__file__).parents[2]

BEGIN = """
import sys
import app
assert {"aws.call", "http.post"} <= app.load_jobs()
print(*sys.modules)
"""


def test_a_worker_that_begins_imports_none_of_their_code():
    done = subprocess.run(
        [sys.executable, "-c", BEGIN],
        cwd=ROOT / "functions" / "worker",
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name for name in done.stdout.split() if name.startswith("minutero.")}
    assert {name for name in loaded if "targets" in name} == {"minutero.targets"}
    assert not loaded & {"minutero.testing", "minutero.service.run_job", "minutero.wiring.of_job"}


def test_they_may_be_registered_again():
    registry = JobRegistry()
    targets.register(registry)
    targets.register(registry)
    assert registry.names() == {"aws.call", "http.post"}
