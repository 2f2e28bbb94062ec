"""Which deployment: a stack by its name, or the local one that runs."""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

import botocore.session
from botocore.config import Config

from minutero.aws.deployed_stack import find_stack
from minutero.errors import MinuteroError
from minutero_cli.api_client import Api, api_of_stack, find_api
from minutero_cli.doctor.deployment import Deployment
from minutero_cli.errors import CommandError
from minutero_cli.local.stack import LocalStack
from minutero_cli.signing import is_local

CONNECT_SECONDS, READ_SECONDS, TRIES = 2, 5, 2


def find_deployment(stack: str | None, environment: Mapping[str, str]) -> Deployment:
    """Ask CloudFormation about this stack, else about the local one. Raises CommandError."""
    if stack is not None:
        return _deployment(stack, botocore.session.get_session())
    if environment.get("MINUTERO_API_URL"):
        raise CommandError(
            "MINUTERO_API_URL names an API, and doctor looks at the stack behind it; "
            "name it: minutero doctor --stack NAME"
        )
    state = LocalStack().running()
    session = botocore.session.get_session()
    known = state.environment
    session.set_credentials(known["AWS_ACCESS_KEY_ID"], known["AWS_SECRET_ACCESS_KEY"])
    return _deployment(state.stack, session, known["AWS_REGION"], state.endpoint_url, find_api())


def _deployment(
    name: str,
    session: botocore.session.Session,
    region: str | None = None,
    endpoint: str | None = None,
    api: Api | None = None,
) -> Deployment:
    try:
        found = find_stack(name, session, region, endpoint)
        found.environment()  # names an output that is missing
    except MinuteroError as error:
        raise CommandError(f"{error}; for the local stack leave --stack out") from None
    emulated = is_local(found.endpoint)
    return Deployment(
        stack=name,
        outputs=found.outputs,
        parameters=found.parameters,
        client=_clients(session, region, endpoint, emulated=emulated),
        api=api or api_of_stack(found),
        emulated=emulated,
    )


def _clients(
    session: botocore.session.Session, region: str | None, endpoint: str | None, *, emulated: bool
) -> Callable[[str], Any]:
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": TRIES, "mode": "standard"},
        proxies={} if emulated else None,
    )

    opened: dict[str, Any] = {}
    one_at_a_time = Lock()  # a session of botocore may not open two clients at once

    def client(service: str) -> Any:
        with one_at_a_time:
            if service not in opened:
                opened[service] = session.create_client(
                    service, region_name=region, endpoint_url=endpoint, config=config
                )
            return opened[service]

    return client
