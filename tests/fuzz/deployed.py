"""A deployed stack to fuzz: the template on MiniStack, with jobs that succeed, fail and give up."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from minutero_cli.api_client import Api
from minutero_cli.local.build import build
from minutero_cli.local.scratch import folder, running

JOBS = Path(__file__).parents[1] / "stack" / "jobs"


@contextmanager
def deployed() -> Iterator[Api]:
    """Its API. Nobody has to sign, so that what is fuzzed is the API and not its door."""
    with folder() as home:
        built = home / "built"
        shutil.copytree(build(), built, symlinks=True)
        shutil.copytree(JOBS, built / "WorkerFunction" / "jobs", dirs_exist_ok=True)
        with running(home, built, {"Shards": "2"}, auth=False) as local:
            yield Api(local.running().api_url, "the fuzzed stack", None)
