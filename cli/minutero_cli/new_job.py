"""`minutero jobs new`: a job and its test, to begin with."""

import keyword
import os
import re
from pathlib import Path

from minutero.domain.new_task import check_name
from minutero.errors import InvalidInput
from minutero_cli.errors import CommandError
from minutero_cli.job_folder import job_folder

JOB = '''\
"""What {name} does, in one sentence."""

from typing import Any

from minutero import Run, job


@job("{name}")
def {function}(payload: Any, run: Run) -> Any:
    """What it returns is kept as the task's result, as JSON."""
    return {{"greeting": f"hello {{payload}}", "for": run.scheduled_for.isoformat()}}
'''

TEST = """\
import sys
from datetime import UTC, datetime
from pathlib import Path

# Where the worker finds it, too.
sys.path.insert(0, str((Path(__file__).parent / "{way}").resolve()))

from {package}.{function} import {function}
from minutero.testing import job_run

FRIDAY = datetime(2026, 12, 4, 18, tzinfo=UTC)


def test_it_greets_whom_it_is_given():
    result = {function}("you", job_run("{name}", scheduled_for=FRIDAY))
    assert result == {{"greeting": "hello you", "for": "2026-12-04T18:00:00+00:00"}}
"""

NEXT = """\
wrote {job}
wrote {test}
Next:
  python -m pytest {test}
  minutero jobs run {name} --payload '"you"'
  minutero local up, then: minutero tasks add {name} --payload '"you"'"""


def write_job(name: str, folder: Path | None) -> str:
    """Write both files and return what to do next. Raises CommandError, and then there is neither."""
    function = _function(name)
    jobs = job_folder(folder)
    job = jobs / f"{function}.py"
    tests = _tests_of(jobs)
    test = tests / f"test_{function}.py"
    for path in (job, test):
        if path.exists():
            raise CommandError(f"{_shown(path)} is there already; choose another name")
    way = Path(os.path.relpath(jobs.parent, tests)).as_posix()
    tests.mkdir(parents=True, exist_ok=True)
    job.write_text(JOB.format(name=name, function=function), "utf-8")
    test.write_text(TEST.format(name=name, function=function, package=jobs.name, way=way), "utf-8")
    return NEXT.format(job=_shown(job), test=_shown(test), name=name)


def _function(name: str) -> str:
    """The name of its file and function: what Python does not take in one becomes `_`."""
    try:
        check_name(name, "job")
    except InvalidInput as error:
        raise CommandError(error.message.replace("job", "the name", 1)) from None
    function = re.sub(r"[.-]", "_", name)
    if not function[:1].isalpha() or keyword.iskeyword(function):
        raise CommandError(
            f"{name!r} is no name for a file of Python; begin it with a letter, such as send_reminder"
        )
    return function


def _tests_of(jobs: Path) -> Path:
    """`tests/jobs` beside the functions of a checkout, `tests` beside any other folder of jobs."""
    if jobs.parts[-3:] == ("functions", "worker", "jobs"):
        return jobs.parents[2] / "tests" / "jobs"
    return jobs.parent / "tests"


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
