"""`python -m tests.trials --minutes N --seed K`: a mixed load on a local stack of its own.

Prints each minute what it uses; the last line is JSON. Exit code 1 when something was early, lost or doubled,
or grew.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

from minutero_cli.api_client import Api
from minutero_cli.local.build import build
from minutero_cli.local.scratch import folder, running
from tests.trials.soak import Soak

JOBS = Path(__file__).parents[1] / "stack" / "jobs"


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.trials")
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    with folder() as home:
        built = home / "built"
        shutil.copytree(build(), built, symlinks=True)
        shutil.copytree(JOBS, built / "WorkerFunction" / "jobs", dirs_exist_ok=True)
        parameters = {"LookAheadMinutes": "1", "Shards": "2"}
        with running(home, built, parameters, auth=False) as local:
            state = local.running()
            soak = Soak(Api(state.api_url, "the soaked stack", None), state.pid, wanted.seed)
            told = soak.run(wanted.minutes)
    print(json.dumps(told))
    return 1 if told["early"] or told["lost"] or told["doubled"] or told["grew"] else 0


if __name__ == "__main__":
    sys.exit(main())
