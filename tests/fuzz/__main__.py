"""`python -m tests.fuzz --requests N --seed K`: fuzzes a stack of its own on MiniStack.

What is broken goes to stderr, each kind once with its request. The last line is JSON: {"requests",
"server_errors", "broken", "statuses"}.
"""

import argparse
import json
import sys

from tests.fuzz.deployed import deployed
from tests.fuzz.engine import fuzz


def main() -> int:
    """Exit code 1 when something was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--requests", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    with deployed() as api:
        document = api.get("/openapi.json").body
        jobs = api.get("/jobs").body["jobs"]
        report = fuzz(document, wanted.requests, jobs=jobs, base_url=api.url, seed=wanted.seed)
    for operation, statuses in sorted(report.answers.items()):
        print(f"{operation}: {dict(sorted(statuses.items()))}", file=sys.stderr)
    for told, request in report.broken.items():
        print(f"broken: {told}\n  {request}", file=sys.stderr)
    print(json.dumps(report.numbers()))
    return 1 if report.broken else 0


if __name__ == "__main__":
    sys.exit(main())
