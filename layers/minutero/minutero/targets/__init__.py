"""Jobs that come with Minutero, so that a schedule needs no code: `aws.call` and `http.post`.

Their code is imported with their first run: a worker that runs none of them starts as fast as before.
"""

# ruff: noqa: PLC0415 - see above

from typing import Any

from minutero.jobs import JobRegistry, Run, job


def register(into: JobRegistry) -> None:
    """Adds the targets to the jobs of a process."""
    job("aws.call", into=into)(call_aws)
    job("http.post", into=into)(post_http)


def call_aws(payload: Any, run: Run) -> Any:
    """Calls an action of AWS: `{"service": "ecs", "action": "run_task", "parameters": {...}}`."""
    from minutero.targets.aws_call import call

    return call(payload, run)


def post_http(payload: Any, run: Run) -> Any:
    """Posts a signed JSON body: `{"url": "https://...", "body": ..., "headers": {...}}`."""
    from minutero.targets.http_post import post

    return post(payload, run)
