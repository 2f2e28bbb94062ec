"""`aws.call`: one call of an action of AWS, by the name boto3 has for it."""

import json
import math
import os
import re
import uuid
from functools import cache
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    DataNotFoundError,
    ParamValidationError,
    UnknownServiceError,
)
from botocore.response import StreamingBody

from minutero.errors import PermanentFailure
from minutero.jobs import Run
from minutero.targets.asked import members

ALLOWED = "MINUTERO_AWS_CALL_ACTIONS"
"""The variable with the allowed actions, by the names IAM has for them, with commas between."""

BODY_LIMIT = 16_384
"""Bytes kept of an answer that comes as a stream."""

CONNECT_SECONDS = 3.0
MARGIN_SECONDS = 2.0
"""Kept back of the attempt's time, to write down how it went."""

SERVICES = {"states": "stepfunctions"}
"""What boto3 calls a service that everybody calls otherwise."""

IAM_ACTIONS = {"lambda:Invoke": "lambda:InvokeFunction"}
"""Where the permission is not named as the operation is.

https://docs.aws.amazon.com/service-authorization/latest/reference/list_awslambda.html
"""

AGAIN = re.compile("throttl|toomany|exceeded|slowdown|timeout|expired|notready", re.IGNORECASE)
"""In the codes of refusals that another attempt may not meet: too fast, or keys that have just run out."""

AGAIN_STATUS = {408, 409, 425, 429}
"""The statuses of such refusals. AWS's own faults are 5xx, and tried again too."""

FAILED_WITHIN = (
    "failures",
    "Failed",
    "FailedEntryCount",
    "FailedRecordCount",
    "FailedPutCount",
    "FunctionError",
    "UnprocessedItems",
)
"""Where an answer of status 200 tells that something was not done."""


def call(payload: Any, run: Run) -> Any:
    """The answer of the action, as far as it is JSON. Raises PermanentFailure for what can never work."""
    asked = members(payload, needed={"service": str, "action": str}, optional={"parameters": dict})
    client = _client(SERVICES.get(asked["service"], asked["service"]), _seconds(run))
    operation = client.meta.method_to_api_mapping.get(asked["action"])
    if operation is None:
        raise PermanentFailure(
            f"{asked['service']} has no action {asked['action']!r}; send boto3's name, such as run_task"
        )
    _check_allowed(client, operation, f"{asked['service']}.{asked['action']}")
    parameters = asked.get("parameters", {})
    token = _token(client.meta.service_model.operation_model(operation), parameters, run.key)
    try:
        answer = getattr(client, asked["action"])(**{**token, **parameters})
    except ClientError as error:
        if token and error.response["Error"].get("Code") == "ExecutionAlreadyExists":
            # By this run's own name: an earlier attempt has started it.
            return {"started_before": token}
        if _is_permanent(error):
            raise PermanentFailure(str(error)) from error
        raise
    except ParamValidationError as error:
        raise PermanentFailure(str(error)) from error
    return _told(answer)


def _seconds(run: Run) -> int:
    """The time for an answer: a power of two, so that a process needs only a few clients."""
    left = run.remaining() - MARGIN_SECONDS - CONNECT_SECONDS
    if left < 1:
        raise TimeoutError("no time is left in this attempt to call AWS")
    return 1 << int(math.log2(left))


@cache
def _session() -> botocore.session.Session:
    return botocore.session.get_session()


@cache
def _client(service: str, seconds: int) -> Any:
    """One try: whether it is tried again is the run's to say."""
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=seconds,
        retries={"total_max_attempts": 1},
    )
    try:
        return _session().create_client(service, config=config)
    except (UnknownServiceError, DataNotFoundError):
        raise PermanentFailure(
            f"boto3 knows no service {service[:80]!r}; send its name for it, such as ecs or sqs"
        ) from None
    except BotoCoreError as error:
        raise RuntimeError(f"no client for {service}: {error}") from error


def _check_allowed(client: Any, operation: str, told: str) -> None:
    prefix = client.meta.service_model.signing_name
    action = f"{prefix}:{operation}"
    action = IAM_ACTIONS.get(action, action)
    if action not in re.split(r"[\s,]+", os.environ.get(ALLOWED, "")):
        raise PermanentFailure(
            f"aws.call may not do {told}; add {action} to the stack's parameter AwsCallActions, "
            "and what it is done to, to AwsCallResources"
        )


def _token(operation: Any, parameters: dict[str, Any], key: str) -> dict[str, str]:
    """The parameter by which AWS knows a second call for the first, made of the run's key. What the payload
    gives itself is left alone."""
    wanted = next(iter(operation.idempotent_members), None)
    if wanted is None:
        taken = operation.input_shape.members if operation.input_shape else {}
        if operation.name in ("StartExecution", "StartSyncExecution"):
            wanted = "name"
        elif "MessageDeduplicationId" in taken and _is_fifo(parameters):
            wanted = "MessageDeduplicationId"
    if wanted is None or wanted in parameters:
        return {}
    # As botocore would fill it in itself, so it is as long as each service takes it.
    return {wanted: str(uuid.uuid5(uuid.NAMESPACE_URL, f"minutero:{key}"))}


def _is_fifo(parameters: dict[str, Any]) -> bool:
    ends = (parameters.get(name) for name in ("QueueUrl", "TopicArn"))
    return any(isinstance(end, str) and end.endswith(".fifo") for end in ends)


def _is_permanent(error: ClientError) -> bool:
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500)
    code = error.response.get("Error", {}).get("Code", "")
    passing = status in AGAIN_STATUS or AGAIN.search(code) is not None
    return 400 <= status < 500 and not passing  # noqa: PLR2004 - HTTP's own numbers


def _told(answer: dict[str, Any]) -> Any:
    """The answer without its envelope. Raises RuntimeError when it tells of a failure."""
    told = {name: value for name, value in answer.items() if name != "ResponseMetadata"}
    text = json.dumps(told, default=_plain, allow_nan=False)
    failed = next((name for name in FAILED_WITHIN if told.get(name)), None)
    if failed is not None:
        raise RuntimeError(f"AWS took the call, and tells of a failure ({failed}): {text}")
    return json.loads(text)


def _plain(value: Any) -> str:
    if isinstance(value, StreamingBody):
        value = value.read(BODY_LIMIT)
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "replace")
    return str(value)
