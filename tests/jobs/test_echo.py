import sys
from pathlib import Path

# Where the worker finds it, too.
sys.path.insert(0, str((Path(__file__).parent / "../../functions/worker").resolve()))

from jobs.echo import echo
from minutero.testing import job_run


def test_it_returns_what_it_was_given():
    assert echo({"a": 1}, job_run("echo")) == {"a": 1}
